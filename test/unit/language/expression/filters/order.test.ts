import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../../../src/lib/json/json.ts'
import { evaluateJson, expectParseRefusal, filter } from '../../../../support/expressions.ts'

describe('sort and sort_natural', () => {
  // proves C6.38
  test.each([
    [['b', 'C', 'a', 'B'], 'sort', ['B', 'C', 'a', 'b']],
    [['b', 'C', 'a', 'B'], 'sort_natural', ['a', 'b', 'B', 'C']],
    [[10, 9, 1], 'sort', [1, 9, 10]],
    [[10, 9, 1], 'sort_natural', [1, 10, 9]],
    [['b', null, 'a'], 'sort', ['a', 'b', null]],
    [['b', null, 'A'], 'sort_natural', ['A', 'b', null]],
    [
      ['2', [1], 1, true, null, { a: 1 }, false],
      'sort',
      [false, true, 1, '2', [1], { a: 1 }, null],
    ],
    [['😀', '\uffff'], 'sort', ['😀', '\uffff']],
    ['ba', 'sort', ['ba']],
    [null, 'sort', []],
    [[], 'sort', []],
    [[{ n: 2 }, { n: 1 }, {}], "sort: 'n'", [{ n: 1 }, { n: 2 }, {}]],
    [[{ n: 'b' }, { n: 'A' }], "sort_natural: 'n'", [{ n: 'A' }, { n: 'b' }]],
    [[{ a: { b: 2 } }, { a: { b: 1 } }], "sort: 'a.b'", [{ a: { b: 1 } }, { a: { b: 2 } }]],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toEqual(output)
  })

  test('items of equal rank keep their order', () => {
    const items = [
      { n: 1, i: 0 },
      { n: 0, i: 1 },
      { n: 1, i: 2 },
      { n: 0, i: 3 },
    ]
    expect(filter("sort: 'n' | map: 'i'", items)).toEqual([1, 3, 0, 2])
  })

  test('exact numbers stand among doubles', () => {
    const data = parseJson('[12345678901234567890,1.0,2,0.5]')
    expect(printJson(evaluateJson('{{ data | sort }}', data))).toBe(
      '[0.5,1.0,2,12345678901234567890]',
    )
  })

  test.each(['sort: 1', "sort: ''", 'sort: data', "sort_natural: 'a', 'b'"])(
    'refuses %s',
    filters => {
      expectParseRefusal(`{{ data | ${filters} }}`)
    },
  )
})
