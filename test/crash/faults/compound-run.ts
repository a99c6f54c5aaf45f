/**
 * Faults upon faults: a kill under load, then starts on a disk that fails at its first call, some
 * of them killed during start-up. Tokens that have expired meanwhile make a start write at once.
 * Source: hardening D9.
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startCoffer } from '../../support/coffer-process.ts'
import type { Draw } from '../draw.ts'
import { recordedBy, type Call, type Fault } from '../native/recorder.ts'
import { awaitEnd, isMetIn, nameOf } from './fault-run.ts'
import { inspectFolder } from './inspect.ts'
import { copyVaultFolder, databaseOf, serveArguments, type VaultFolder } from './vault-folder.ts'
import { writeAtOnce } from './writers.ts'

const calls: readonly Call[] = ['sync', 'write', 'meta']
/** Lifetime of a short-lived token: long enough to create it, however slow the machine is. */
const briefMs = 1_500
/** The kill comes after at most so many acknowledged writes, while others are under way. */
const acknowledgedMax = 15
const startsKilled = 3
const startMsMax = 100

export interface CompoundOptions {
  readonly library: string
  /** Does not exist before, and is removed afterwards. */
  readonly folder: string
  readonly made: VaultFolder
  readonly draw: Draw
}

export interface CompoundRun {
  readonly acknowledged: number
  readonly failures: readonly string[]
}

/** Kills a healthy server under its writers. */
async function killUnderLoad(vault: VaultFolder, socket: string, draw: Draw): Promise<string[]> {
  const server = await startCoffer(serveArguments(vault.data, socket))
  const work = { prefix: 'k', briefMs }
  const enough = 1 + draw(acknowledgedMax)
  const written = writeAtOnce({ socket, key: vault.key }, vault.ledger, work)
  let isOver = false
  void written.then(() => (isOver = true))
  while (vault.ledger.acknowledged < enough && !isOver) await Bun.sleep(1)
  await server.end('SIGKILL')
  return [...(await written).breaches]
}

/** Starts a server that is killed while it starts, or soon after. */
async function killWhileStarting(args: readonly string[], env: Record<string, string>, ms: number) {
  const prefix = ['timeout', '--signal=KILL', `${ms / 1_000}`]
  // A server killed before its ready line does not count as started.
  const server = await startCoffer(args, { env, prefix }).catch(() => undefined)
  await server?.exited
}

/** Starts a server whose first write fails: in its own sweep, or for the first client. */
async function failFirstWrite(
  vault: VaultFolder,
  socket: string,
  { env, log }: { readonly env: Record<string, string>; readonly log: string },
): Promise<string[]> {
  // The sweep may end the process before its ready line.
  const server = await startCoffer(serveArguments(vault.data, socket), { env }).catch(() => null)
  if (server === null) return isMetIn(log) ? [] : ['a start failed, and the disk had not']
  const work = { prefix: 'c' }
  const written = await writeAtOnce({ socket, key: vault.key }, vault.ledger, work)
  const end = await awaitEnd(server)
  const failures = [...written.breaches]
  if (written.reasons.length === 0) failures.push('every write was acknowledged')
  if (end === undefined) failures.push('the process did not end')
  if (end?.exitCode === 0) failures.push('the process ended as if all was well')
  return failures
}

export async function runCompound(options: CompoundOptions): Promise<CompoundRun> {
  const { library, folder, made, draw } = options
  const isSticky = draw(2) === 0
  const fault: Fault = { call: calls[draw(calls.length)] ?? 'sync', nth: 1, errno: 'EIO', isSticky }
  mkdirSync(folder)
  const vault = copyVaultFolder(made, join(folder, 'data'))
  const faulty = (name: string) => {
    const log = join(folder, name)
    return { log, env: recordedBy(library, { file: databaseOf(vault.data), log, fault }) }
  }
  const startedMs = performance.now()
  const failures = await killUnderLoad(vault, join(folder, 'a.sock'), draw)
  await Bun.sleep(Math.max(0, startedMs + 2 * briefMs - performance.now()))
  for (let count = 0; count < startsKilled; count += 1) {
    const args = serveArguments(vault.data, join(folder, `b${count}.sock`))
    await killWhileStarting(args, faulty(`log-${count}`).env, 1 + draw(startMsMax))
  }
  failures.push(...(await failFirstWrite(vault, join(folder, 'c.sock'), faulty('log'))))
  failures.push(...(await inspectFolder(vault, join(folder, 'd.sock'))))
  rmSync(folder, { recursive: true })
  return {
    acknowledged: vault.ledger.acknowledged,
    failures: failures.map(failure => `compound, ${nameOf(fault)}: ${failure}`),
  }
}
