/**
 * The impure world of a running process: clock, randomness, stdout and the log on stderr.
 *
 * @module
 */
import { randomBytes as osRandomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import type { Log } from '../../deps.ts'
import { utf8 } from '../../lib/bytes.ts'
import { haltMs, lockPollMs } from '../../limits/operation-limits.ts'
import { defaultLogSettings, type LogSettings } from '../../settings/serving-settings.ts'
import { CommandFailure, meaningOf, systemCodeOf } from './failure.ts'
import { isJournal } from '../watch/journal.ts'
import { makeLog, type LogPlace } from '../watch/log.ts'
import { visible } from '../watch/visible-text.ts'

const poolBytes = 4_096
let pool = Buffer.alloc(0)
let poolAt = 0

/** Random bytes of the operating system, drawn in blocks; each byte is given out once. */
export function randomBytes(count: number): Uint8Array {
  if (count > poolBytes) return osRandomBytes(count)
  if (poolAt + count > pool.length) {
    pool = osRandomBytes(poolBytes)
    poolAt = 0
  }
  const bytes = pool.subarray(poolAt, poolAt + count)
  poolAt += count
  return bytes
}

/** Unix milliseconds of the machine, which may step in either direction. */
export const wallMs = (): number => Date.now()

/** Milliseconds since the process started, unaffected by changes of the wall clock. */
export const elapsedMs = (): number => performance.now()

/** For commands that wait before they start: nothing else runs meanwhile. */
export const sleep = (ms: number): void => Bun.sleepSync(ms)

/** Destination of this process's log. */
export const stderrPlace = (): LogPlace => ({
  wallMs,
  isJournal: isJournal(2, process.env['JOURNAL_STREAM']),
  isTerminal: process.stderr.isTTY === true,
  write: line => process.stderr.write(line),
})

/** Logs one line per event to stderr. Facts are ours, never a value of a caller. */
export const logToStderrBy = (settings: LogSettings): Log => makeLog(settings, stderrPlace())

export const logToStderr: Log = (event, facts) => logToStderrBy(defaultLogSettings)(event, facts)

const textOf = (lines: readonly string[]): string => `${lines.map(visible).join('\n')}\n`

/** Prints lines for the person who ran the command, in one write. */
export const say = (...lines: readonly string[]): void => {
  process.stdout.write(textOf(lines))
}

/**
 * For long-running commands: the reader of their lines may close the pipe, which must not end the
 * service. A command that prints something once must fail instead.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Writes all of it to stdout, however slowly that is read. It may not block by itself: the parent
 * of this process may have set it so, or the runtime where it is one pipe with stderr.
 * @throws CommandFailure if it has no room; the system's own error if its reader has ended
 */
export function writeOut(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      const code = systemCodeOf(error) ?? ''
      const fault = meaningOf(code)
      if (fault !== undefined)
        throw new CommandFailure(`stdout: ${fault}: not all of it was printed`, 1, error)
      if (code !== 'EAGAIN') throw error
      sleep(lockPollMs)
    }
  }
}

/** Like `say`, but synchronous. @throws as `writeOut` */
export const sayNow = (...lines: readonly string[]): void => {
  writeOut(utf8(textOf(lines)))
}

/** Prints one line of JSON. */
export const sayJson = (value: unknown): void => sayNow(JSON.stringify(value))

/** Progress of a command while it blocks. Errors are ignored, as nobody may be reading it. */
export const stderrNow = {
  isTerminal: process.stderr.isTTY === true,
  write(text: string): void {
    try {
      writeSync(2, text)
    } catch {
      // For example, the pipe is full or closed.
    }
  },
  /** Prints a line that may contain texts from outside. */
  line(text: string): void {
    stderrNow.write(textOf([text]))
  },
}

/**
 * Ends a process whose store can no longer write, so that the service manager restarts it. SIGKILL,
 * because after a failed commit the engine may hang on any orderly end (hardening L10), and an
 * abort could leave a core dump with plaintext in it.
 */
export function endAfterFailure(cause: unknown, log: Log = logToStderr): void {
  log('store_failed', { cause: systemCodeOf(cause) ?? 'unknown' })
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), haltMs)
}

/*
 * Finds the program of this process, to start further processes of it.
 */

/** Prefix of the names of files inside a compiled program. */
const compiledPrefix = '/$bunfs/'

const isCompiled = (): boolean => Bun.main.startsWith(compiledPrefix)

/**
 * The file that this process runs, even if it was replaced or removed since. Any process may follow
 * `self`; a link by process id may be refused if the file has capabilities.
 */
export const ownProgram = (): string[] => ['/proc/self/exe', ...(isCompiled() ? [] : [Bun.main])]

/** Path of the binary that this process runs; `undefined` if it runs from source. */
export const ownBinary = (): string | undefined => (isCompiled() ? process.execPath : undefined)
