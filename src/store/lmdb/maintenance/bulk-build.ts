/**
 * Builds a new, fully folded store from rows that come in order: the parts shared by every such
 * build, and the build from a store of another engine.
 *
 * Rows keep their ordinals, headers and sealed parts. Each table is written in key order, so that
 * its pages are full.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOfHex } from '../../../lib/bytes.ts'
import { ownerOnlyFolder } from '../../../lib/files.ts'
import { noProgress, type BeginProgress } from '../../../lib/progress.ts'
import type { DerivedValue, Digest, Row, StoredBundle } from '../../contract.ts'
import { encodeBundle } from '../../core/bundle-format.ts'
import { compactBatchBytes } from '../../core/limits.ts'
import { everyBundle, everyDerived, type LogReads } from '../../core/log-walk.ts'
import { chunkOf, encodePlaceSet, lowOf } from '../../core/place-set.ts'
import { encodeRow } from '../../core/row-format.ts'
import { eachTerm } from '../../core/row.ts'
import { openEnvironment, type LmdbEnvironment } from '../environment.ts'
import { applyPut, type Put } from '../put.ts'
import { encodeState, rewriteMeta, stateKey } from '../store-state.ts'
import { addPlace, placeSetOf, type ChunkPlaces } from '../index/postings.ts'
import {
  encodeDeadline,
  encodeDeadlineKey,
  encodeRowKey,
  encodeRowVersion,
  encodeTermKey,
  type RowVersion,
} from '../layout.ts'
import { rangePut, tablesOf } from '../log-table.ts'
import { syncFile } from './compact-copy.ts'

/** A row to be put, and the header that holds its terms. */
interface BuiltRow {
  readonly ordinal: number
  readonly bytes: Uint8Array
  readonly clear: Uint8Array
}

/** Makes puts of rows, and after the last row of each chunk the puts of its terms. */
function makeRowPuts(to: LmdbEnvironment) {
  let chunk = -1
  let terms = new Map<string, ChunkPlaces>()

  /** Puts the chunk's terms as index entries, in key order. */
  function* endChunk(): Generator<Put> {
    for (const key of [...terms.keys()].sort()) {
      const value = encodePlaceSet(placeSetOf(terms.get(key)))
      yield { table: to.terms, key: encodeTermKey(bytesOfHex(key), chunk), value, isLast: true }
    }
    terms = new Map()
  }

  return {
    /** Puts the next row in order. */
    *next({ ordinal, bytes, clear }: BuiltRow): Generator<Put> {
      if (chunkOf(ordinal) !== chunk) {
        yield* endChunk()
        chunk = chunkOf(ordinal)
      }
      eachTerm(clear, term => terms.set(term, addPlace(terms.get(term), lowOf(ordinal))))
      yield { table: to.rows, key: encodeRowKey(ordinal), value: bytes, isLast: true }
    },
    end: endChunk,
  }
}

type PutAll = (puts: Iterator<Put>) => void

/** Makes all puts, in transactions that the engine can keep in memory. */
function putsInto({ root }: LmdbEnvironment, { checkBytes }: StoreSource): PutAll {
  let all = 0
  return puts => {
    const putBatch = (): boolean => {
      for (let bytes = 0; bytes < compactBatchBytes;) {
        const next = puts.next()
        if (next.done === true) return false
        applyPut(next.value)
        const more = next.value.key.length + (next.value.value?.length ?? 0)
        bytes += more
        all += more
        checkBytes(all)
      }
      return true
    }
    while (root.transactionSync(putBatch));
  }
}

/** Puts the state of a fully folded store. */
function putState(to: LmdbEnvironment, nextOrdinal: number, generation: number): void {
  const state = {
    nextOrdinal,
    generation,
    foldedTo: nextOrdinal,
    foldingTo: nextOrdinal,
    foldedPrefixes: 0,
    movesFrom: 0,
    movesTo: 0,
    movesOfFold: 0,
  }
  to.root.transactionSync(() => {
    rewriteMeta(to)
    to.meta.putSync(stateKey, encodeState(state))
  })
}

/** @param to a folder that must not exist; once this resolves, its contents are on disk */
async function buildStore(
  to: string,
  write: (made: LmdbEnvironment) => void | Promise<void>,
): Promise<void> {
  mkdirSync(to, { mode: ownerOnlyFolder })
  const made = openEnvironment(to)
  try {
    await write(made)
  } finally {
    await made.root.close()
  }
  syncFile(join(to, 'data.mdb'))
}

interface UniqueEntry extends RowVersion {
  readonly unique: Digest
}

interface DeadlineEntry {
  readonly deadlineMs: number
  readonly ordinal: number
}

/** Everything of a store without writers, read in batches in the order named here first. */
export interface StoreSource {
  readonly nextOrdinal: number
  readonly generation: number
  /** Called with the bytes put so far: it throws where others have made the source endless. */
  readonly checkBytes: (bytes: number) => void
  /** By ordinal. */
  readonly rows: () => AsyncIterable<readonly Row[]>
  /** By unique. */
  readonly uniques: () => AsyncIterable<readonly UniqueEntry[]>
  /** By deadline, then by ordinal. */
  readonly deadlines: () => AsyncIterable<readonly DeadlineEntry[]>
  readonly log: LogReads
}

async function buildRows(
  source: StoreSource,
  to: LmdbEnvironment,
  putAll: PutAll,
  progress: BeginProgress,
): Promise<void> {
  const done = progress(source.nextOrdinal, 'copying')
  const puts = makeRowPuts(to)
  function* putsOf(rows: readonly Row[]): Generator<Put> {
    for (const row of rows) {
      yield* puts.next({ ordinal: row.ordinal, bytes: encodeRow(row), clear: row.clear })
    }
  }
  for await (const rows of source.rows()) {
    putAll(putsOf(rows))
    done(rows.at(-1)?.ordinal ?? 0)
  }
  putAll(puts.end())
}

async function buildUniques(
  source: StoreSource,
  to: LmdbEnvironment,
  putAll: PutAll,
): Promise<void> {
  const put = ({ unique, ...at }: UniqueEntry): Put => {
    return { table: to.uniques, key: unique, value: encodeRowVersion(at), isLast: true }
  }
  for await (const entries of source.uniques()) putAll(entries.map(put).values())
}

/** Rows with the same deadline are adjacent, ordered by chunk. */
async function buildDeadlines(
  source: StoreSource,
  to: LmdbEnvironment,
  putAll: PutAll,
): Promise<void> {
  let held: { readonly deadlineMs: number; readonly chunk: number } | undefined
  let places: ChunkPlaces | undefined
  function* endChunk(): Generator<Put> {
    if (held === undefined) return
    const key = encodeDeadlineKey(encodeDeadline(held.deadlineMs), held.chunk)
    yield {
      table: to.deadlines,
      key,
      value: encodePlaceSet(placeSetOf(places)),
      isLast: true,
    }
  }
  function* putsOf(entries: readonly DeadlineEntry[]): Generator<Put> {
    for (const { deadlineMs, ordinal } of entries) {
      const chunk = chunkOf(ordinal)
      if (held?.deadlineMs !== deadlineMs || held.chunk !== chunk) {
        yield* endChunk()
        held = { deadlineMs, chunk }
        places = undefined
      }
      places = addPlace(places, lowOf(ordinal))
    }
  }
  for await (const entries of source.deadlines()) putAll(putsOf(entries))
  putAll(endChunk())
}

async function buildLog({ log }: StoreSource, to: LmdbEnvironment, putAll: PutAll): Promise<void> {
  const tables = tablesOf(to)
  const putBundle = (bundle: StoredBundle): Put => {
    const key = encodeRowKey(bundle.first)
    return { table: tables.log, key, value: encodeBundle(bundle), isLast: true }
  }
  for await (const bundles of everyBundle(log)) putAll(bundles.map(putBundle).values())
  const putDerived = (each: DerivedValue): Put => ({ table: tables.derived, ...each, isLast: true })
  for await (const values of everyDerived(log)) putAll(values.map(putDerived).values())
  putAll([rangePut(to, await log.logRange())].values())
}

/**
 * Builds a store with the contents of another one, of any engine.
 * @param to as in `buildStore`
 * @throws whatever the source throws; the engine's or the system's own error
 */
export const buildStoreFrom = (
  source: StoreSource,
  to: string,
  progress: BeginProgress = noProgress,
): Promise<void> =>
  buildStore(to, async made => {
    const putAll = putsInto(made, source)
    await buildRows(source, made, putAll, progress)
    await buildUniques(source, made, putAll)
    await buildDeadlines(source, made, putAll)
    await buildLog(source, made, putAll)
    putState(made, source.nextOrdinal, source.generation)
  })
