/**
 * Expired rows that are not swept yet, as a process keeps them between pages.
 *
 * A page leaves all of them out. Callers choose deadlines, so there may be a hundred thousand, each
 * at an instant of its own, and each page would read them anew. Here a page reads those that have
 * expired since. Ordinals are given once, so a row that was swept meanwhile is left out of nothing.
 * @module
 */
import type { Row } from '../contract.ts'
import { expiredKeptMin, expiredKeptMs } from './limits.ts'
import { emptySet, type PlaceSet, unite } from './place-set.ts'
import { setsByChunk } from './plan.ts'

/** By chunk. */
export type ExpiredSets = ReadonlyMap<number, PlaceSet>

/** Deadlines after the first instant, up to the last. */
export type DeadlineRange = readonly [afterMs: number, toMs: number]

/** The rows that a page takes from those that are kept, and the ranges that it reads. */
export interface ExpiredPart {
  readonly kept: ExpiredSets
  /** When all of them were read last; `undefined` if this page reads all. */
  readonly sinceMs: number | undefined
  /** Deadlines that commits under way change no more, as good as always. */
  readonly settled: DeadlineRange
  readonly unsettled: DeadlineRange
}

export interface KeptExpired {
  readonly begin: (nowMs: number) => ExpiredPart
  /**
   * Keeps what a page has read of the settled deadlines, if that was much.
   * @param count of what was read
   */
  readonly keep: (part: ExpiredPart, settled: ExpiredSets, count: number) => void
  /**
   * Keeps rows of a page that are expired, though not among those that it left out: a commit took
   * so long that their deadline counted as settled.
   * @returns true if there are any, so that the page is to be read again
   */
  readonly keepLate: (part: ExpiredPart, rows: readonly Row[], nowMs: number) => boolean
}

export const isGone = ({ deadlineMs }: Row, nowMs: number): boolean =>
  deadlineMs !== undefined && deadlineMs <= nowMs

/** Expired rows of a page: those kept, and what it has read. */
export function uniteSets(first: ExpiredSets, ...others: readonly ExpiredSets[]): ExpiredSets {
  const all = new Map(first)
  for (const sets of others) {
    for (const [chunk, set] of sets) all.set(chunk, unite(all.get(chunk) ?? emptySet, set))
  }
  return all
}

interface Kept {
  readonly sets: ExpiredSets
  readonly sinceMs: number
  /** They are all whose deadline is at or before it. */
  readonly settledMs: number
}

/** Before every deadline. */
const startMs = -1

/**
 * decision: all are read anew after a while. Until then a row whose deadline was put off by a
 * commit that took longer than deadlines take to settle, and had passed before, is in no page.
 */
const isUsable = ({ sinceMs, settledMs }: Kept, nowMs: number): boolean =>
  nowMs < sinceMs + expiredKeptMs && nowMs > settledMs - expiredKeptMs

/** @param unsettledMs  from a deadline until it counts as settled */
export function makeKeptExpired(unsettledMs: number): KeptExpired {
  let kept: Kept | undefined
  return {
    begin(nowMs) {
      const settledMs = nowMs - unsettledMs
      if (kept === undefined || !isUsable(kept, nowMs)) {
        return {
          kept: new Map(),
          sinceMs: undefined,
          settled: [startMs, settledMs],
          unsettled: [settledMs, nowMs],
        }
      }
      // A page may have waited, so that it asks for an instant before the last one.
      const fromMs = Math.max(settledMs, kept.settledMs)
      return {
        kept: kept.sets,
        sinceMs: kept.sinceMs,
        settled: [kept.settledMs, fromMs],
        unsettled: [fromMs, nowMs],
      }
    },
    keep({ kept: before, sinceMs, settled: [, settledMs] }, settled, count) {
      if (count >= expiredKeptMin) {
        const since = sinceMs ?? settledMs + unsettledMs
        kept = { sets: uniteSets(before, settled), sinceMs: since, settledMs }
      } else if (sinceMs === undefined) kept = undefined
    },
    keepLate({ sinceMs }, rows, nowMs) {
      const late = rows.filter(row => isGone(row, nowMs)).map(({ ordinal }) => ordinal)
      if (sinceMs === undefined || late.length === 0) return false
      if (kept !== undefined) kept = { ...kept, sets: uniteSets(kept.sets, setsByChunk(late)) }
      return true
    },
  }
}
