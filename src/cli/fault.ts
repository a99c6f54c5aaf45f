/**
 * Faults: errors that the program neither expected nor caught.
 *
 * They end the process, because its further behaviour is unknown (hardening L8); acknowledged
 * writes are on disk. By default the runtime would print the message and the source around it, and
 * a message may hold a caller's value; a rejection under a request would not even end the process.
 * @module
 */
import { writeSync } from 'node:fs'
import { placesOf } from '../lib/errors.ts'
import { failureLine } from '../server/process/failure-line.ts'

/** Writes one line to stderr before it returns. */
export function tellFault(error: unknown): void {
  const places = placesOf(error)
  const line = failureLine(`stopped by ${places}: this is a fault of coffer, please report it`, 1)
  try {
    writeSync(2, line)
  } catch {
    // Nobody reads stderr; the exit code says the same.
  }
}

function end(error: unknown): never {
  tellFault(error)
  process.exit(1)
}

/** From here on an uncaught exception or rejection ends the process with 1. */
export function endOnFault(): void {
  process.on('unhandledRejection', end)
  process.on('uncaughtException', end)
}
