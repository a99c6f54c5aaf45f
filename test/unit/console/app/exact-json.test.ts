/**
 * JSON as the console reads and prints it: no number changes.
 * @module
 */
import { expect, test } from 'bun:test'
import { parseExact, printValue } from '../../../../src/console/app/exact-json.ts'

test('numbers that a double holds are numbers', () => {
  expect(parseExact('{"a":[1,-2.5,0]}')).toEqual({ a: [1, -2.5, 0] })
})

test('others are refused nowhere, and a text prints as it is', () => {
  expect(printValue('a "b"')).toBe('a "b"')
  expect(printValue({ a: 1 })).toBe('{\n  "a": 1\n}')
  expect(printValue(undefined)).toBe('')
  expect(() => parseExact('{')).toThrow(SyntaxError)
})
