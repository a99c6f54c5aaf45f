/**
 * Writes a group of changes, and a step of a fold, in one transaction of the engine.
 * @module
 */
import { reserveBytesToAddMin } from '../../core/limits.ts'
import type { Digest, LogBundle } from '../../contract.ts'
import {
  applySet,
  makeGroupDraft,
  type GroupDraft,
  type RowChange,
  type SetResult,
} from '../../core/decide-change.ts'
import type { PreparedChange } from '../../core/prepare-change.ts'
import { keyRow, type KeyedRow } from '../../core/row.ts'
import type { CommitChange } from '../../core/row-sum.ts'
import { sealLog } from '../../core/seal-entries.ts'
import {
  type ChunkCounts,
  chunkEntry,
  deadlinePostings,
  deadlinesOfStore,
  makePostingDraft,
  type PostingDraft,
  termPostings,
  termsOfStore,
} from '../index/postings.ts'
import { readHeldRow, readUnique } from '../index/read-rows.ts'
import { chunkOf } from '../../core/place-set.ts'
import { faultOf } from '../environment.ts'
import { applyPut, type Put } from '../put.ts'
import {
  assertSafeState,
  encodeState,
  isFolded,
  stateKey,
  type StoreState,
} from '../store-state.ts'
import { followCommit, followStore, type IndexedEnvironment } from '../index/tail.ts'
import { encodeMoveKey, encodeRowKey, encodeRowVersion, type RowVersion } from '../layout.ts'
import type { SumKeeper } from '../kept-sum.ts'
import { logPuts, readDerivedValue } from '../log-table.ts'
import { planFold, type FoldSizes } from './lmdb-fold.ts'
import { faultOfRoom } from './disk-reserve.ts'

/*
 * Nothing of a set reaches the engine before all sets are decided: `transaction` does not roll back
 * after a throw (hardening L6). The step of a fold, which goes before, changes no row.
 */

interface StoreDraft extends GroupDraft {
  readonly environment: IndexedEnvironment
  /** As stored. */
  readonly state: StoreState
  /** Keys of indexed uniques that their rows have given up. */
  readonly freed: Set<string>
  readonly terms: PostingDraft
  readonly deadlines: PostingDraft
}

/** Caches stored rows: the credential of many sets is one row, read once. */
function makeRowReader(environment: IndexedEnvironment) {
  const keyedRows = new Map<number, KeyedRow>()
  return (ordinal: number): KeyedRow | undefined => {
    const known = keyedRows.get(ordinal)
    if (known !== undefined) return known
    const row = readHeldRow(environment, ordinal)
    if (row === undefined) return undefined
    const keyed = keyRow(row)
    keyedRows.set(ordinal, keyed)
    return keyed
  }
}

type Indexes = Pick<StoreDraft, 'state' | 'freed' | 'terms' | 'deadlines'>

/** Frees the uniques by which the index leads to a row. */
function freeUniques({ freed, state }: Indexes, ordinal: number, from: KeyedRow): void {
  // The index does not have rows that this group inserted.
  if (ordinal >= state.foldingTo) return
  const { uniques } = from.row
  from.uniqueKeys.forEach((key, i) => {
    const unique = uniques[i]
    if (unique !== undefined && isFolded(state, unique, ordinal)) freed.add(key)
  })
}

/** Reads everything before it changes anything. */
function changeIndexes(indexes: Indexes, rowChanges: ReadonlyMap<number, RowChange>): void {
  const { state, terms, deadlines } = indexes
  const postings = [...rowChanges].flatMap(([ordinal, { from, to }]) => [
    ...termPostings(terms, state, ordinal, from, to),
    ...deadlinePostings(deadlines, ordinal, from, to),
  ])
  for (const { draft, low, isIn } of postings) draft.places.set(low, isIn)
  for (const [ordinal, { from }] of rowChanges) {
    if (from !== undefined) freeUniques(indexes, ordinal, from)
  }
}

function makeStoreDraft(environment: IndexedEnvironment, state: StoreState): StoreDraft {
  const indexes = {
    state,
    freed: new Set<string>(),
    terms: makePostingDraft(termsOfStore(environment)),
    deadlines: makePostingDraft(deadlinesOfStore(environment)),
  }
  const holderOf = (unique: Digest) => readUnique(environment, unique)?.ordinal
  const derivedAt = (key: Uint8Array) => readDerivedValue(environment, key)
  const stored = { rowAt: makeRowReader(environment), holderOf, derivedAt }
  const draft = makeGroupDraft(state, stored, rowChanges => changeIndexes(indexes, rowChanges))
  return Object.assign(draft, { environment, ...indexes })
}

/*
 * One transaction: a step of a fold, then the effects of all change sets of a group.
 */

type InsertedRow = readonly [ordinal: number, value: Uint8Array]

const insertedRows = ({ rows, state }: StoreDraft): InsertedRow[] =>
  [...rows].flatMap(([ordinal, row]): InsertedRow[] =>
    row !== undefined && ordinal >= state.nextOrdinal ? [[ordinal, row.value]] : [],
  )

/** New rows come in ascending order of ordinals, as assigned. */
const rowPuts = ({ rows, environment, state }: StoreDraft): Put[] =>
  [...rows].map(([ordinal, row]) => ({
    table: environment.rows,
    key: encodeRowKey(ordinal),
    value: row?.value,
    isLast: ordinal >= state.nextOrdinal,
  }))

/**
 * Puts of the uniques of folded rows. A unique carries the version of its row, so all uniques of a
 * changed row are put; the holder of a unique in the draft is always a changed row.
 */
const uniquePuts = ({ rows, holdings, freed, environment, state }: StoreDraft): Put[] =>
  [...holdings].flatMap(([key, { unique, ordinal }]) => {
    const version = ordinal === undefined ? undefined : rows.get(ordinal)?.row.version
    const isHeld = ordinal !== undefined && version !== undefined
    const table = environment.uniques
    if (isHeld && isFolded(state, unique, ordinal)) {
      return { table, key: unique, value: encodeRowVersion({ ordinal, version }) }
    }
    return freed.has(key) ? { table, key: unique, value: undefined } : []
  })

/** Rows of the tail that differ from their inserted state: their new version, or 0 if removed. */
const moveVersions = ({ rows, state }: StoreDraft): RowVersion[] =>
  [...rows].flatMap(([ordinal, row]) => {
    const version = row?.row.version ?? 0
    const isMoved = version !== 1 || ordinal < state.nextOrdinal
    return ordinal >= state.foldedTo && isMoved ? { ordinal, version } : []
  })

const movePuts = ({ environment, state }: StoreDraft, moves: readonly RowVersion[]): Put[] =>
  moves.map((move, i) => ({
    table: environment.moves,
    key: encodeMoveKey(state.movesTo + i),
    value: encodeRowVersion(move),
    isLast: true,
  }))

const chunkPuts = ({ postings, chunks }: PostingDraft): Put[] =>
  [...chunks.values()]
    .filter(({ places }) => places.size > 0)
    .map(chunk => ({ table: postings.table, ...chunkEntry(postings, chunk) }))

/** Follows from the draft alone, so that a commit may be tried again. */
const summedChange = (
  { rows, stored, state }: StoreDraft,
  bundles: readonly LogBundle[],
): CommitChange => ({
  rows: [...rows].map(([ordinal, to]) => ({
    from: ordinal < state.nextOrdinal ? stored.rowAt(ordinal)?.row : undefined,
    to: to?.row,
  })),
  entries: bundles.reduce((sum, { leaves }) => sum + leaves.length, 0),
})

interface Decided {
  readonly results: readonly SetResult[]
  readonly puts: readonly Put[]
  readonly inserted: readonly InsertedRow[]
  /** Chunks in which rows move, so any of their terms or deadlines may change. */
  readonly chunks: ReadonlySet<number>
  /** The state after the group. */
  readonly state: StoreState
}

function putsOf(draft: StoreDraft, sums: SumKeeper): Pick<Decided, 'puts' | 'inserted' | 'state'> {
  const moves = moveVersions(draft)
  const log = sealLog(draft.log)
  const sum = sums.putOf(summedChange(draft, log.bundles))
  const { state, nextOrdinal, generation } = draft
  return {
    puts: [
      ...rowPuts(draft),
      ...uniquePuts(draft),
      ...chunkPuts(draft.terms),
      ...chunkPuts(draft.deadlines),
      ...movePuts(draft, moves),
      ...logPuts(draft.environment, log),
      ...(sum === undefined ? [] : [sum]),
    ],
    inserted: insertedRows(draft),
    state: { ...state, nextOrdinal, generation, movesTo: state.movesTo + moves.length },
  }
}

type ChangeSets = readonly (readonly PreparedChange[])[]

/** A fault that belongs to no single set fails them all, and nothing is written for them. */
function decideGroup(
  environment: IndexedEnvironment,
  state: StoreState,
  sets: ChangeSets,
  { roomBytes, sums }: GroupOptions,
): Decided {
  try {
    assertSafeState(environment, state)
    const draft = makeStoreDraft(environment, state)
    const results = sets.map(set => {
      const fault = faultOfRoom(roomBytes, set)
      return fault === undefined ? applySet(draft, set, faultOf) : { fault }
    })
    const chunks = new Set([...draft.rows.keys()].map(chunkOf))
    return { results, chunks, ...putsOf(draft, sums) }
  } catch (error) {
    const fault = faultOf(error)
    const results = sets.map(() => ({ fault }))
    return { results, puts: [], inserted: [], chunks: new Set(), state }
  }
}

const digestsOf = (change: PreparedChange): number =>
  'row' in change ? change.row.row.uniques.length + change.row.row.terms.length : 0

/** A fold adds before it removes, so it waits while room is short. */
function applyFoldStep(
  environment: IndexedEnvironment,
  state: StoreState,
  sets: ChangeSets,
  { roomBytes, fold }: GroupOptions,
): StoreState {
  if (roomBytes < reserveBytesToAddMin) return state
  const digests = sets.flat().reduce((sum, change) => sum + digestsOf(change), 0)
  const step = planFold(environment, state, fold, digests)
  for (const put of step?.puts ?? []) applyPut(put)
  return step?.state ?? state
}

export interface GroupOptions {
  /** Growth left to the store's file. */
  readonly roomBytes: number
  readonly fold: FoldSizes
  readonly sums: SumKeeper
}

export interface WrittenGroup {
  /** One for each set, in their order. */
  readonly results: readonly SetResult[]
  /** `undefined` if the store could not even be read. */
  readonly state?: StoreState
  /** True if anything was put, even just a fold step. */
  readonly hasPut: boolean
  /** Updates the tail, once everything is on disk. */
  readonly follow?: () => void
}

/**
 * Runs within a transaction of the engine.
 * @throws only when the engine refuses a put: it then marks its transaction as broken, so that the
 *   commit fails as well
 */
export function writeGroup(
  environment: IndexedEnvironment,
  counts: ChunkCounts,
  sets: ChangeSets,
  options: GroupOptions,
): WrittenGroup {
  let before: StoreState
  try {
    before = followStore(environment)
  } catch (error) {
    const fault = faultOf(error)
    return { results: sets.map(() => ({ fault })), hasPut: false }
  }
  const folded = applyFoldStep(environment, before, sets, options)
  const decided = decideGroup(environment, folded, sets, options)
  const { results, puts, inserted, chunks, state } = decided
  counts.begin(chunks)
  for (const put of puts) applyPut(put)
  const hasPut = folded !== before || puts.length > 0 || state.generation !== before.generation
  if (hasPut) environment.meta.putSync(stateKey, encodeState(state))
  const follow = () => followCommit(environment, before, state, inserted)
  return { results, state, hasPut, follow }
}
