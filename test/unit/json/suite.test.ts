import { expect, test } from 'bun:test'
import { decodeUtf8, parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { expectRefusal } from '../../support/refusal.ts'
import { describeVectors, readVectors } from '../../support/vectors.ts'

const parseBytes = (bytes: Uint8Array) => parseJson(decodeUtf8(bytes))

/** Strict texts that our own rules refuse: contract section 1, duplicate keys. */
const refusedByRule = ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json']

/** Texts that the suite leaves open and we keep; every other `i_` file is refused. */
const keptTexts: Readonly<Record<string, string>> = {
  'i_number_double_huge_neg_exp.json': '[123.456e-789]',
  'i_number_real_underflow.json': '[123e-10000000]',
  'i_number_too_big_neg_int.json': '[-123123123123123123123123123123]',
  'i_number_too_big_pos_int.json': '[100000000000000000000]',
  'i_number_very_big_negative_int.json': '[-237462374673276894279832749832423479823246327846]',
}

/** Outside strings white space means nothing; no string of the suite's `y_` files is touched. */
const compact = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, part =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  )

describeVectors('the JSON test suite', () => {
  const files = readVectors('json-test-suite')
  const named = (prefix: string) => files.filter(([name]) => name.startsWith(prefix))

  test('is whole', () => {
    expect(['y_', 'n_', 'i_'].map(prefix => named(prefix).length)).toEqual([95, 188, 35])
  })

  test.each(named('n_'))('%s is refused', (_, bytes) => {
    expectRefusal(() => parseBytes(bytes), ['body'])
  })

  test.each(named('y_').filter(([name]) => !refusedByRule.includes(name)))(
    '%s is kept to the last digit',
    (_, bytes) => {
      expect(printJson(parseBytes(bytes))).toBe(compact(decodeUtf8(bytes)))
    },
  )

  test.each(named('y_').filter(([name]) => refusedByRule.includes(name)))(
    '%s is refused for its duplicate name',
    (_, bytes) => {
      expectRefusal(() => parseBytes(bytes), ['body'])
    },
  )

  test.each(named('i_').filter(([name]) => name in keptTexts))('%s is kept', (name, bytes) => {
    expect(printJson(parseBytes(bytes))).toBe(keptTexts[name] ?? 'a stated text')
  })

  test.each(named('i_').filter(([name]) => !(name in keptTexts)))('%s is refused', (_, bytes) => {
    expectRefusal(() => parseBytes(bytes), ['body'])
  })
})
