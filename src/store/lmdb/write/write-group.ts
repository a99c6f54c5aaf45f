/**
 * Writing a group of changes in one transaction of the engine, while there is room on the disk.
 * @module
 */
import { freeSpaceBytesMin } from '../../../limits/operation-limits.ts'
import { statfsSync, closeSync, fstatSync, openSync } from 'node:fs'
import { ApiError } from '../../../lib/errors.ts'
import {
  freeSpaceProbeMs,
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
  reserveBytesWanted,
} from '../../core/limits.ts'
import type { Change } from '../../contract.ts'
import { applySet, type PreparedChange, type SetResult } from '../../core/decide-change.ts'
import { makeStoreDraft, type StoreDraft } from './changes.ts'
import { FFIType } from 'bun:ffi'
import { join } from 'node:path'
import { findInLibc } from '../../../lib/libc.ts'
import { type ChunkCounts, chunkEntry, type PostingDraft } from '../index/postings.ts'
import { chunkOf } from '../../core/plan.ts'
import {
  assertSafeState,
  encodeState,
  faultOf,
  isFolded,
  stateKey,
  type StoreState,
  takePut,
  type Put,
} from '../environment.ts'
import { followCommit, followStore, type IndexedEnvironment } from '../index/tail.ts'
import { encodeMoveKey, encodeRowKey, encodeRowVersion, type RowVersion } from '../layout.ts'
import { planFold, type FoldSizes } from './lmdb-fold.ts'

/*
 * The guards before a full disk: writes that add bytes are refused while there is room to remove.
 *
 * A file system that is full in the middle of a commit can end the process within the engine
 * (hardening L11). So the free space is asked for before a write is taken, at most once in
 * `freeSpaceProbeMs`, and each commit keeps to what the reserve of the file has.
 */

/** Bytes that the user of this process may still write. */
export type FreeBytes = () => number

export const freeBytesAt =
  (path: string): FreeBytes =>
  () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }

const storageFull = () => new ApiError('storage_full', 'The storage is full. Reading goes on.')

const addsBytes = (change: Change): boolean =>
  'insert' in change || 'replace' in change || 'reseal' in change

/** @returns a check of one write: throws ApiError `storage_full` when it adds and room is short */
export function makeSpaceGuard(freeBytes: FreeBytes): (changes: readonly Change[]) => void {
  let isShort: boolean | undefined
  return changes => {
    if (!changes.some(addsBytes)) return
    if (isShort === undefined) {
      isShort = freeBytes() < freeSpaceBytesMin
      setTimeout(() => {
        isShort = undefined
      }, freeSpaceProbeMs).unref()
    }
    if (isShort) throw storageFull()
  }
}

const growsStore = ({ kind }: PreparedChange): boolean =>
  kind === 'insert' || kind === 'replace' || kind === 'reseal'

/**
 * Why a set of changes may not be committed; `undefined` when it may.
 * @param roomBytes that the store's file can grow by
 */
export function faultOfRoom(
  roomBytes: number,
  changes: readonly PreparedChange[],
): ApiError | undefined {
  if (roomBytes >= reserveBytesToAddMin) return undefined
  const mayRemove = roomBytes >= reserveBytesToRemoveMin
  return mayRemove && !changes.some(growsStore) ? undefined : storageFull()
}

/*
 * The reserve: blocks behind the end of the store's file that the disk has given already.
 *
 * Another program can fill a disk between any look at it and the write that follows. The engine
 * then meets what is left of the reserve, so that it does not run out in the middle of a commit
 * (hardening L11), and rows can be removed from a disk that is full. The file's length does not
 * change by it, and the blocks stay its own when the process ends in any way. It is no more than
 * its size: a commit that copies more pages can still meet the end of a disk that was filled
 * meanwhile, and so can any on a file system that copies on write.
 * Source: fallocate(2), FALLOC_FL_KEEP_SIZE.
 */

export interface Reserve {
  /** Fills it up where it is low and that can be; gives the bytes that it has. */
  fill(): number
  close(): void
}

/** Takes blocks for bytes of a file from a position on; whether all of them are there. */
export type Allocate = (file: number, positionBytes: number, lengthBytes: number) => boolean

const keepSize = 1

const fallocate = {
  args: [FFIType.i32, FFIType.i32, FFIType.i64, FFIType.i64],
  returns: FFIType.i32,
} as const

function findAllocate(): Allocate {
  const libc = findInLibc({ fallocate })
  return (file, position, length) => libc?.fallocate(file, keepSize, position, length) === 0
}

/**
 * The reserve of the store in a folder. Where the file system keeps none, it counts as endless
 * while space is free, and as enough to remove where it is not. A call that fails once, on a disk
 * that is full, is tried again. Holes within the file are filled first: they are no room either.
 */
export function openReserve(
  folder: string,
  freeBytes: FreeBytes,
  allocate: Allocate = findAllocate(),
): Reserve {
  const file = openSync(join(folder, 'data.mdb'), 'r+')
  let isKept = false
  let reservedTo = 0
  return {
    fill() {
      const { size } = fstatSync(file)
      isKept ||= allocate(file, 0, Math.max(1, size))
      if (!isKept) return freeBytes() < freeSpaceBytesMin ? reserveBytesToRemoveMin : Infinity
      if (reservedTo - size >= reserveBytesToAddMin) return reservedTo - size
      const sizes = [reserveBytesWanted, reserveBytesToAddMin, reserveBytesToRemoveMin]
      const had = sizes.find(bytes => allocate(file, size, bytes))
      if (had !== undefined) reservedTo = Math.max(reservedTo, size + had)
      return Math.max(0, reservedTo - size)
    },
    close: () => closeSync(file),
  }
}

/*
 * One transaction: a step of a fold, then what is left of all change sets of a group.
 */

type InsertedRow = readonly [ordinal: number, value: Uint8Array]

const insertedRows = ({ rows, state }: StoreDraft): InsertedRow[] =>
  [...rows].flatMap(([ordinal, row]): InsertedRow[] =>
    row !== undefined && ordinal >= state.nextOrdinal ? [[ordinal, row.value]] : [],
  )

/** New rows stand in the order of their ordinals, as they were given. */
const rowPuts = ({ rows, environment, state }: StoreDraft): Put[] =>
  [...rows].map(([ordinal, row]) => ({
    table: environment.rows,
    key: encodeRowKey(ordinal),
    value: row?.value,
    isLast: ordinal >= state.nextOrdinal,
  }))

/**
 * Of folded rows alone. Uniques of a row that was moved carry its new version; a holder is always a
 * moved row.
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

/** Rows of the tail that are not as they were inserted: the version, or that they are removed. */
const moveVersions = ({ rows, state }: StoreDraft): RowVersion[] =>
  [...rows].flatMap(([ordinal, row]) => {
    const version = row?.row.version ?? 0
    const isMoved = version !== 1 || ordinal < state.nextOrdinal
    return ordinal >= state.foldedTo && isMoved ? { ordinal, version } : []
  })

const movePuts = ({ environment, state }: StoreDraft, moved: readonly RowVersion[]): Put[] =>
  moved.map((move, i) => ({
    table: environment.moves,
    key: encodeMoveKey(state.movesTo + i),
    value: encodeRowVersion(move),
    isLast: true,
  }))

const chunkPuts = ({ postings, chunks }: PostingDraft): Put[] =>
  [...chunks.values()]
    .filter(({ places }) => places.size > 0)
    .map(chunk => ({ table: postings.table, ...chunkEntry(postings, chunk) }))

interface Decided {
  readonly results: readonly SetResult[]
  readonly puts: readonly Put[]
  readonly inserted: readonly InsertedRow[]
  /** In which rows move, so that any term or deadline of theirs may change. */
  readonly chunks: ReadonlySet<number>
  /** As it is after the group. */
  readonly state: StoreState
}

function putsOf(draft: StoreDraft): Pick<Decided, 'puts' | 'inserted' | 'state'> {
  const moved = moveVersions(draft)
  const { state, nextOrdinal, generation } = draft
  return {
    puts: [
      ...rowPuts(draft),
      ...uniquePuts(draft),
      ...chunkPuts(draft.terms),
      ...chunkPuts(draft.deadlines),
      ...movePuts(draft, moved),
    ],
    inserted: insertedRows(draft),
    state: { ...state, nextOrdinal, generation, movesTo: state.movesTo + moved.length },
  }
}

type ChangeSets = readonly (readonly PreparedChange[])[]

/** A fault that belongs to no single set is the fault of all, and nothing is written for them. */
function decideGroup(
  environment: IndexedEnvironment,
  state: StoreState,
  sets: ChangeSets,
  roomBytes: number,
): Decided {
  try {
    assertSafeState(environment, state)
    const draft = makeStoreDraft(environment, state)
    const results = sets.map(set => {
      const fault = faultOfRoom(roomBytes, set)
      return fault === undefined ? applySet(draft, set, faultOf) : { fault }
    })
    const chunks = new Set([...draft.rows.keys()].map(chunkOf))
    return { results, chunks, ...putsOf(draft) }
  } catch (error) {
    const fault = faultOf(error)
    const results = sets.map(() => ({ fault }))
    return { results, puts: [], inserted: [], chunks: new Set(), state }
  }
}

const digestsOf = (change: PreparedChange): number =>
  'row' in change ? change.row.row.uniques.length + change.row.row.terms.length : 0

/** A fold adds before it can remove: it waits while room is short. */
function takeFoldStep(
  environment: IndexedEnvironment,
  state: StoreState,
  sets: ChangeSets,
  { roomBytes, fold }: GroupOptions,
): StoreState {
  if (roomBytes < reserveBytesToAddMin) return state
  const digests = sets.flat().reduce((sum, change) => sum + digestsOf(change), 0)
  const step = planFold(environment, state, fold, digests)
  for (const put of step?.puts ?? []) takePut(put)
  return step?.state ?? state
}

export interface GroupOptions {
  /** That the store's file can grow by. */
  readonly roomBytes: number
  readonly fold: FoldSizes
}

export interface WrittenGroup {
  /** One for each set, in their order. */
  readonly results: readonly SetResult[]
  /** `undefined` where the store could not even be read. */
  readonly state?: StoreState
  /** Whether anything was put, a step of a fold alone or more. */
  readonly hasMoved: boolean
  /** Brings the tail along, once all of it is on disk. */
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
    return { results: sets.map(() => ({ fault })), hasMoved: false }
  }
  const folded = takeFoldStep(environment, before, sets, options)
  const decided = decideGroup(environment, folded, sets, options.roomBytes)
  const { results, puts, inserted, chunks, state } = decided
  counts.begin(chunks)
  for (const put of puts) takePut(put)
  const hasMoved = folded !== before || puts.length > 0 || state.generation !== before.generation
  if (hasMoved) environment.meta.putSync(stateKey, encodeState(state))
  const follow = () => followCommit(environment, before, state, inserted)
  return { results, state, hasMoved, follow }
}
