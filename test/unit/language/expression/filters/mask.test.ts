import { describe, expect, test } from 'bun:test'
import { expectDataRefusal, expectParseRefusal, filter } from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

describe('last4', () => {
  // proves A3.14, C6.22
  test.each([
    ['4242424242424242', '4242'],
    ['1234', '1234'],
    ['12', '12'],
    ['', ''],
    [12345, '2345'],
    ['ab😀😃😄😁', '😀😃😄😁'],
    ['x😀😃😄😁', '😀😃😄😁'],
    [null, null],
  ])('%j gives %j', (data, output) => {
    expect(filter('last4', data)).toBe(output)
  })

  test.each([[['4242']], [{ number: '4242' }]])('fails on %j', data => {
    expectDataRefusal('last4', data)
  })

  test('takes no argument', () => {
    expectParseRefusal('{{ data | last4: 4 }}')
  })
})

describe('reveal_last', () => {
  // proves A3.13, C6.23
  test.each([
    ['123-45-6789', 'reveal_last: 0', 'XXX-XX-XXXX'],
    ['1234 5678', 'reveal_last: 4', 'XXXXX5678'],
    ['1234', 'reveal_last: 4', '1234'],
    ['123', 'reveal_last: 4', '123'],
    ['', 'reveal_last: 4', ''],
    ['12345', 'reveal_last: 4', 'X2345'],
    ['----', 'reveal_last: 1', '----'],
    ['a😀b😃c', 'reveal_last: 2', 'XXX😃c'],
    ['a😀b', "reveal_last: 1, '😀'", '😀😀b'],
    ['日本語', "reveal_last: 1, '*'", '**語'],
    [4242, 'reveal_last: 2', 'XX42'],
    [true, 'reveal_last: 1', 'XXXe'],
    [null, 'reveal_last: 4', null],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  test('long text is masked as short text is', () => {
    for (const unit of ['a', 'é', '😀']) {
      expect(filter('reveal_last: 50', unit.repeat(60))).toBe('X'.repeat(10) + unit.repeat(50))
      expect(filter('reveal_last: 60', unit.repeat(60))).toBe(unit.repeat(60))
    }
  })

  test.each([[[canary]], [{ a: canary }]])('fails on %j without repeating it', data => {
    expectDataRefusal('reveal_last: 4', data)
  })
})

describe('reveal', () => {
  // proves C6.24
  test.each([
    ['secret', 'reveal', 'XXXXXX'],
    ['secret', 'reveal: 0, 2', 'XXXXet'],
    ['secret', 'reveal: 3, 2', 'secXet'],
    ['secret', 'reveal: 3, 3', 'XXXXXX'],
    ['secret', 'reveal: 6', 'XXXXXX'],
    ['secret', 'reveal: 100, 100', 'XXXXXX'],
    ['se-et', "reveal: 2, 2, 'X', '-'", 'XXXXX'],
    ['a.b-c', "reveal: 0, 0, '#', '-.'", '#.#-#'],
    ['a.b-c', "reveal: 0, 0, '#', 'abc'", 'a#b#c'],
    ['---', "reveal: 0, 0, 'X', '-'", 'XXX'],
    ['a😀b😃c', "reveal: 1, 1, 'X', '😃'", 'aXX😃c'],
    ['😀😃😄', 'reveal: 1, 1', '😀X😄'],
    ['', 'reveal: 1, 1', ''],
    ['a', 'reveal: 1', 'X'],
    [null, 'reveal: 1', null],
    [12345, 'reveal: 1, 1', '1XXX5'],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  test.each([
    'reveal: -1',
    'reveal: 1, -1',
    'reveal: 1.5',
    'reveal: data',
    "reveal: '1'",
    "reveal: 1, 1, 'XX'",
    "reveal: 1, 1, 'X', 1",
    "reveal: 1, 1, 'X', data",
    "reveal: 1, 1, 'X', '-', 1",
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })

  test('fails on an object', () => {
    expectDataRefusal('reveal: 1', { a: canary })
  })
})
