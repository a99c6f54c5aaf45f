/**
 * One fault: a server whose disk fails once, or for good, at the Nth call; then a start without it.
 *
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startCoffer, type Running } from '../../support/coffer-process.ts'
import { readRecording, recordedBy, type Fault } from '../native/recorder.ts'
import { inspectFolder } from './inspect.ts'
import {
  answerMsMax,
  copyVaultFolder,
  databaseOf,
  serveArguments,
  type VaultFolder,
} from './vault-folder.ts'
import { writeAtOnce } from './writers.ts'

export interface FaultOptions {
  readonly library: string
  /** Does not exist before, and is removed afterwards. */
  readonly folder: string
  readonly made: VaultFolder
  readonly fault: Fault
}

export interface FaultRun {
  /** True if the workload was long enough to reach the fault. */
  readonly isMet: boolean
  readonly acknowledged: number
  /** Time of the slowest answer, or from the first failed write to the end of the process. */
  readonly slowestMs: number
  /** True if the engine crashed the process (hardening L11). */
  readonly isNativeAbort: boolean
  readonly failures: readonly string[]
}

/** SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV. */
const nativeAborts = [132, 134, 135, 136, 139]

export const nameOf = ({ call, nth, errno, isSticky }: Fault): string =>
  `${call} ${nth}, ${errno}, ${isSticky ? 'for good' : 'once'}`

export const isMetIn = (log: string): boolean =>
  readRecording(log).some(({ is }) => is === 'failed_call')

interface End {
  readonly exitCode: number
  readonly ms: number
}

/** Waits for a process that must end by itself. @returns `undefined` if it had to be killed */
export async function awaitEnd(server: Running): Promise<End | undefined> {
  const startedMs = performance.now()
  const exitCode = await Promise.race([server.exited, Bun.sleep(answerMsMax)])
  if (exitCode !== undefined) return { exitCode, ms: performance.now() - startedMs }
  await server.end('SIGKILL')
  return undefined
}

function judgeEnd(end: End | undefined, isMet: boolean): string[] {
  if (end === undefined) return ['the process did not end']
  if (!isMet) return ['a write failed, and the disk had not']
  return end.exitCode === 0 ? ['the process ended as if all was well'] : []
}

export async function runFault(options: FaultOptions): Promise<FaultRun> {
  const { library, folder, fault } = options
  mkdirSync(folder)
  const [data, socket, log] = [join(folder, 'data'), join(folder, 'a.sock'), join(folder, 'log')]
  const vault = copyVaultFolder(options.made, data)
  const env = recordedBy(library, { file: databaseOf(data), log, fault })
  const server = await startCoffer(serveArguments(data, socket), { env })
  const written = await writeAtOnce({ socket, key: vault.key }, vault.ledger, { prefix: 'f' })
  const failures = [...written.breaches]
  const isQuiet = written.reasons.length === 0
  const end = isQuiet ? undefined : await awaitEnd(server)
  const isMet = isMetIn(log)
  if (!isQuiet) failures.push(...judgeEnd(end, isMet))
  else if (isMet) failures.push('the disk failed, and every write was acknowledged')
  if (isQuiet && (await server.end('SIGTERM')) !== 0) failures.push('SIGTERM did not end it well')
  failures.push(...(await inspectFolder(vault, join(folder, 'b.sock'))))
  rmSync(folder, { recursive: true })
  return {
    isMet,
    acknowledged: vault.ledger.acknowledged,
    slowestMs: Math.max(written.slowestAnswerMs, end?.ms ?? 0),
    isNativeAbort: nativeAborts.includes(end?.exitCode ?? 0),
    failures: failures.map(failure => `${nameOf(fault)}: ${failure}`),
  }
}
