/**
 * Faults: what nobody expected and nobody caught.
 *
 * They end the process, since what it would do from there on is not known (hardening L8); what was
 * answered is on disk. Left alone, the runtime would print the message and the source around it,
 * and a message may hold a caller's value; a rejection under a request would not even end it.
 * @module
 */
import { writeSync } from 'node:fs'
import { placesOf } from '../lib/errors.ts'
import { failureLine } from '../server/process/failure-line.ts'

/** One line on stderr, done when it returns. */
export function tellFault(error: unknown): void {
  const places = placesOf(error)
  const line = failureLine(`stopped by ${places}: this is a fault of coffer, please report it`, 1)
  try {
    writeSync(2, line)
  } catch {
    // Nobody reads it; the exit code tells the same.
  }
}

function end(error: unknown): never {
  tellFault(error)
  process.exit(1)
}

/** From here on a rejection or an exception that nobody catches ends the process with 1. */
export function endOnFault(): void {
  process.on('unhandledRejection', end)
  process.on('uncaughtException', end)
}
