/**
 * Writing a group of changes in one transaction of the engine, while there is room on the disk.
 * @module
 */
import { statfsSync, closeSync, fstatSync, openSync } from 'node:fs'
import { ApiError } from '../../../errors.ts'
import {
  freeSpaceBytesMin,
  freeSpaceProbeMs,
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
  reserveBytesWanted,
  stagedBytesMax,
} from '../../../limits.ts'
import type { Change } from '../../contract.ts'
import {
  type PreparedChange,
  applySet,
  type SetResult,
  makeGroupDraft,
  type GroupDraft,
} from './changes.ts'
import { FFIType } from 'bun:ffi'
import { join } from 'node:path'
import { findInLibc } from '../../../libc.ts'
import { chunkOf, type ChunkCounts, chunkEntry, type PostingDraft } from '../index/postings.ts'
import { type Environment, type Table, faultOf, metaEntries } from '../environment.ts'
import { encodeRowKey, encodeUniqueEntry } from '../rows.ts'

/*
 * The guards before a full disk: writes that add bytes are refused while there is room to remove.
 *
 * A file system that is full in the middle of a commit can end the process within the engine
 * (hardening L11). So the free space is asked for before a write is taken, at most once in
 * `freeSpaceProbeMs`, and each commit keeps to what the reserve of the file has.
 */

/** Bytes that whoever runs this may still write. */
export type FreeBytes = () => number

export const freeBytesAt =
  (path: string): FreeBytes =>
  () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }

const storageFull = () => new ApiError('storage_full', 'The storage is full. Reading goes on.')

const addsBytes = (change: Change): boolean => 'insert' in change || 'replace' in change

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

const growsStore = ({ kind }: PreparedChange): boolean => kind === 'insert' || kind === 'replace'

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
 * One transaction: decide all change sets of a group, then put what is left of them.
 */

/** One put, or the removal of a key. */
interface Put {
  readonly table: Table
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
  /** The key comes after all that are there, and after those of the steps before. */
  readonly isLast?: boolean
}

/** New rows stand in the order of their ordinals, as they were given. */
const rowSteps = ({ rows, environment, meta }: GroupDraft): Put[] =>
  [...rows].map(([ordinal, row]) => ({
    table: environment.rows,
    key: encodeRowKey(ordinal),
    value: row?.value,
    isLast: ordinal >= meta.nextOrdinal,
  }))

/** Uniques of a row that was moved carry its new version; a holder is always a moved row. */
const uniqueSteps = ({ rows, holdings, environment }: GroupDraft): Put[] =>
  [...holdings.values()].map(({ unique, ordinal }) => {
    const version = ordinal === undefined ? undefined : rows.get(ordinal)?.row.version
    const isHeld = ordinal !== undefined && version !== undefined
    const value = isHeld ? encodeUniqueEntry({ ordinal, version }) : undefined
    return { table: environment.uniques, key: unique, value }
  })

const chunkSteps = ({ table, chunks }: PostingDraft): Put[] =>
  [...chunks.values()]
    .filter(({ places }) => places.size > 0)
    .map(chunk => ({ table, ...chunkEntry(chunk) }))

function metaSteps({ environment, meta, nextOrdinal, generation }: GroupDraft): Put[] {
  if (nextOrdinal === meta.nextOrdinal && generation === meta.generation) return []
  const entries = metaEntries({ nextOrdinal, generation })
  return entries.map(([key, value]) => ({ table: environment.meta, key, value }))
}

const stepsOf = (draft: GroupDraft): Put[] => [
  ...rowSteps(draft),
  ...uniqueSteps(draft),
  ...chunkSteps(draft.terms),
  ...chunkSteps(draft.deadlines),
  ...metaSteps(draft),
]

interface Decided {
  readonly results: readonly SetResult[]
  readonly steps: readonly Put[]
  /** In which rows move, so that any term or deadline of theirs may change. */
  readonly chunks: ReadonlySet<number>
}

/** A fault that belongs to no single set is the fault of all, and nothing is written. */
function decideGroup(
  environment: Environment,
  sets: readonly (readonly PreparedChange[])[],
  roomBytes: number,
): Decided {
  try {
    const draft = makeGroupDraft(environment)
    const results = sets.map(set => {
      const fault = faultOfRoom(roomBytes, set)
      return fault === undefined ? applySet(draft, set) : { fault }
    })
    return { results, steps: stepsOf(draft), chunks: new Set([...draft.rows.keys()].map(chunkOf)) }
  } catch (error) {
    const fault = faultOf(error)
    return { results: sets.map(() => ({ fault })), steps: [], chunks: new Set() }
  }
}

/** Larger values are few, and go as they are. */
const staging = new Uint8Array(stagedBytesMax)

/**
 * The same bytes for a put, which copies them: the engine's binding looks up the address of each
 * buffer that it has not met, and that costs as much as the put.
 */
function staged(value: Uint8Array): Uint8Array {
  if (value.length > stagedBytesMax) return value
  staging.set(value)
  return new Uint8Array(staging.buffer, 0, value.length)
}

/**
 * The engine splits a full page so that its last entry moves along, unless it is told that the new
 * one comes after all: of rows, where six or seven fill a page, that would be one less in each.
 * Told so wrongly it puts nothing, and says false. `readMeta` has checked that it is not wrong, but
 * a row that was answered must not hang on that.
 */
export function takeStep({ table, key, value, isLast = false }: Put): void {
  if (value === undefined) {
    table.removeSync(key)
    return
  }
  const bytes = staged(value)
  const isPut: unknown = isLast && table.putSync(key, bytes, { append: true })
  if (isPut !== true) table.putSync(key, bytes)
}

/**
 * Runs within a transaction of the engine.
 * @param roomBytes that the store's file can grow by
 * @returns one result for each set, in their order
 * @throws only when the engine refuses a put: it then marks its transaction as broken, so that the
 *   commit fails as well
 */
export function writeGroup(
  environment: Environment,
  counts: ChunkCounts,
  sets: readonly (readonly PreparedChange[])[],
  roomBytes: number,
): readonly SetResult[] {
  const { results, steps, chunks } = decideGroup(environment, sets, roomBytes)
  counts.begin(chunks)
  for (const step of steps) takeStep(step)
  return results
}
