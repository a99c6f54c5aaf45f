/**
 * Days and spans of days, by which instants are found: a range of any length is a few of them.
 *
 * Days are those of UTC, counted from 1970. A span is 64 days, from a multiple of 64. Instants
 * before 2020 and after 2069 share one day each at the ends of the calendar, so that a range has
 * some 400 parts at most. Invariant: this is how tokens are stored; it cannot change alone.
 * @module
 */

export const dayMs = 24 * 60 * 60 * 1_000
const daysPerSpan = 64

const calendarFirst = Math.floor(Date.UTC(2020, 0, 1) / dayMs)
const calendarLast = Math.floor(Date.UTC(2069, 11, 31) / dayMs)
/** All that is before the calendar, and all that is after it. */
const earlyDay = calendarFirst - 1
const lateDay = calendarLast + 1

/** @param epochMs may be infinite */
export const dayOf = (epochMs: number): number =>
  Math.min(Math.max(Math.floor(epochMs / dayMs), earlyDay), lateDay)

export const spanOf = (day: number): number => Math.floor(day / daysPerSpan)

const startOf = (day: number): number => (day === earlyDay ? -Infinity : day * dayMs)
const endOf = (day: number): number => (day === lateDay ? Infinity : (day + 1) * dayMs)

export interface DayCover {
  /** Days and spans that lie within the range; no two overlap. */
  readonly days: readonly number[]
  readonly spans: readonly number[]
  /** The first and the last day, where the range has only a part of it. */
  readonly borderDays: readonly number[]
}

function splitDays(first: number, last: number): Pick<DayCover, 'days' | 'spans'> {
  const days: number[] = []
  const spans: number[] = []
  for (let day = first; day <= last;) {
    const isWholeSpan = day % daysPerSpan === 0 && day + daysPerSpan - 1 <= last
    if (isWholeSpan) spans.push(spanOf(day))
    else days.push(day)
    day += isWholeSpan ? daysPerSpan : 1
  }
  return { days, spans }
}

/**
 * @param fromMs   the first instant; -Infinity for no bound
 * @param beforeMs the first instant that is out again; Infinity for no bound
 */
export function coverDays(fromMs: number, beforeMs: number): DayCover {
  if (fromMs >= beforeMs) return { days: [], spans: [], borderDays: [] }
  let first = dayOf(fromMs)
  let last = dayOf(beforeMs - 1)
  const borderDays = new Set<number>()
  if (startOf(first) < fromMs) borderDays.add(first)
  if (endOf(last) > beforeMs) borderDays.add(last)
  if (borderDays.has(first)) first += 1
  if (borderDays.has(last)) last -= 1
  return { ...splitDays(first, last), borderDays: [...borderDays] }
}
