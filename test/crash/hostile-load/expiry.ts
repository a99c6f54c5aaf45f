/**
 * Tokens that all expire in one second: gone at once, and swept in batches that barely slow others.
 *
 * Source: hardening H111, H113; contract section 10.
 * @module
 */
import { quantile } from '../../../scripts/bench/statistics.ts'
import { sweep } from '../../../src/vault/sweep.ts'
import { bulkLeavesMax } from '../../../src/limits/limits.ts'
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import { openWritableStore } from '../../support/vault-store.ts'
import type { Store } from '../../../src/store/contract.ts'
import type { Size } from '../part.ts'
import { faredText, fareUntil, msOf, type Fared, type Pace } from './good-client.ts'
import {
  checkUnharmed,
  connectTo,
  startServer,
  stopServer,
  storeOf,
  type Ground,
} from './ground.ts'

const tokens: Readonly<Record<Size, number>> = { full: 100_000, short: 5_000 }
/** Time from the first create to the expiry, if the creates and a quiet time fit in. */
const leadMs: Readonly<Record<Size, number>> = { full: 90_000, short: 4_000 }
const quietMs: Readonly<Record<Size, number>> = { full: 10_000, short: 1_000 }
const sweptMsMax = 60_000
const batchMsMax = 50
const slowdownMax = 2
const pollMs = 10
const watchMs = 500
/** A p99 that a shared machine reaches by itself. */
const p99MsFloor = 5
const paces: readonly Pace[] = [
  { connections: 4, restMs: 5, asks: 'reads' },
  { connections: 4, restMs: 5, asks: 'creates' },
]

const elapsedMs = (): number => performance.now()
const metadata = { lasts: 'briefly' }
const listOfBrief = '/tokens?size=1&metadata.lasts=briefly'

async function createTokens(ground: Ground, expiresAtMs: number): Promise<void> {
  const connection = await connectTo(ground)
  const expires_at = new Date(expiresAtMs).toISOString()
  for (let made = 0; made < tokens[ground.size]; made += bulkLeavesMax) {
    const body = Array.from({ length: bulkLeavesMax }, (_, index) => {
      return {
        id: `brief-${expiresAtMs}-${made + index}`,
        type: 'token',
        data: index,
        metadata,
        expires_at,
      }
    })
    const question = { key: ground.keys.private, body }
    const { status, text } = await connection.ask('POST', '/tokenize', question)
    if (status !== 200) throw new Error(`H113: ${status}: ${text.slice(0, 300)}`)
  }
  connection.close()
}

interface Watched {
  /** Reads before the expiry that found the token, and reads at or after it that did not. */
  readonly before: number
  readonly after: number
}

/** H111: polls one of the tokens around the expiry, and the total of their list. */
async function watchInstant(ground: Ground, expiresAtMs: number): Promise<Watched> {
  const connection = await connectTo(ground)
  const { failures, keys } = ground
  const ask = async (path: string) => connection.ask('GET', path, { key: keys.private })
  const last = `/tokens/brief-${expiresAtMs}-${tokens[ground.size] - 1}`
  let [before, after] = [0, 0]
  while (Date.now() < expiresAtMs + watchMs) {
    const askedMs = Date.now()
    const { status } = await ask(last)
    const answeredMs = Date.now()
    if (answeredMs < expiresAtMs && status === 200) before += 1
    else if (askedMs >= expiresAtMs && status === 404) after += 1
    else if (askedMs >= expiresAtMs || answeredMs < expiresAtMs) {
      failures.push(`H111: ${status}, ${askedMs - expiresAtMs} ms after the instant`)
    }
    if (askedMs >= expiresAtMs) checkNone(ground, (await ask(listOfBrief)).text)
    await Bun.sleep(pollMs)
  }
  connection.close()
  return { before, after }
}

function checkNone({ failures }: Ground, text: string): void {
  const { pagination } = JSON.parse(text) as { pagination: { total_items: number } }
  if (pagination.total_items > 0) failures.push(`H113: ${pagination.total_items} are listed`)
}

/** Waits, beside the server, until nothing is due. @returns milliseconds after the expiry */
async function waitUntilSwept(ground: Ground, expiresAtMs: number): Promise<number> {
  await Bun.sleep(Math.max(0, expiresAtMs - Date.now()))
  const store = await openLmdbStore({ path: storeOf(ground) })
  while ((await store.due(Date.now(), 1)).length > 0) {
    if (Date.now() > expiresAtMs + sweptMsMax) {
      ground.failures.push('H113: some are not swept within 60 s')
      break
    }
    await Bun.sleep(50)
  }
  await store.close()
  return Date.now() - expiresAtMs
}

/** Runs a reading and a writing client at the same time. */
const fareBoth = (ground: Ground, end: Promise<unknown>): Promise<Fared[]> =>
  Promise.all(paces.map(pace => fareUntil(ground, pace, end)))

function reportFares(ground: Ground, before: readonly Fared[], during: readonly Fared[]): void {
  const { figures, failures, size } = ground
  for (const [index, { asks }] of paces.entries()) {
    const [quiet, swept] = [before[index], during[index]]
    if (quiet === undefined || swept === undefined) continue
    figures[`H113: ${asks} before · p99, longest ms`] = faredText(quiet)
    figures[`H113: ${asks} during the sweep · p99, longest ms`] = faredText(swept)
    const mostMs = Math.max(p99MsFloor, slowdownMax * quiet.p99Ms)
    // A short sweep ends before a p99 means anything.
    if (size === 'short' || swept.p99Ms <= mostMs) continue
    failures.push(`H113: a p99 of ${asks} of ${msOf(swept.p99Ms)} ms in the sweep`)
  }
}

/**
 * Creates the tokens with a quiet time before they expire; others if a slow machine needs longer.
 * @returns the instant at which they expire
 */
async function createInTime(ground: Ground, ownLeadMs: number): Promise<number> {
  const expiresAtMs = Math.ceil((Date.now() + ownLeadMs) / 1_000) * 1_000
  await createTokens(ground, expiresAtMs)
  const isInTime = Date.now() <= expiresAtMs - quietMs[ground.size]
  return isInTime ? expiresAtMs : createInTime(ground, 2 * ownLeadMs)
}

async function expireServing(ground: Ground): Promise<void> {
  const { size, figures } = ground
  const expiresAtMs = await createInTime(ground, leadMs[size])
  const spareMs = expiresAtMs - quietMs[size] - Date.now()
  ground.say(`${tokens[size]} tokens expire in ${Math.round((expiresAtMs - Date.now()) / 1_000)} s`)
  await Bun.sleep(Math.max(0, spareMs))
  const untilInstant = Bun.sleep(expiresAtMs - Date.now() - watchMs)
  const quiet = await fareBoth(ground, untilInstant)
  const watching = watchInstant(ground, expiresAtMs)
  await Bun.sleep(expiresAtMs - Date.now())
  const sweeping = waitUntilSwept(ground, expiresAtMs)
  const swept = await fareBoth(ground, sweeping)
  const { before, after } = await watching
  if (before === 0 || after === 0) ground.failures.push('H111: the instant was not watched')
  figures['H113: tokens of one second · off the disk after, s'] =
    `${tokens[size]} · ${((await sweeping) / 1_000).toFixed(1)}`
  figures['H111: polls before, there · after, absent'] = `${before} · ${after}`
  reportFares(ground, quiet, swept)
}

/** Notes the time of each batch of a sweep, from one query for due rows to the next. */
function timeBatches(store: Store, times: number[]): Pick<Store, 'due' | 'write'> {
  let lastMs = performance.now()
  return {
    write: changes => store.write(changes),
    due(nowMs, limit) {
      times.push(performance.now() - lastMs)
      lastMs = performance.now()
      return store.due(nowMs, limit)
    },
  }
}

/** Times each batch of a sweep, on the store of a server that has ended. */
async function timeSweep(ground: Ground): Promise<void> {
  const { size, figures, failures } = ground
  const expiresAtMs = Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000
  await createTokens(ground, expiresAtMs)
  await stopServer(ground)
  const store = await openWritableStore(ground.home.data)
  const times: number[] = []
  const timed = { ...store, ...timeBatches(store, times) }
  const removed = await sweep({ store: timed, settled: () => expiresAtMs, elapsedMs })
  const left = await store.due(expiresAtMs, 1)
  await store.close()
  if (removed < tokens[size] || left.length > 0) failures.push(`H113: ${removed} were swept`)
  const [p50Ms, p99Ms] = [quantile(times, 0.5), quantile(times, 0.99)]
  if (size === 'full' && p99Ms > batchMsMax) failures.push(`H113: batches of ${msOf(p99Ms)} ms`)
  figures['H113: batches · median, p99, longest ms'] =
    `${times.length} · ${msOf(p50Ms)}, ${msOf(p99Ms)}, ${msOf(Math.max(...times))}`
  await startServer(ground)
}

/** H111 and H113: tokens expire at once under a server, then in a sweep by itself. */
export async function expireAtOnce(ground: Ground): Promise<void> {
  await expireServing(ground)
  await checkUnharmed(ground, 'H113')
  await timeSweep(ground)
  await checkUnharmed(ground, 'H113, swept alone')
}
