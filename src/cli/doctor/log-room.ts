/**
 * Finding of `coffer doctor` about the room of the audit log: what an entry takes, how many there
 * are a day, and when they fill what they may take.
 *
 * It needs no key: the index has the instants of each slice in the clear.
 * @module
 */
import {
  atSlice,
  behindChunk,
  chunkOf,
  decodeSpan,
  indexKey,
  sliceOf,
  spanKind,
} from '../../audit/index-format.ts'
import { indexedBelow } from '../../audit/search-index.ts'
import { logBudgetWarnShare, mapBytes } from '../../limits/operation-limits.ts'
import { logChunkEntries } from '../../limits/work-limits.ts'
import type { FolderOptions } from '../../server/folder/data-folder.ts'
import { isInDatabase } from '../../server/folder/folder-database.ts'
import type { Settings } from '../../settings/settings.ts'
import type { OperatedStore } from '../../store/operated.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { fault, note, warning, type DoctorFinding } from './finding.ts'
import { withPublicLog } from '../audit/opened-log.ts'

export interface LogRoom {
  /** Bytes of entries and of what follows from them. */
  readonly bytes: number
  /** Number of entries that are kept. */
  readonly entries: number
  /** By the newest indexed entries; `undefined` while there are too few. */
  readonly entriesPerDay: number | undefined
}

const dayMs = 24 * 60 * 60 * 1_000

type RoomStore = Pick<OperatedStore, 'derived' | 'figures' | 'logRange'>

/** The rate of the newest chunk with an indexed slice. */
async function entriesPerDayOf(store: RoomStore): Promise<number | undefined> {
  const indexed = await indexedBelow(store)
  if (indexed === 0) return undefined
  const chunk = chunkOf(indexed - 1)
  const spans = indexKey(spanKind)
  const first = atSlice(spans, chunk * logChunkEntries)
  const slices = await store.derived(first, behindChunk(spans, chunk), logChunkEntries)
  const [oldest] = slices
  const newest = slices.at(-1)
  if (oldest === undefined || newest === undefined) return undefined
  const ms = decodeSpan(newest.value).latestMs - decodeSpan(oldest.value).earliestMs
  return ms <= 0 ? undefined : ((indexed - sliceOf(oldest.key)) * dayMs) / ms
}

export async function readLogRoom(store: RoomStore): Promise<LogRoom> {
  const { from, next } = await store.logRange()
  const { logBytes } = await store.figures()
  return { bytes: logBytes, entries: next - from, entriesPerDay: await entriesPerDayOf(store) }
}

const shown = (value: number): string => Math.round(value).toLocaleString('en')
const megabytes = (bytes: number): string => `${shown(bytes / 1e6)} MB`

/** The most that the log may take. */
export interface LogBudget {
  readonly bytes: number
  /** As an operator knows it. */
  readonly name: string
}

/**
 * Returns the estimate of `doctor`; `undefined` while there are too few entries for one.
 * @param budget `undefined` if a database has the log
 */
export function roomFinding(
  { bytes, entries, entriesPerDay }: LogRoom,
  auditDays: number,
  budget: LogBudget | undefined,
): DoctorFinding | undefined {
  const has = `${shown(entries)} entries take ${megabytes(bytes)}`
  if (budget !== undefined && bytes >= budget.bytes * logBudgetWarnShare) {
    const share = `${shown((100 * bytes) / budget.bytes)} % of ${budget.name}`
    return warning(
      'audit log',
      `${has}, ${share}: export the oldest, which may go before their ${auditDays} days are over`,
    )
  }
  if (entriesPerDay === undefined || entries === 0) return undefined
  const perDay = (bytes / entries) * entriesPerDay
  const rate = `${shown(bytes / entries)} bytes each, ${shown(entriesPerDay)} a day`
  const whole = `${megabytes(perDay * auditDays)} in ${auditDays} days`
  const days = budget === undefined ? Infinity : (budget.bytes - bytes) / perDay
  const end = days > auditDays ? '' : `, and ${budget?.name ?? ''} in ${shown(days)} days`
  return note('audit log', `${has}, ${rate}: ${whole}${end}`)
}

const budgetOf = (data: string, bytesMax: number | undefined): LogBudget | undefined => {
  if (bytesMax !== undefined) return { bytes: bytesMax, name: '--audit-bytes-max' }
  return isInDatabase(data) ? undefined : { bytes: mapBytes, name: 'what a folder can hold' }
}

export async function findInLog(
  options: FolderOptions,
  { auditDays, auditBytesMax }: Pick<Settings, 'auditDays' | 'auditBytesMax'>,
): Promise<readonly DoctorFinding[]> {
  try {
    const room = await withPublicLog(options, readLogRoom)
    const found = roomFinding(room, auditDays, budgetOf(options.data, auditBytesMax))
    return found === undefined ? [] : [found]
  } catch (error) {
    if (error instanceof CommandFailure) return [fault('audit log', error.message)]
    throw error
  }
}
