/**
 * Bounds and counts of one request: the memory for rows read for it, their opened values and its
 * answer; how many rows it tests, and how many tokens it shows.
 *
 * A request that reads much reserves memory first. Source: contract section 16 (`decision:`).
 * @module
 */
import { hiddenDataStepBytes } from '../limits/limits.ts'
import { rowStepBytesMin } from '../limits/work-limits.ts'
import type { Glimpse } from '../store/contract.ts'

export interface Budget {
  /**
   * Reserves this many bytes in all, including those reserved before.
   * @throws ApiError `overloaded` if they are not free
   */
  readonly reserve: (bytes: number) => void
}

/** Number of tokens that an answer shows whole, masked, or without their data. */
export type ShownCounts = Record<'reveal' | 'mask' | 'redact', number>

/** Tokens that a request was shown, for the audit log. */
export interface Shown {
  readonly counts: ShownCounts
  /** Ids of the tokens, in their order. */
  readonly ids: string[]
  /** Name of the rule that decided of all of them; `several` if they differ. */
  rule: string | undefined
  /** Names of the fields that it searched. */
  searched: readonly string[] | undefined
  /** True once a refusal would tell what expressions make of their data. */
  isTold: boolean
}

export const nothingShown = (): Shown => ({
  counts: { reveal: 0, mask: 0, redact: 0 },
  ids: [],
  rule: undefined,
  searched: undefined,
  isTold: false,
})

/** Rows that a request has read so far to test what no term covers. */
export interface RowsTested {
  count: number
}

export type InPageTurn = <T>(read: () => Promise<T>) => Promise<T>

/** Members of a caller for one request; absent if nothing bounds or counts the read. */
export interface Budgeted {
  readonly rowsTested?: RowsTested | undefined
  readonly budget?: Budget | undefined
  readonly shown?: Shown | undefined
  /** True once nobody waits for the answer. */
  readonly isAbandoned?: (() => boolean) | undefined
  /** Reads pages in a turn for them; absent where the request has one, or none is needed. */
  readonly inPageTurn?: InPageTurn | undefined
}

/** Notes what decided of a token, before it is known what is shown of it. */
export function noteRule({ shown }: Budgeted, rule: string): void {
  if (shown === undefined) return
  shown.rule = shown.rule === undefined || shown.rule === rule ? rule : 'several'
}

/** Notes a token, once it is known to be in the answer. */
export function noteShown(
  { shown }: Budgeted,
  id: string,
  transform: keyof ShownCounts | undefined,
): void {
  if (shown === undefined || transform === undefined) return
  shown.counts[transform] += 1
  shown.ids.push(id)
}

/** Notes that a refusal tells of the noted tokens as an answer would: it is entered as one. */
export function noteTold({ shown }: Budgeted): void {
  if (shown !== undefined) shown.isTold = true
}

/** Forgets what was noted, where nothing of it is answered. */
export function forgetShown(shown: Shown): void {
  Object.assign(shown.counts, nothingShown().counts)
  shown.ids.length = 0
  shown.rule = undefined
  shown.isTold = false
}

/** Notes something that a request asks about, of which nothing is shown. */
export function noteAbout({ shown }: Budgeted, id: string): void {
  shown?.ids.push(id)
}

/** Notes the fields that a search asks for, and none of their values. */
export function noteSearched({ shown }: Budgeted, fields: readonly string[]): void {
  if (shown !== undefined) shown.searched = fields
}

/** Reserves memory for an answer. @throws ApiError `overloaded` if it does not fit the budget */
export const reserveText = ({ budget }: Budgeted, text: string): void =>
  budget?.reserve(Buffer.byteLength(text))

/**
 * Counts the texts of an answer: characters for its bound, and bytes for its memory, of which a
 * character may take three.
 */
export function makeTextCount({ budget }: Budgeted) {
  let chars = 0
  let bytes = 0
  return {
    /** @returns the characters of all texts so far */
    add(text: string): number {
      chars += text.length
      bytes += Buffer.byteLength(text)
      return chars
    },
    /** @throws ApiError `overloaded` if they do not all fit the budget */
    reserve: (): void => budget?.reserve(bytes),
  }
}

/**
 * decision: a row counts by whole steps of its length, up to a KiB, then to powers of two. Callers
 * who fill their budget by answers that they know would learn from what still fits exactly how long
 * data is that they do not see. Steps of 16 KiB for short rows would take the room of honest lists.
 */
function countedBytes({ parts, partBytes }: Glimpse): number {
  const bytes = partBytes ?? parts.reduce((sum, part) => sum + part.length, 0)
  let step = rowStepBytesMin
  while (step < bytes && step < hiddenDataStepBytes) step *= 2
  return Math.ceil(bytes / step) * step
}

/**
 * Reserves memory for rows, also for what was not read of them yet.
 * @throws ApiError `overloaded` if they do not all fit the budget
 */
export function reserveRows({ budget }: Budgeted, rows: readonly Glimpse[]): void {
  budget?.reserve(rows.reduce((bytes, row) => bytes + countedBytes(row), 0))
}
