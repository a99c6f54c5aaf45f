/**
 * Rows that come and expire like a queue: counts stay exact, and the file stays bounded.
 *
 * The engine reuses freed pages only through its free list, which is where it has had its
 * faults. Source: hardening F7, D13, L15; lmdb-js#321.
 * @module
 */
import { termBytes, uniqueBytes } from '../../../src/limits/work-limits.ts'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sweep } from '../../../src/vault/sweep.ts'
import type { Change } from '../../../src/store/contract.ts'
import { openLmdbStore, type LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

/** Number of rows, each inserted once and removed once by a sweep. */
const pairs: Readonly<Record<Size, number>> = { full: 200_000, short: 5_000 }
const batchRows = 200
/** Number of rows that exist at a time in the steady state. */
const standingRows = 2_000
const fileFactorMax = 3
const progressEvery = 50_000
/** One row in so many has pages of its own; one in a few more has many. */
const largeEvery = 20
const hugeEvery = 211

interface Queue {
  readonly store: LmdbStore
  /** Fills the parts of rows: the engine's use of a page depends only on their size. */
  readonly filler: Uint8Array
  inserted: number
  removed: number
  readonly failures: string[]
}

const digest = (text: string, bytes: number): Uint8Array =>
  new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()).subarray(0, bytes)

const sharedTerm = digest('all', termBytes)

function partLength(number: number): number {
  if (number % hugeEvery === 0) return 100_000
  return number % largeEvery === 0 ? 12_000 : 100 + (number % 500)
}

/** Row number n is due at the instant n. */
function insertOf({ filler }: Queue, number: number): Change {
  const terms = [0, 1, 2].map(index => digest(`term ${index} ${number % 997}`, termBytes))
  const insert = {
    uniques: [digest(`row ${number}`, uniqueBytes)],
    terms: [sharedTerm, ...terms],
    version: 1,
    deadlineMs: number,
    parts: [filler.subarray(0, partLength(number))],
  }
  return { insert }
}

async function insertBatch(queue: Queue): Promise<void> {
  const numbers = Array.from({ length: batchRows }, (_, at) => queue.inserted + at + 1)
  const writes = numbers.map(number => queue.store.write([insertOf(queue, number)]))
  const outcomes = await Promise.all(writes)
  queue.inserted += outcomes.filter(({ ok }) => ok).length
  if (!outcomes.every(({ ok }) => ok)) queue.failures.push('an insert of a new row was refused')
}

const removeDue = async (queue: Queue, dueMs: number): Promise<void> => {
  const [settled, elapsedMs] = [() => dueMs, () => performance.now()]
  queue.removed += await sweep({ store: queue.store, settled, elapsedMs })
}

/** Compares the rows of the store with those inserted and not removed. */
async function compareCounts({ store, inserted, removed, failures }: Queue): Promise<void> {
  const window = { offset: 0, limit: 1, nowMs: 0 }
  const { total } = await store.page({ term: sharedTerm }, window)
  if (total !== inserted - removed) failures.push(`${total} of ${inserted - removed} rows stand`)
}

const fileBytes = (folder: string): number => statSync(join(folder, 'data.mdb')).size

/** File size of a store that holds just the present rows, and never held others. */
async function freshFileBytes(queue: Queue, folder: string): Promise<number> {
  mkdirSync(folder)
  const store = await openLmdbStore({ path: folder })
  const fresh: Queue = { ...queue, store, inserted: queue.removed }
  while (fresh.inserted < queue.inserted) await insertBatch(fresh)
  await store.close()
  return fileBytes(folder)
}

async function churn(queue: Queue, count: number, { say }: PartOptions): Promise<void> {
  while (queue.inserted < count && queue.failures.length === 0) {
    const dueMs = Math.max(0, queue.inserted - standingRows)
    // Both wait for the same transactions, as in a server.
    await Promise.all([insertBatch(queue), removeDue(queue, dueMs)])
    if (queue.removed !== dueMs) queue.failures.push(`${queue.removed} of ${dueMs} were removed`)
    await compareCounts(queue)
    if (queue.inserted % progressEvery === 0) say(`${queue.inserted} inserted`)
  }
}

/** The part `churn`. */
export async function churnRows(options: PartOptions): Promise<PartResult> {
  const { folder, size } = options
  const path = join(folder, 'store')
  mkdirSync(path)
  const store = await openLmdbStore({ path })
  const filler = new Uint8Array(100_000).fill(7)
  const queue: Queue = { store, filler, inserted: 0, removed: 0, failures: [] }
  const { failures } = queue
  await churn(queue, pairs[size], options)
  const churned = fileBytes(path)
  const factor = churned / (await freshFileBytes(queue, join(folder, 'fresh')))
  if (factor > fileFactorMax) failures.push(`the file is ${factor} times that of its rows`)
  await removeDue(queue, queue.inserted)
  await compareCounts(queue)
  for (const { kind } of await store.integrity()) failures.push(`integrity: ${kind}`)
  await store.close()
  const figures = {
    inserted: queue.inserted,
    removed: queue.removed,
    'rows that stood at a time': standingRows,
    'file, KiB': Math.round(churned / 1_024),
    'file, times that of the rows alone': factor.toFixed(2),
  }
  return { figures, failures }
}
