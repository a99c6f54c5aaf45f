/**
 * Opens every state of one share of a recording: `check-states.ts <order as JSON>`.
 *
 * A process of its own, since a damaged file can end it. It keeps the number of its state in a
 * file, and prints a line of JSON for each bad state.
 * @module
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openLmdbStore, type LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import { encodeRow } from '../../../src/store/core/row-format.ts'
import { inserted, numberOf } from '../../store/rows.ts'
import { readRecording } from '../native/recorder.ts'
import { buildImage, capacityOf, type Image } from './disk.ts'
import {
  brokenPromises,
  deadlineBaseMs,
  everyRow,
  type Found,
  type FoundRow,
  type Promises,
} from './promises.ts'
import { walkStates } from './states.ts'

/** States to check: every `of`th from `share` on, but none before `from`. */
export interface Order {
  readonly log: string
  /** For the image and the progress; no other process uses it. */
  readonly folder: string
  readonly seed: number
  readonly count: number
  readonly share: number
  readonly of: number
  readonly from: number
}

export interface Progress {
  /** State being checked, or the last one checked. */
  readonly at: number
  /** Number of states begun, including that one. */
  readonly checked: number
}

/** `lost`: a promise is broken. `inconsistent`: the indexes disagree. `refused`: does not open. */
export interface BadState {
  readonly at: number
  readonly kind: 'lost' | 'inconsistent' | 'refused' | 'died'
  readonly says: string
}

const rowsMax = 1_000
const farFutureMs = deadlineBaseMs * 2
/** In one state of so many the store is also written to. */
const writtenEvery = 8
const newUnique = 3_000_000

async function findAll(store: LmdbStore): Promise<Found & { readonly faults: string[] }> {
  const window = { offset: 0, limit: rowsMax, nowMs: 0 }
  const { rows, total } = await store.page({ term: everyRow }, window)
  const due = await store.due(farFutureMs, rowsMax)
  const slots = new Map<number, FoundRow>()
  const faults: string[] = []
  for (const row of rows) {
    const [unique] = row.uniques
    if (unique === undefined) continue
    const same = await store.find(unique)
    if (same?.ordinal !== row.ordinal) faults.push(`row ${row.ordinal} is not found by its unique`)
    slots.set(numberOf(unique), { ordinal: row.ordinal, bytes: encodeRow(row) })
  }
  const dated = rows.filter(({ deadlineMs }) => deadlineMs !== undefined).length
  if (total !== slots.size) faults.push(`${slots.size} rows of ${total}`)
  if (due.length !== dated) faults.push(`${due.length} rows are due of ${dated}`)
  return { rows: slots, generation: await store.generation(), faults }
}

async function checkStore(store: LmdbStore, promises: Promises, at: number): Promise<BadState[]> {
  const found = await findAll(store)
  const findings = (await store.integrity()).map(({ kind }) => kind)
  const broken = brokenPromises(promises, found).map(says => ({ at, kind: 'lost', says }) as const)
  const wrong = [...found.faults, ...findings]
  const bad = [...broken, ...wrong.map(says => ({ at, kind: 'inconsistent', says }) as const)]
  if (bad.length > 0 || at % writtenEvery !== 0) return bad
  await inserted(store, { uniques: [newUnique], terms: [0] })
  const after = (await findAll(store)).rows.size
  if (after === found.rows.size + 1) return []
  return [{ at, kind: 'inconsistent', says: `${after} rows after one more was written` }]
}

async function checkImage(folder: string, promises: Promises, at: number): Promise<BadState[]> {
  let store: LmdbStore
  try {
    store = await openLmdbStore({ path: folder, freeBytes: () => Infinity })
  } catch (error) {
    return [{ at, kind: 'refused', says: String(error) }]
  }
  try {
    return await checkStore(store, promises, at)
  } catch (error) {
    return [{ at, kind: 'inconsistent', says: String(error) }]
  } finally {
    await store.close()
  }
}

function writeImage(file: string, { bytes, length }: Image): void {
  const handle = openSync(file, 'w', 0o600)
  writeSync(handle, bytes, 0, length, 0)
  ftruncateSync(handle, length)
  closeSync(handle)
}

async function run({ log, folder, seed, count, share, of, from }: Order): Promise<void> {
  const events = readRecording(log)
  const target = new Uint8Array(capacityOf(events))
  const image = join(folder, 'image')
  mkdirSync(image, { recursive: true })
  const progress = openSync(join(folder, 'progress'), 'w')
  let at = -1
  let checked = 0
  for (const { disk, loss, promises } of walkStates(events, { seed, count })) {
    at += 1
    if (at < from || at % of !== share) continue
    checked += 1
    const reached: Progress = { at, checked }
    // The numbers only grow, and so does the text: each write covers the last one.
    writeSync(progress, JSON.stringify(reached), 0)
    writeImage(join(image, 'data.mdb'), buildImage(disk, loss, target))
    for (const bad of await checkImage(image, promises, at)) console.info(JSON.stringify(bad))
  }
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? '') as Order)
