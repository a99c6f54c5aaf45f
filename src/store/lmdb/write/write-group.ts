/**
 * Writing a group of changes in one transaction of the engine, while the disk has room.
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
 * Guards against a full disk: writes that add are refused while there is still room to remove.
 *
 * A file system that fills up during a commit can end the process within the engine (hardening
 * L11). So free space is checked before a write is accepted, at most once per `freeSpaceProbeMs`,
 * and each commit stays within the reserve of the file.
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
 * Returns the fault that forbids committing a set of changes; `undefined` if it may be committed.
 * @param roomBytes growth left to the store's file
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
 * The reserve: disk blocks already allocated behind the end of the store's file.
 *
 * Another program can fill the disk between any check and the write that follows. The engine then
 * uses the reserve, so that it does not run out during a commit (hardening L11), and rows can be
 * removed from a full disk. The reserve does not change the file's length, and its blocks survive
 * any end of the process. It is limited: a commit that copies more pages can still run out of a
 * disk that was filled meanwhile, and so can any commit on a copy-on-write file system. Source:
 * fallocate(2), FALLOC_FL_KEEP_SIZE.
 */

export interface Reserve {
  /** Tops it up if it is low and the disk allows; returns its size in bytes. */
  fill(): number
  close(): void
}

/** Allocates bytes of a file from a position on; returns true if all of them were allocated. */
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
 * Opens the reserve of the store in a folder. A file system without preallocation counts as having
 * an endless reserve while space is free, and enough to remove when it is not. A call that fails
 * once on a full disk is retried. Holes within the file are filled first: they are no room either.
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
 * Puts of folded rows only. Uniques of a moved row carry its new version; a holder is always a
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

/** Rows of the tail that differ from their inserted state: their new version, or 0 if removed. */
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
  /** Chunks in which rows move, so any of their terms or deadlines may change. */
  readonly chunks: ReadonlySet<number>
  /** The state after the group. */
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

/** A fault that belongs to no single set fails them all, and nothing is written for them. */
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

/** A fold adds before it removes, so it waits while room is short. */
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
  /** Growth left to the store's file. */
  readonly roomBytes: number
  readonly fold: FoldSizes
}

export interface WrittenGroup {
  /** One for each set, in their order. */
  readonly results: readonly SetResult[]
  /** `undefined` if the store could not even be read. */
  readonly state?: StoreState
  /** True if anything was put, even just a fold step. */
  readonly hasMoved: boolean
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
