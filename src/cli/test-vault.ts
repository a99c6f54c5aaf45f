/**
 * `coffer test-vault`: the vault of one test, for a test runner other than Bun's. Only
 * `coffer/testing` starts it.
 *
 * Its clock is in an open file that it was started with, where the test moves it: a time that is
 * written before a request is sent holds for that request. It ends with its stdin, which closes
 * when the test or its process ends, for whatever reason.
 * @module
 */
import type { Command } from 'commander'
import { fstatSync, readSync } from 'node:fs'
import { usage } from '../server/process/failure.ts'
import { outliveReaders, say } from '../server/process/system.ts'
import { shownKeys, startTestVault } from '../server/process/test-server.ts'
import type { Settings } from '../settings/settings.ts'

/** The order from its parent, as JSON. */
interface Order {
  readonly settings: Partial<Settings>
  readonly startAtMs?: number
  /** True to write the log to stdout. */
  readonly logs: boolean
}

/** The open file with milliseconds by which the clock was moved, as a little-endian double. */
const handedClock = 3
const doubleBytes = 8

/** @throws CommandFailure for an order that `coffer/testing` does not give, or without a clock */
function takeOrder(text: string): Order {
  try {
    const order = JSON.parse(text) as Order
    if (fstatSync(handedClock).isFile()) return order
  } catch {
    // Reported below.
  }
  throw usage('coffer/testing starts the vaults of tests: nobody else does')
}

/** Eight bytes of a regular file are read as they were written (POSIX, System Interfaces 2.9.7). */
function readMovedMs(): number {
  const bytes = Buffer.alloc(doubleBytes)
  readSync(handedClock, bytes, 0, doubleBytes, 0)
  return bytes.readDoubleLE(0)
}

const stdinEnd = (): Promise<void> =>
  new Promise(resolve => {
    process.stdin.on('end', () => resolve())
    process.stdin.on('error', () => resolve())
    process.stdin.resume()
  })

/** Serves, prints its address in one line, and ends with its stdin. */
async function testVault(text: string): Promise<void> {
  const { settings, startAtMs, logs } = takeOrder(text)
  outliveReaders()
  const log = (event: string, facts?: object): void => {
    if (logs) say(JSON.stringify({ event, facts }))
  }
  const ended = stdinEnd()
  const vault = await startTestVault({ settings, startAtMs, movedMs: readMovedMs, log })
  const { address, demo, leadMs } = vault
  say(JSON.stringify({ address, tenantId: demo.tenantId, keys: shownKeys(demo), leadMs }))
  await ended
  await vault.stop()
}

export function addTestVault(program: Command): void {
  program
    .command('test-vault <order>', { hidden: true })
    .description('serve one test, as coffer/testing orders')
    .action((order: string) => testVault(order))
}
