/**
 * Filters that change the type: `to_string`, `to_number`, `to_boolean`, `stringify`,
 * `json_stringify`. Null stays null; an impossible cast is an error.
 * @module
 */
import { jsonNumberCharsMax } from '../../../limits.ts'
import { isExactNumber } from '../../../json/json.ts'
import { numberFrom } from '../scan.ts'
import { failed } from '../run.ts'
import { canonicalTextOf, jsonOf, scalarTextOf } from '../values.ts'
import type { FilterDefinition } from './definition.ts'

/** A plain decimal number: no spaces, no hexadecimal, no plus. */
const decimal = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** An account number in digits keeps no leading zeros as a number: JSON has none. */
const leadingZeros = /^(-?)0+(?=[0-9])/

export const toText: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (value === null) return null
    const text = scalarTextOf(value)
    if (text === undefined) throw failed(run, 'expected a value that can be cast to a string')
    return text
  },
}

export const toNumber: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (value === null || typeof value === 'number' || isExactNumber(value)) return value
    const text = typeof value === 'string' && value.length <= jsonNumberCharsMax ? value : ''
    const number = decimal.test(text) ? numberFrom(text.replace(leadingZeros, '$1')) : undefined
    if (number === undefined) throw failed(run, 'expected a value that can be cast to a number')
    return number
  },
}

export const toBoolean: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (value === null || typeof value === 'boolean') return value
    if (value === 'true') return true
    if (value === 'false') return false
    throw failed(run, 'expected a value that can be cast to a boolean')
  },
}

/** Canonical JSON text, so that the order of members does not matter (hardening H105). */
export const stringify: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    return value === null ? null : canonicalTextOf(value, run)
  },
}
