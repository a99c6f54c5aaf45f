import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import {
  fromPlain,
  printCanonicalJson,
  printJson,
  toPlain,
  type Json,
} from '../../../src/lib/json/json.ts'
import { ApiError } from '../../../src/lib/errors.ts'

const canonical = (text: string) => printCanonicalJson(parseJson(text))

describe('printJson', () => {
  test.each([
    'null',
    '[]',
    '{}',
    '[[],{}]',
    '{"b":1,"10":2,"a":{"__proto__":[true,false,null]}}',
    '[1.0,-0,1E2,12345678901234567890,1e-400,0.1]',
    '"\\"\\\\\\u0000\\n\u2028\u{1F600}"',
  ])('gives back the compact text %s', text => {
    expect(printJson(parseJson(text))).toBe(text)
  })

  test('prints no number that JSON does not have', () => {
    expect(() => printJson([Number.NaN])).toThrow(ApiError)
    expect(() => printJson(Number.POSITIVE_INFINITY)).toThrow(ApiError)
    expect(printJson([Number.MAX_VALUE])).toBe('[1.7976931348623157e+308]')
  })
})

describe('printCanonicalJson', () => {
  test('sorts names by UTF-16 code units, as in RFC 8785 section 3.2.3', () => {
    const text =
      '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}'
    expect(canonical(text)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1F600}":5,"\ufb33":3}',
    )
  })

  test('sorts at every level and keeps the order of arrays', () => {
    expect(canonical('[{"b":{"d":1,"c":2},"a":[2,1]}]')).toBe('[{"a":[2,1],"b":{"c":2,"d":1}}]')
    expect(canonical('[1,2]')).not.toBe(canonical('[2,1]'))
  })

  test.each([
    ['1.0', '1'],
    ['-1.50', '-1.5'],
    ['1E2', '100'],
    ['-0', '0'],
    ['0.000e5', '0'],
    ['1e21', '1e+21'],
    ['100e19', '1e+21'],
    ['123456789012345678901', '123456789012345678901'],
    ['1234567890123456789012', '1.234567890123456789012e+21'],
    ['0.0000010', '0.000001'],
    ['0.00000010', '1e-7'],
    ['12345678901234567890.0', '12345678901234567890'],
    ['0.10000000000000000550', '0.1000000000000000055'],
    ['1000e-403', '1e-400'],
    ['-12e-99999999999999999999', '-1.2e-99999999999999999998'],
  ])('prints %s as %s', (text, printed) => {
    expect(canonical(text)).toBe(printed)
  })

  test('keeps apart numbers that one double stands for', () => {
    expect(canonical('9007199254740993')).not.toBe(canonical('9007199254740992'))
    expect(canonical('1e-400')).not.toBe(canonical('0'))
    expect(canonical('1e-99999999999999999999')).not.toBe(canonical('1e-99999999999999999998'))
  })
})

describe('toPlain', () => {
  test('makes objects without a prototype, and `__proto__` an ordinary name', () => {
    const plain = toPlain(parseJson('{"__proto__":{"x":1},"a":[{"b":2}]}'))
    expect(Object.getPrototypeOf(plain)).toBeNull()
    expect(Object.keys(plain as object)).toEqual(['__proto__', 'a'])
    expect('x' in {}).toBe(false)
    expect(JSON.stringify(plain)).toBe('{"__proto__":{"x":1},"a":[{"b":2}]}')
  })

  test('makes exact numbers the nearest double', () => {
    expect(JSON.stringify(toPlain(parseJson('{"n":1.0,"in":[12345678901234567890]}')))).toBe(
      '{"n":1,"in":[12345678901234567000]}',
    )
  })

  test.each(['1', '"a"', 'null', '[1,"a",null,true]'])('takes %s as it is', text => {
    expect(JSON.stringify(toPlain(parseJson(text)))).toBe(text)
  })
})

describe('fromPlain', () => {
  test('leaves out undefined members and takes Maps as Json', () => {
    const data: Json = new Map([['n', { numberText: '1.0' }]])
    const plain = { id: 'a', mask: undefined, data, list: [{ data }] }
    expect(printJson(fromPlain(plain))).toBe(
      '{"id":"a","data":{"n":1.0},"list":[{"data":{"n":1.0}}]}',
    )
  })

  test('takes opaque members as Json, at the top level only', () => {
    const plain = { data: { numberText: '1.0' }, in: { data: { numberText: '1.0' } } }
    expect(printJson(fromPlain(plain, new Set(['data'])))).toBe(
      '{"data":1.0,"in":{"data":{"numberText":"1.0"}}}',
    )
  })

  test('never prints a member named numberText as if it were a number', () => {
    const plain = toPlain(parseJson('{"metadata":{"numberText":"1,\\"admin\\":true"}}'))
    expect(printJson(fromPlain(plain))).toBe('{"metadata":{"numberText":"1,\\"admin\\":true"}}')
  })

  test('refuses what JSON cannot hold as a mistake of ours', () => {
    expect(() => fromPlain([() => 1])).toThrow(ApiError)
    expect(() => fromPlain([undefined])).toThrow(ApiError)
    expect(() => fromPlain({ big: 1n })).toThrow(ApiError)
  })
})
