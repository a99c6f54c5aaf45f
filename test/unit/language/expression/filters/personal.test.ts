/**
 * Filters that hide personal data. Source: contract section 5.
 * @module
 */
import { expect, test } from 'bun:test'
import {
  compileTemplate,
  evaluateTemplate,
} from '../../../../../src/language/expression/compile.ts'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'

const shown = (filter: string, text: string) => {
  const template = compileTemplate(`{{ data | ${filter} }}`, 'mask', 'mask')
  return evaluateTemplate(template, { at: 'mask', data: parseJson(text) })
}

test.each([
  ['"+14155552671"', '+1XXXXXXXX71'],
  ['"+79161234567"', '+7XXXXXXXX67'],
  ['"+4930123456"', '+49XXXXXX56'],
  ['"+3531234567"', '+353XXXXX67'],
  ['"+35"', 'XXX'],
  ['"+49123"', '+49X23'],
  ['"+4912"', 'XXXXX'],
  ['"030123456"', 'XXXXXXXXX'],
  ['""', ''],
  ['null', null],
])('phone_mask makes %s %j', (text, wanted) => {
  expect(shown('phone_mask', text)).toBe(wanted)
})

// proves E3.11
test.each([
  ['"Ada Lovelace"', 'A. L.'],
  ['"  ada   king lovelace "', 'a. k. l.'],
  ['"𝒜da"', '𝒜.'],
  ['"J Smith"', 'J. S.'],
  ['"山田 太郎"', '山. 太.'],
  ['{"first":"明","last":"王"}', 'X. X.'],
  ['"김 철수"', 'X. 철.'],
  ['{"first":"Ada","middle":null,"last":"King Lovelace"}', 'A. K. L.'],
  ['""', ''],
  ['{}', ''],
  ['null', null],
])('initials makes %s %j', (text, wanted) => {
  expect(shown('initials', text)).toBe(wanted)
})

test.each(['[1]', '{"a":[]}'])('initials of %s are an error', text => {
  expect(() => shown('initials', text)).toThrow()
})
