/**
 * The filter `date`, and its formats.
 * @module
 */
import { present } from '../../../lib/errors.ts'
import { padLengthMax } from '../../../limits/limits.ts'
import { parseInstant, dayMs } from '../../../rules/instants.ts'
import { isExactNumber, type Json } from '../../../lib/json/json.ts'
import { nearestDouble } from '../numbers.ts'
import { failed, spend, type Run, jsonOf } from '../run.ts'
import { checkedTextRule, textAt, type FilterDefinition } from './definition.ts'

/*
 * Formats of `date`, as in Liquid's strftime, always in UTC and in English.
 *
 *     %[flags][width][E|O]conversion     flags: - _ 0 ^ # :
 *
 * decision: an unknown conversion is refused when the expression is parsed, and `%c`, `%x` and `%X`
 * are those of the C locale, so that no answer depends on the environment of the process.
 */

/** Prints one instant. */
type DatePrinter = (date: Date) => string

interface Directive {
  readonly flags: string
  /** 0 if the format names none. */
  readonly width: number
  readonly conversion: string
}

/** Default width and padding of a conversion, and the text it pads. */
interface Conversion {
  readonly width?: number
  readonly padding?: ' '
  readonly print: (date: Date, directive: Directive) => string | number
}

const monthNames =
  'January February March April May June July August September October November December'.split(' ')

const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

const dayOfYear = (date: Date): number => {
  const midnight = new Date(date).setUTCHours(0, 0, 0, 0)
  return Math.round((midnight - new Date(midnight).setUTCMonth(0, 1)) / dayMs) + 1
}

/** Weeks since the first `startDay` of the year; the days before it are in week 0. */
const weekOfYear = (date: Date, startDay: number): number => {
  const daysIntoWeek = (date.getUTCDay() - startDay + 7) % 7
  return Math.floor((dayOfYear(date) - 1 - daysIntoWeek + 7) / 7)
}

const ordinalSuffix = (day: number): string => {
  if (day >= 11 && day <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
}

const hourOf12 = (date: Date): number => date.getUTCHours() % 12 || 12

const monthName = (date: Date): string =>
  present(monthNames[date.getUTCMonth()], 'an instant to print has a month')

const dayName = (date: Date): string =>
  present(dayNames[date.getUTCDay()], 'an instant to print has a day')

const fraction = (date: Date, width: number): string =>
  String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, width).padEnd(width, '0')

/** A conversion that abbreviates a whole format. */
const composed =
  (format: string): Conversion['print'] =>
  date =>
    present(compileDateFormat(format), 'our own formats have known parts')(date)

const shortMonth = (date: Date): string => monthName(date).slice(0, 3)

const conversionsByName: Readonly<Record<string, Conversion>> = {
  a: { padding: ' ', print: date => dayName(date).slice(0, 3) },
  A: { padding: ' ', print: dayName },
  b: { padding: ' ', print: shortMonth },
  B: { padding: ' ', print: monthName },
  c: { padding: ' ', print: composed('%a %b %e %H:%M:%S %Y') },
  C: { width: 2, print: date => Math.floor(date.getUTCFullYear() / 100) },
  d: { width: 2, print: date => date.getUTCDate() },
  e: { width: 2, padding: ' ', print: date => date.getUTCDate() },
  h: { print: shortMonth },
  H: { width: 2, print: date => date.getUTCHours() },
  I: { width: 2, print: hourOf12 },
  j: { width: 3, print: dayOfYear },
  k: { width: 2, padding: ' ', print: date => date.getUTCHours() },
  l: { width: 2, padding: ' ', print: hourOf12 },
  L: { width: 3, print: date => date.getUTCMilliseconds() },
  m: { width: 2, print: date => date.getUTCMonth() + 1 },
  M: { width: 2, print: date => date.getUTCMinutes() },
  n: { print: () => '\n' },
  N: { print: (date, { width }) => fraction(date, width === 0 ? 9 : width) },
  p: { padding: ' ', print: date => (date.getUTCHours() < 12 ? 'AM' : 'PM') },
  P: { padding: ' ', print: date => (date.getUTCHours() < 12 ? 'am' : 'pm') },
  q: { print: date => ordinalSuffix(date.getUTCDate()) },
  s: { print: date => Math.floor(date.getTime() / 1000) },
  S: { width: 2, print: date => date.getUTCSeconds() },
  t: { print: () => '\t' },
  u: { print: date => date.getUTCDay() || 7 },
  U: { width: 2, print: date => weekOfYear(date, 0) },
  w: { print: date => date.getUTCDay() },
  W: { width: 2, print: date => weekOfYear(date, 1) },
  x: { print: composed('%m/%d/%y') },
  X: { print: composed('%H:%M:%S') },
  y: { width: 2, print: date => ((date.getUTCFullYear() % 100) + 100) % 100 },
  Y: { width: 4, print: date => date.getUTCFullYear() },
  z: { print: (_date, { flags }) => (flags.includes(':') ? '+00:00' : '+0000') },
  Z: { print: () => 'UTC' },
  '%': { print: () => '%' },
}

const conversions: ReadonlyMap<string, Conversion> = new Map(Object.entries(conversionsByName))

const changeCase = (text: string): string =>
  text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()

const applyCase = (text: string, flags: string): string => {
  if (flags.includes('^')) return text.toUpperCase()
  return flags.includes('#') ? changeCase(text) : text
}

const paddingOf = (conversion: Conversion, flags: string): string => {
  if (flags.includes('_')) return ' '
  return flags.includes('0') ? '0' : (conversion.padding ?? '0')
}

const bindDirective = (directive: Directive, conversion: Conversion): DatePrinter => {
  const { flags } = directive
  const width = flags.includes('-') ? 0 : directive.width || (conversion.width ?? 0)
  const padding = paddingOf(conversion, flags)
  return date => {
    const text = applyCase(String(conversion.print(date, directive)), flags)
    // The sign of a year before year 0 stays in front of its zeros.
    const isNegative = padding === '0' && text.startsWith('-')
    return isNegative ? `-${text.slice(1).padStart(width - 1, '0')}` : text.padStart(width, padding)
  }
}

const directiveShape = /%([-_0^#:]*)([0-9]*)[EO]?([^])/y

/** @returns the printer of a format, or undefined when the format has an unknown part */
const compileDateFormat = (format: string): DatePrinter | undefined => {
  const printers: DatePrinter[] = []
  let start = 0
  for (let found = format.indexOf('%'); found !== -1; found = format.indexOf('%', start)) {
    const text = format.slice(start, found)
    directiveShape.lastIndex = found
    const [directive = '', flags = '', width = '', name = ''] = directiveShape.exec(format) ?? []
    const conversion = conversions.get(name)
    if (conversion === undefined || Number(width) > padLengthMax) return undefined
    printers.push(() => text)
    printers.push(bindDirective({ flags, width: Number(width), conversion: name }, conversion))
    start = found + directive.length
  }
  const rest = format.slice(start)
  return date => printers.reduce((text, print) => text + print(date), '') + rest
}

/*
 * Liquid's `date` filter: an instant printed by a format, in UTC.
 *
 * Accepts whatever `parseInstant` does (mainly ISO 8601), a bare month as `2028-10`, and Unix
 * seconds as a number or as digits. decision: anything else is an error, while Liquid returns its
 * input, because a mask must not show what it failed to reshape. `now` and `today` are errors too,
 * because no clock is handed in.
 */

/** Liquid's default. */
const defaultFormat = '%A, %B %-e, %Y at %-l:%M %P %z'

const formatRule = checkedTextRule(format =>
  compileDateFormat(format) === undefined ? 'expected a date format of known parts' : undefined,
)

const seconds = /^[0-9]{1,15}$/

const monthAlone = /^[0-9]{4}-[0-9]{2}$/

/** Unix milliseconds; NaN for a value that is neither text nor a number. */
const instantOf = (value: Json, run: Run): number => {
  if (typeof value === 'number' || isExactNumber(value)) return nearestDouble(value) * 1000
  if (typeof value !== 'string') return Number.NaN
  if (seconds.test(value)) return Number(value) * 1000
  return parseInstant(monthAlone.test(value) ? `${value}-01` : value, run.at).epochMs
}

const stepsPerDate = 4_000

export const date: FilterDefinition = {
  required: [],
  optional: [formatRule],
  bind: operands => {
    const print = present(
      compileDateFormat(textAt(operands, 0, defaultFormat)),
      'a rule lets only known formats reach this filter',
    )
    return (input, run) => {
      const value = jsonOf(input)
      if (value === null) return null
      spend(run, stepsPerDate)
      const instant = new Date(instantOf(value, run))
      if (Number.isNaN(instant.getTime())) {
        throw failed(run, 'expected a date, or Unix seconds within its range')
      }
      return print(instant)
    }
  },
}
