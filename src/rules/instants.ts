/**
 * Instants: parsing, printing, and the spans of days that searches use.
 * @module
 */
import { invalid } from '../lib/errors.ts'
import { expiryTextCharsMax, offsetMinutesMax } from '../limits/limits.ts'

/*
 * Instants: the texts that clients may write as `expires_at`, and the one form of output.
 *
 * Days are those of the proleptic Gregorian calendar, years 1 to 9999, no leap seconds. Fractions
 * beyond milliseconds are cut, so an instant is never later than requested. Source: spec, Token
 * expiration; contract sections 1 and 10; RFC 3339.
 */

export type Instant = {
  /** Unix milliseconds. */
  readonly epochMs: number
  /** ISO 8601 with milliseconds and the offset that the client wrote. */
  readonly text: string
}

/** A date and time as written, before it is known to exist. */
type Civil = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly ms: number
  readonly offset: string
}

const minuteMs = 60_000

/** `Date.UTC` maps years below 100 to the twentieth century; 400 years repeat exactly. */
const cycleYears = 400
const cycleMs = 146_097 * 24 * 60 * minuteMs

const shownFormats =
  'expected M/D/YYYY, M/D/YYYY h:mm:ss AM|PM with or without ±hh:mm, or an ISO 8601 date-time'

// In both patterns each character can match in one way only, so neither can backtrack.
const slashedDate = '(?<month>[0-9]{1,2})/(?<day>[0-9]{1,2})/(?<year>[0-9]{4})'
const slashedSeconds = '(?<hour>[0-9]{1,2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})'
// Formatters of recent Unicode data (CLDR 42) write a narrow no-break space there.
const slashedTime = `${slashedSeconds}[ \\u00a0\\u202f](?<half>[AaPp][Mm])`
const offset = '[+-][0-9]{2}(?::?[0-9]{2})?'
const slashed = new RegExp(`^${slashedDate}(?: ${slashedTime}(?: (?<offset>${offset}))?)?$`)

const isoDate = '(?<year>[0-9]{4})-(?<month>[0-9]{2})-(?<day>[0-9]{2})'
const isoSeconds = '(?<second>[0-9]{2})(?:\\.(?<fraction>[0-9]{1,12}))?'
const isoTime = `(?<hour>[0-9]{2}):(?<minute>[0-9]{2})(?::${isoSeconds})?`
const iso = new RegExp(`^${isoDate}(?:[Tt ]${isoTime}(?<offset>[Zz]|${offset})?)?$`)

type Groups = Readonly<Record<string, string | undefined>>

/** 12 AM is midnight and 12 PM noon; an hour that a twelve-hour clock lacks becomes NaN. */
const hourOfHalf = (groups: Groups): number => {
  const hour = Number(groups['hour'])
  if (hour < 1 || hour > 12) return Number.NaN
  return (hour % 12) + (groups['half']?.toUpperCase() === 'PM' ? 12 : 0)
}

const hourOf = (groups: Groups): number =>
  groups['half'] === undefined ? Number(groups['hour'] ?? 0) : hourOfHalf(groups)

const readCivil = (text: string): Civil | undefined => {
  const groups: Groups | undefined = (slashed.exec(text) ?? iso.exec(text))?.groups
  if (groups === undefined) return undefined
  return {
    year: Number(groups['year']),
    month: Number(groups['month']),
    day: Number(groups['day']),
    hour: hourOf(groups),
    minute: Number(groups['minute'] ?? 0),
    second: Number(groups['second'] ?? 0),
    ms: Number((groups['fraction'] ?? '').padEnd(3, '0').slice(0, 3)),
    offset: groups['offset'] ?? 'Z',
  }
}

/** @returns undefined for an offset that no place on earth uses */
const readOffsetMinutes = (offset: string): number | undefined => {
  if (offset === 'Z' || offset === 'z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', ''))
  const total = hours * 60 + minutes
  if (minutes > 59 || total > offsetMinutesMax) return undefined
  return offset.startsWith('-') ? -total : total
}

/** @returns milliseconds as if the offset were zero; undefined if there is no such time */
const readLocalMs = (civil: Civil): number | undefined => {
  const { year, month, day, hour, minute, second, ms } = civil
  if (year < 1 || minute > 59 || second > 59) return undefined
  const shifted = Date.UTC(year + cycleYears, month - 1, day, hour, minute, second, ms)
  const date = new Date(shifted)
  // A day that its month does not have, or an hour beyond the day, yields another day.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  return shifted - cycleMs
}

const printTwo = (number: number): string => String(number).padStart(2, '0')

const printOffset = (offsetMinutes: number): string => {
  const distance = Math.abs(offsetMinutes)
  const sign = offsetMinutes < 0 ? '-' : '+'
  return `${sign}${printTwo(Math.trunc(distance / 60))}:${printTwo(distance % 60)}`
}

/** Without an offset. */
const printCivil = (localMs: number): string => new Date(localMs).toISOString().slice(0, -1)

/**
 * Reads an instant. No offset means UTC, no time means midnight.
 * @param at  path under which a fault is reported
 * @throws ApiError `invalid_request`
 * decision: `Z` only in ISO 8601; leading zeros may be written or not in the slashed formats;
 * seconds may be left out in ISO 8601.
 */
export const parseInstant = (text: string, at: string): Instant => {
  if (text.length > expiryTextCharsMax) {
    throw invalid(at, `expected at most ${expiryTextCharsMax} characters, got ${text.length}`)
  }
  const civil = readCivil(text)
  if (civil === undefined) throw invalid(at, shownFormats)
  const localMs = readLocalMs(civil)
  if (localMs === undefined) throw invalid(at, 'expected a date and a time that exist')
  const offsetMinutes = readOffsetMinutes(civil.offset)
  if (offsetMinutes === undefined) throw invalid(at, 'expected an offset from -14:00 to +14:00')
  return {
    epochMs: localMs - offsetMinutes * minuteMs,
    text: printCivil(localMs) + printOffset(offsetMinutes),
  }
}

/**
 * Reads an instant that must lie ahead: a token with a deadline at `nowMs` has expired.
 * @throws ApiError `invalid_request`, as `parseInstant` and for an instant that is not ahead
 */
export const parseFutureInstant = (text: string, at: string, nowMs: number): Instant => {
  const instant = parseInstant(text, at)
  if (instant.epochMs <= nowMs) throw invalid(at, 'expected an instant in the future')
  return instant
}

/** @returns ISO 8601 in UTC with milliseconds and offset: `2030-08-26T00:00:00.000+00:00` */
export const printInstantUtc = (epochMs: number): string => `${printCivil(epochMs)}+00:00`

/*
 * Days and spans of days, by which instants are found: any range consists of a few of them.
 *
 * Days are those of UTC, counted from 1970. A span is 64 days, from a multiple of 64. Instants
 * before 2020 and after 2069 share one day each at the ends of the calendar, so a range has at most
 * some 400 parts. Invariant: tokens are stored this way; it cannot change alone.
 */

export const dayMs = 24 * 60 * 60 * 1_000
const daysPerSpan = 64

const calendarFirst = Math.floor(Date.UTC(2020, 0, 1) / dayMs)
const calendarLast = Math.floor(Date.UTC(2069, 11, 31) / dayMs)
/** All instants before the calendar, and all after it. */
const earlyDay = calendarFirst - 1
const lateDay = calendarLast + 1

/** @param epochMs may be infinite */
export const dayOf = (epochMs: number): number =>
  Math.min(Math.max(Math.floor(epochMs / dayMs), earlyDay), lateDay)

export const spanOf = (day: number): number => Math.floor(day / daysPerSpan)

const startOf = (day: number): number => (day === earlyDay ? -Infinity : day * dayMs)
const endOf = (day: number): number => (day === lateDay ? Infinity : (day + 1) * dayMs)

interface DayCover {
  /** Days and spans that lie within the range, without overlap. */
  readonly days: readonly number[]
  readonly spans: readonly number[]
  /** The first and the last day, if the range covers only a part of it. */
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
 * @param beforeMs the first instant after the range; Infinity for no bound
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
