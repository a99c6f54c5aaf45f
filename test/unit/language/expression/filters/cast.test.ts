import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'
import { evaluateJson, expectDataRefusal, filter } from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

describe('to_string', () => {
  test.each([
    ['foo', 'foo'],
    ['', ''],
    [3.14159, '3.14159'],
    [true, 'true'],
    [false, 'false'],
    [null, null],
  ])('%j is %j', (data, output) => {
    expect(filter('to_string', data)).toBe(output)
  })

  test('an exact number keeps its text', () => {
    expect(evaluateJson('{{ data | to_string }}', parseJson('1.00'))).toBe('1.00')
  })

  test.each([[[canary]], [{ a: canary }], [[]], [{}]])('fails on %j', data => {
    expectDataRefusal('to_string', data)
  })
})

describe('to_number', () => {
  // proves C6.35
  test.each([
    ['42', 42],
    ['3.14159', 3.14159],
    ['-7', -7],
    ['007', 7],
    ['-000.5', -0.5],
    ['000', 0],
    [42, 42],
    [null, null],
  ])('%j is %j', (data, output) => {
    expect(filter('to_number', data)).toBe(output)
  })

  test('digits that no double holds are kept', () => {
    const exact = (text: string) => evaluateJson('{{ data | to_number }}', text)
    expect(exact('12345678901234567890')).toEqual({ numberText: '12345678901234567890' })
    expect(exact('1.50')).toEqual({ numberText: '1.50' })
    expect(exact('1e3')).toEqual({ numberText: '1e3' })
    const longest = `0.${'1'.repeat(1_998)}`
    expect(exact(longest)).toEqual({ numberText: longest })
    expect(evaluateJson('{{ data | to_number }}', parseJson('1.0'))).toEqual({ numberText: '1.0' })
  })

  // proves C6.35
  test.each([
    '',
    ' 1',
    '1 ',
    '1x',
    '+1',
    '.5',
    '5.',
    '0x10',
    '1_000',
    '１',
    'NaN',
    'Infinity',
    '1e400',
    canary,
    '9'.repeat(2_001),
    `0.${'1'.repeat(1_999)}`,
    true,
    [[1]],
    {},
  ])('fails on %j', data => {
    expectDataRefusal('to_number', data)
  })
})

describe('to_boolean', () => {
  test.each([
    ['true', true],
    ['false', false],
    [true, true],
    [false, false],
    [null, null],
  ])('%j is %j', (data, output) => {
    expect(filter('to_boolean', data)).toBe(output)
  })

  // proves C6.35
  test.each(['', 'True', 'yes', '1', 1, 0, canary, [[]], {}])('fails on %j', data => {
    expectDataRefusal('to_boolean', data)
  })
})

describe('stringify and json_stringify', () => {
  // proves A3.15, C6.33
  test.each([
    [{ b: [1, null, true, 'x'], a: {} }, '{"a":{},"b":[1,null,true,"x"]}'],
    [{ é: '"' }, '{"é":"\\""}'],
    ['The Lord of the Rings', 'The Lord of the Rings'],
    ['"quoted"', '"quoted"'],
    [8.99, '8.99'],
    [false, 'false'],
    [[], '[]'],
    [null, null],
  ])('%j is %j', (data, output) => {
    expect(filter('stringify', data)).toBe(output)
    expect(filter('json_stringify', data)).toBe(output)
  })

  // proves C6.33, H105
  test('the order of members does not matter (hardening H105)', () => {
    const text = (json: string) => evaluateJson('{{ data | stringify }}', parseJson(json))
    expect(text('{"a":1,"b":{"d":1,"c":2}}')).toBe(text('{"b":{"c":2,"d":1},"a":1}'))
    expect(text('{"a":["b","c"]}')).not.toBe(text('{"a":["c","b"]}'))
  })
})
