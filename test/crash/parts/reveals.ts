/**
 * `kill -9` under a load of revealed reads, at the default settings: each answer that a client got
 * has its entry in the audit log, no sequence is missing, and `coffer audit verify` passes after
 * each kill with the checkpoint that a client had kept.
 *
 * Source: docs/audit.md.
 * @module
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointIn } from '../../../src/audit/checkpoint.ts'
import { drawFrom, type Draw } from '../draw.ts'
import { freePort, makeVault, openHome, startServer, type Shared } from '../clients/server.ts'
import { until } from '../../support/until.ts'
import { askWhile, makeTokens, untilAnswered, type Reveals } from '../reveals/ask.ts'
import { compare, readKey, verify } from '../reveals/prove.ts'
import { killInstance, killServer, workers, type KillKind } from '../reveals/rounds.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

interface Goal {
  /** Kills of the only process. */
  readonly single: number
  /** Servers of three workers; `workersEach` of these are killed, and then what watches. */
  readonly instances: number
  readonly workersEach: number
}

const goals: Readonly<Record<Size, Goal>> = {
  full: { single: 1_200, instances: 160, workersEach: 4 },
  short: { single: 14, instances: 2, workersEach: 2 },
}

/** Kills of one vault, so that its log stays short enough to be verified after each. */
const killsPerVault = 200
const instancesPerVault = 40
/** Answers between the copy of a log and the end of its server. */
const controlAnswers = 200
const progressEvery = 100

interface Totals {
  readonly byKind: Map<KillKind, number>
  readonly failures: string[]
  answers: number
  entries: number
  /** Kills after which the log was verified against a checkpoint that a client had. */
  pinned: number
}

interface Vault {
  readonly reveals: Reveals
  readonly vkey: string
  /** Compares what is new, and verifies everything. */
  readonly look: (kind: KillKind) => Promise<void>
}

const countOf = ({ byKind }: Totals): number =>
  [...byKind.values()].reduce((sum, count) => sum + count, 0)

async function openVault(
  folder: string,
  draw: Draw,
  totals: Totals,
  shared?: Shared,
): Promise<Vault> {
  mkdirSync(folder)
  const home = openHome(folder, undefined, shared)
  const keys = await makeVault(home)
  const server = startServer(home)
  await server.isReady
  const ids = await makeTokens({ home, keys })
  const reveals: Reveals = { home, keys, draw, ids, answers: [], pinned: undefined, wrong: [] }
  await askWhile(reveals, 'first', () => until(() => reveals.pinned !== undefined))
  await server.stop()
  const vkey = await readKey(reveals)
  let [compared, from] = [0, 0]
  return {
    reveals,
    vkey,
    async look(kind) {
      totals.byKind.set(kind, (totals.byKind.get(kind) ?? 0) + 1)
      const { faults, next } = await compare(reveals, reveals.answers.slice(compared), from)
      compared = reveals.answers.length
      from = next
      if (reveals.pinned !== undefined) totals.pinned += 1
      const found = [...faults, ...reveals.wrong.splice(0), ...(await verify(reveals, vkey))]
      totals.failures.push(...found.map(what => `after kill ${countOf(totals)}: ${what}`))
    },
  }
}

/** Compares all answers with the whole log once more. */
async function close({ reveals }: Vault, totals: Totals): Promise<void> {
  const { faults, next } = await compare(reveals, reveals.answers, 0)
  totals.failures.push(...faults)
  totals.answers += reveals.answers.length
  totals.entries += next
  rmSync(reveals.home.data, { recursive: true })
}

async function stopCleanly({ home }: Reveals): Promise<void> {
  const server = startServer(home)
  await server.isReady
  await server.stop()
}

/**
 * Puts a log back to an older state, which both checks must notice: one that finds nothing here
 * would find nothing in a vault that answers too early.
 */
async function findRollback({ reveals, vkey }: Vault, totals: Totals): Promise<number> {
  const { home, answers } = reveals
  const older = `${home.data}.older`
  // A killed server leaves its control socket, which cannot be copied.
  await stopCleanly(reveals)
  cpSync(home.data, older, { recursive: true })
  const server = startServer(home)
  await server.isReady
  const { next } = await compare(reveals, [], 0)
  const count = answers.length
  await askWhile(reveals, 'control', async () => {
    await untilAnswered(reveals, controlAnswers)
    // Only a checkpoint of later entries can be missed in the copy.
    await until(() => (checkpointIn(reveals.pinned ?? '')?.size ?? 0) > next)
  })
  await server.stop()
  rmSync(home.data, { recursive: true })
  cpSync(older, home.data, { recursive: true })
  const { faults } = await compare(reveals, answers.slice(count), 0)
  const verdict = await verify(reveals, vkey)
  if (verdict.length === 0) totals.failures.push('verify did not notice an older log')
  if (faults.length === 0) totals.failures.push('no entry was missing in an older log')
  answers.splice(count)
  rmSync(older, { recursive: true })
  return faults.length
}

/** @returns the entries that the control found missing */
async function killSingle(options: PartOptions, totals: Totals, draw: Draw): Promise<number> {
  const { folder, size, say } = options
  const { single } = goals[size]
  let missing = 0
  for (let done = 0; done < single; done += killsPerVault) {
    const vault = await openVault(join(folder, `single-${done}`), draw, totals)
    for (let at = done; at < Math.min(single, done + killsPerVault); at += 1) {
      await vault.look(await killServer(vault.reveals, `k${at}`))
      if ((at + 1) % progressEvery === 0) say(`${at + 1} kills of ${single}`)
    }
    if (done === 0) missing = await findRollback(vault, totals)
    await close(vault, totals)
  }
  return missing
}

async function killShared(options: PartOptions, totals: Totals, draw: Draw): Promise<void> {
  const { folder, size, say } = options
  const { instances, workersEach } = goals[size]
  for (let done = 0; done < instances; done += instancesPerVault) {
    const shared = { port: await freePort(), workers }
    const vault = await openVault(join(folder, `shared-${done}`), draw, totals, shared)
    for (let at = done; at < Math.min(instances, done + instancesPerVault); at += 1) {
      await killInstance(vault.reveals, `w${at}`, workersEach, vault.look)
      if ((at + 1) % 10 === 0) say(`${at + 1} servers of three workers`)
    }
    await close(vault, totals)
  }
}

/** The part `reveals`. */
export async function killReveals(options: PartOptions): Promise<PartResult> {
  if (process.platform !== 'linux') return { figures: {}, failures: [], skipped: 'only on Linux' }
  const draw = drawFrom(options.seed)
  const totals: Totals = { byKind: new Map(), failures: [], answers: 0, entries: 0, pinned: 0 }
  const missing = await killSingle(options, totals, draw)
  await killShared(options, totals, draw)
  const figures = {
    kills: countOf(totals),
    ...Object.fromEntries([...totals.byKind].map(([kind, count]) => [`kills ${kind}`, count])),
    'revealed answers that clients got': totals.answers,
    'entries in their logs': totals.entries,
    'kills after which the log was verified against a kept checkpoint': totals.pinned,
    'control: entries missing in an older log': missing,
  }
  return { figures, failures: totals.failures }
}
