/**
 * Liquid's `date` filter: an instant printed by a format, in UTC.
 *
 * Takes what `parseInstant` takes (ISO 8601 first of all), a month alone as `2028-10`, and Unix
 * seconds as a number or as digits. decision: anything else is an error, where Liquid gives its
 * input back, because a mask must not show what it was to reshape. `now` and `today` are such
 * errors, because no clock is handed in.
 * @module
 */
import { present } from '../../../errors.ts'
import { parseInstant } from '../../../rules/instants.ts'
import { isExactNumber, type Json } from '../../../json/json.ts'
import { nearestDouble } from '../numbers.ts'
import { failed, spend, type Run } from '../run.ts'
import { jsonOf } from '../values.ts'
import { compileDateFormat } from './date-format.ts'
import { checkedTextRule, textAt, type FilterDefinition } from './definition.ts'

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
