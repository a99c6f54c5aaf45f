import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../../../src/lib/json/json.ts'
import {
  evaluate,
  evaluateJson,
  expectDataRefusal,
  expectParseRefusal,
  filter,
} from '../../../../support/expressions.ts'

const books = [
  { title: 'Moby Dick', price: 8.99, sold: true, author: { name: 'M' } },
  { title: 'Sword', price: 12.99, sold: false, author: { name: 'W' } },
  { title: 'Rings', price: 22.99 },
]

describe('filters over lists', () => {
  // proves C6.38
  test.each([
    [['a', 1, null, true], 'join', 'a 1  true'],
    [['a', 'b'], "join: '-'", 'a-b'],
    [[['a', 'b'], { c: 1 }], "join: ';'", '["a","b"];{"c":1}'],
    ['a', "join: '-'", 'a'],
    [null, 'join', ''],
    [['a', 'b'], 'join: nil', 'a b'],
    [['a', 'b'], 'first', 'a'],
    [['a', 'b'], 'last', 'b'],
    [[], 'first', null],
    [[], 'last', null],
    ['😀b😃', 'first', '😀'],
    ['😀b😃', 'last', '😃'],
    ['', 'first', ''],
    [5, 'first', null],
    [null, 'last', null],
    [{ first: 1 }, 'first', null],
    [[1, 2, 3], 'reverse', [3, 2, 1]],
    ['ab', 'reverse', ['ab']],
    [null, 'reverse', []],
    [[1, 2, 3], 'size', 3],
    ['a😀', 'size', 2],
    ['', 'size', 0],
    [12345, 'size', 0],
    [{ a: 1 }, 'size', 0],
    [null, 'size', 0],
    [['a', null, 'b', false, ''], 'compact', ['a', 'b', false, '']],
    [['a'], 'concat: data', ['a', 'a']],
    [['a'], 'concat: nil', ['a']],
    [['a'], "concat: 'b'", ['a', 'b']],
    [null, 'concat: 1', [1]],
    [[1, '1', 1, null, null, true, 'a', 'a'], 'uniq', [1, '1', null, true, 'a']],
    [[[1], [1]], 'uniq', [[1], [1]]],
    [[0, 2, '2', 0, 2.5, 2.5, '', ''], 'uniq', [0, 2, '2', 2.5, '']],
    ['a', 'uniq', ['a']],
    ['hello', 'slice: 1', 'e'],
    ['hello', 'slice: 1, 3', 'ell'],
    ['hello', 'slice: -3, 2', 'll'],
    ['hello', 'slice: -9, 2', ''],
    ['hello', 'slice: 9, 2', ''],
    ['hello', 'slice: 3, 9', 'lo'],
    ['hello', 'slice: 1, -1', ''],
    ['a😀b', 'slice: 1, 2', '😀b'],
    ['a😀b', 'slice: -2, 1', '😀'],
    [[1, 2, 3], 'slice: 1, 9', [2, 3]],
    [[1, 2, 3], 'slice: -2', [2]],
    [[1, 2, 3], 'slice: -4, 2', []],
    [[1, 2, 3], 'slice: 0, -1', []],
    [12345, 'slice: 1, 2', '23'],
    [null, 'slice: 1', null],
    [books, "map: 'title'", ['Moby Dick', 'Sword', 'Rings']],
    [books, "map: 'author.name'", ['M', 'W', null]],
    [books, "map: 'size'", [null, null, null]],
    [{ a: 1 }, "map: 'a'", [1]],
    [['text'], "map: 'length'", [null]],
    [books, "where: 'sold' | map: 'title'", ['Moby Dick']],
    [books, "where: 'sold', false | map: 'title'", ['Sword']],
    [books, "where: 'author.name', 'W' | map: 'title'", ['Sword']],
    [books, "where: 'price', 22.99 | map: 'title'", ['Rings']],
    [books, "where: 'price', '22.99'", []],
    [books, "where: 'sold', nil | map: 'title'", ['Rings']],
    [{ a: 1 }, "where: 'a', 1", [{ a: 1 }]],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toEqual(output)
  })

  test('numbers of one value are equal, however they are written', () => {
    const data = parseJson('[{"n":1.0},{"n":1},{"n":2},{"n":12345678901234567890}]')
    expect(printJson(evaluateJson("{{ data | where: 'n', 1 }}", data))).toBe('[{"n":1.0},{"n":1}]')
    const numbers = parseJson(
      '[1.0,1,1e0,12345678901234567890,12345678901234567890,12345678901234567891]',
    )
    expect(printJson(evaluateJson('{{ data | uniq }}', numbers))).toBe(
      '[1.0,12345678901234567890,12345678901234567891]',
    )
  })

  test('lists are compared item by item, objects are not', () => {
    const data = { items: [{ v: [1, 'a'] }, { v: [1] }, { v: { a: 1 } }], list: [1, 'a'] }
    expect(evaluate("{{ data.items | where: 'v', '1a' }}", data)).toEqual([])
    expect(evaluate("{{ data | where: 'v', 'ab' }}", [{ v: ['a', 'b'] }])).toEqual([])
    expect(evaluate("{{ data.items | where: 'v', data.list }}", data)).toEqual([data.items[0]])
    const others = [{ v: [2, 'a'] }, { v: [1, 'b'] }, { v: 'ab' }, { v: 2 }, { v: null }]
    expect(evaluate("{{ data.others | where: 'v', data.list }}", { ...data, others })).toEqual([])
    const number = { others, wanted: 2 }
    expect(evaluate("{{ data.others | where: 'v', data.wanted }}", number)).toEqual([{ v: 2 }])
  })

  test.each([
    ['join: 1, 2'],
    ['first: 1'],
    ['concat'],
    ['slice'],
    ['slice: 1, 2, 3'],
    ['map'],
    ['map: 1'],
    ["map: ''"],
    ['map: data'],
    ["map: 'a', 'b'"],
    ['where'],
    ['where: 1'],
    ["where: 'a', 1, 2"],
    ['uniq: 1'],
    ['default'],
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })

  test.each(['slice: 1.5', 'slice: nil', 'slice: 0, true'])('fails on %s', filters => {
    expectDataRefusal(filters, 'abc')
  })
})

describe('default', () => {
  test.each([
    [null, "default: 'x'", 'x'],
    [false, "default: 'x'", 'x'],
    ['', "default: 'x'", 'x'],
    [[], "default: 'x'", 'x'],
    [false, "default: 'x', allow_false: true", false],
    [false, "default: 'x', allow_false: false", 'x'],
    [null, "default: 'x', allow_false: true", 'x'],
    [0, "default: 'x'", 0],
    [' ', "default: 'x'", ' '],
    [true, "default: 'x'", true],
    [{}, "default: 'x'", {}],
    [[null], "default: 'x'", [null]],
    [null, 'default: data', null],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toEqual(output)
  })
})
