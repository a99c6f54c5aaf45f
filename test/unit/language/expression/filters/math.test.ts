import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'
import { evaluateJson, expectParseRefusal, filter } from '../../../../support/expressions.ts'
import { at, expectDataRefusal } from '../../../../support/expressions.ts'
import { expectRefusal } from '../../../../support/refusal.ts'

describe('arithmetic', () => {
  // proves C6.38
  test.each([
    [-5, 'abs', 5],
    ['-5.5', 'abs', 5.5],
    [1.2, 'ceil', 2],
    [-0.2, 'ceil', 0],
    [1.8, 'floor', 1],
    [3, 'at_least: 5', 5],
    [7, 'at_least: 5', 7],
    [3, 'at_most: 5', 3],
    [7, 'at_most: 5', 5],
    [1, 'plus: 2', 3],
    ['1', "plus: '2'", 3],
    [0.1, 'plus: 0.2', 0.30000000000000004],
    [1, 'minus: 2', -1],
    [3, 'times: 1.5', 4.5],
    [20, 'divided_by: 7', 20 / 7],
    [20, 'divided_by: 7, true', 2],
    [-20, "divided_by: 7, 'true'", -3],
    [7, 'modulo: 3', 1],
    [-7, 'modulo: 3', 2],
    [7.5, 'modulo: 2', 1.5],
    [1.5, 'round', 2],
    [-1.5, 'round', -2],
    [1.005, 'round: 2', 1.01],
    [1234, 'round: -2', 1200],
    [-0.4, 'round', 0],
    [1e300, 'round: 2', 1e300],
    [1e308, 'round: 5', 1e308],
    [-1e308, 'round: 5', -1e308],
    [null, 'plus: 1', 1],
    [true, 'plus: 1', 2],
    ['x', 'plus: 1', 1],
    [' 12 ', 'plus: 1', 13],
    ['', 'abs', 0],
    [[5], 'plus: 1', 1],
    [{ a: 5 }, 'plus: 1', 1],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  test('an exact number of a value that a double holds counts as that double', () => {
    expect(evaluateJson('{{ data | plus: 1 }}', parseJson('1.0'))).toBe(2)
    expect(evaluateJson('{{ data | plus: 1.50 }}', parseJson('1E2'))).toBe(101.5)
    expect(evaluateJson('{{ data | abs }}', parseJson('-0'))).toBe(0)
  })

  test.each(['12345678901234567890', '0.10000000000000000001', '1e-400'])(
    '%s, which no double holds, is refused rather than rounded',
    text => {
      for (const filters of ['plus: 0', 'round', 'abs', 'times: data']) {
        const run = () => evaluateJson(`{{ data | ${filters} }}`, parseJson(text))
        expectRefusal(run, [at], [text])
      }
    },
  )

  test.each([
    [1, 'divided_by: 0'],
    [0, 'divided_by: 0'],
    [1, 'modulo: 0'],
    [1, 'divided_by: 0, true'],
    [1e308, 'times: 10'],
    ['Infinity', 'abs'],
  ])('%j | %s has no finite result', (data, filters) => {
    expectDataRefusal(filters, data)
  })

  test.each(['abs: 1', 'plus', 'plus: 1, 2', 'divided_by', 'divided_by: 1, 2', 'round: 1, 2'])(
    'refuses %s',
    filters => {
      expectParseRefusal(`{{ data | ${filters} }}`)
    },
  )
})
