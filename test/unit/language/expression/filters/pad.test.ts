import { describe, expect, test } from 'bun:test'
import { expectDataRefusal, expectParseRefusal, filter } from '../../../../support/expressions.ts'

describe('pad_left and pad_right', () => {
  // proves C6.34
  test.each([
    ['1234', "pad_left: 6, 'X'", 'XX1234'],
    ['1234', "pad_right: 6, '0'", '123400'],
    ['1234', "pad_left: 4, '0'", '1234'],
    ['1234', "pad_right: 2, '0'", '1234'],
    ['', "pad_left: 2, '0'", '00'],
    ['', "pad_left: 0, '0'", ''],
    ['😀', "pad_left: 3, '0'", '00😀'],
    ['a', "pad_right: 3, '😀'", 'a😀😀'],
    [7, "pad_left: 3, '0'", '007'],
    [null, "pad_left: 3, '0'", null],
    [null, "pad_right: 3, '0'", null],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  // proves C6.34
  test('pads to 1,000 characters and no further', () => {
    expect(filter("pad_left: 1000, 'x'", '')).toHaveLength(1_000)
    expectParseRefusal("{{ data | pad_left: 1001, 'x' }}")
  })

  test.each([
    'pad_left',
    'pad_left: 3',
    "pad_left: -1, '0'",
    "pad_left: 1.5, '0'",
    "pad_left: '3', '0'",
    "pad_left: data, '0'",
    "pad_left: 3, ''",
    "pad_left: 3, '00'",
    'pad_left: 3, 0',
    "pad_left: 3, '0', 1",
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
    expectParseRefusal(`{{ data | ${filters.replace('left', 'right')} }}`)
  })

  test('fail on a list', () => {
    expectDataRefusal("pad_left: 3, '0'", ['1'])
    expectDataRefusal("pad_right: 3, '0'", ['1'])
  })
})
