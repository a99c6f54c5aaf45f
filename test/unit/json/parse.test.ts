import { describe, expect, test } from 'bun:test'
import { decodeUtf8, parseJson } from '../../../src/lib/json/parse-json.ts'
import { jsonDepthMax, jsonNumberCharsMax } from '../../../src/limits/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

const refuse = (text: string) => expectRefusal(() => parseJson(text), ['body'])

describe('parseJson takes', () => {
  test.each([
    ['null', null],
    [' \t\r\n true \t\r\n ', true],
    ['false', false],
    ['0', 0],
    ['-12.5', -12.5],
    ['1e-7', 1e-7],
    ['1e+21', 1e21],
    ['9007199254740991', 9007199254740991],
    ['""', ''],
    ['[]', []],
    ['[1,[2],"3"]', [1, [2], '3']],
    ['{}', new Map()],
    ['{"a":{"b":null}}', new Map([['a', new Map([['b', null]])]])],
  ])('%s', (text, value) => {
    expect(parseJson(text)).toStrictEqual(value)
  })

  test('every escape, and a pair of escaped surrogates as one character', () => {
    expect(parseJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\uD83D\\uDE00\\u0000"')).toBe(
      '"\\/\b\f\n\r\tA\u00e9\u{1F600}\0',
    )
  })

  test('raw DEL, C1, line separators and non-characters, which RFC 8259 allows', () => {
    const text = '\u007f\u0085\u2028\u2029\ufdd0\uffff\u{10fffe}'
    expect(parseJson(`"${text}"`)).toBe(text)
  })

  test('names in their order, also those that look like integers', () => {
    const value = parseJson('{"b":1,"10":2,"a":3,"2":4}')
    expect(value instanceof Map && [...value.keys()]).toEqual(['b', '10', 'a', '2'])
  })

  test('names of the prototype as ordinary names', () => {
    const value = parseJson('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}')
    expect(value instanceof Map && [...value.keys()]).toEqual(['__proto__', 'constructor'])
    expect('polluted' in {}).toBe(false)
  })

  test('equal names in different objects', () => {
    expect(parseJson('[{"a":1},{"a":{"a":2}}]')).toBeArrayOfSize(2)
  })
})

describe('parseJson keeps the text of numbers that no double prints as they came', () => {
  test.each([
    '-0',
    '1.0',
    '1E2',
    '1e21',
    '0.10',
    '0.1000000000000000055',
    '12345678901234567890',
    '9007199254740993',
    '1e-400',
    '-1e-99999999999999999999',
    '0e999999999999',
    '1'.repeat(309),
  ])('%s', numberText => {
    expect(parseJson(`[${numberText}]`)).toEqual([{ numberText }])
  })

  // proves C1.15
  test.each(['1e309', '-1e309', '1e400', '9'.repeat(310), '1e99999999999999999999'])(
    'and refuses %s, which is beyond the range',
    text => {
      expect(refuse(text).message).toContain('range of a double at character 0')
    },
  )

  test('up to a bound on their length', () => {
    const longest = `0.${'1'.repeat(jsonNumberCharsMax - 2)}`
    expect(parseJson(longest)).toEqual({ numberText: longest })
    refuse(`${longest}1`)
  })
})

describe('parseJson refuses', () => {
  test.each([
    ['no text', '', 'a value at character 0'],
    ['only space', '  ', 'a value at character 2'],
    ['a byte order mark', '\ufeff{}', 'a value at character 0'],
    ['a no-break space', '\u00a01', 'a value at character 0'],
    ['trailing text', `{} ${canary}`, 'the end at character 3'],
    ['a second value', '1 2', 'the end at character 2'],
    ['a NUL after the value', '1\0', 'the end at character 1'],
    ['a comment', '[1/**/]', 'closing bracket at character 2'],
    ['single quotes', `{'${canary}':1}`, 'member name at character 1'],
    ['a bare name', `{${canary}:1}`, 'member name at character 1'],
    ['a missing colon', '{"a" 1}', 'a colon at character 5'],
    ['a trailing comma in an array', '[1,]', 'a value at character 3'],
    ['a trailing comma in an object', '{"a":1,}', 'member name at character 7'],
    ['an unclosed array', '[1', 'closing bracket at character 2'],
    ['an unclosed object', '{"a":1', 'closing brace at character 6'],
    ['a wrong closing', '{"a":1]', 'closing brace at character 6'],
    ['an unclosed string', `"${canary}`, 'a closing quote'],
    ['a string that ends in a backslash', '"\\', 'a valid escape at character 1'],
    ['a raw line feed in a string', '"a\nb"', 'a closing quote and no raw control character'],
    ['a raw NUL in a string', '"\0"', 'a closing quote and no raw control character'],
    ['an unknown escape', '"\\x41"', 'a valid escape at character 1'],
    ['an upper-case unicode escape', '"\\U0041"', 'a valid escape at character 1'],
    ['a short unicode escape', '"\\u004"', 'four hexadecimal digits'],
    ['a unicode escape with a sign', '"\\u+041"', 'four hexadecimal digits'],
    ['full-width digits in an escape', '"\\u\uff10\uff10\uff14\uff11"', 'four hexadecimal digits'],
    ['a leading zero', '01', 'the end at character 1'],
    ['a leading zero after a minus', '[-01]', 'closing bracket at character 3'],
    ['a leading plus', '+1', 'a value at character 0'],
    ['a bare minus', '-', 'a digit at character 1'],
    ['a bare point', '.5', 'a value at character 0'],
    ['a point without digits', '1.', 'a digit at character 2'],
    ['an exponent without digits', '1e+', 'a digit at character 3'],
    ['a hexadecimal number', '0x10', 'the end at character 1'],
    ['full-width digits', '\uff11', 'a value at character 0'],
    ['NaN', 'NaN', 'a value at character 0'],
    ['minus Infinity', '-Infinity', 'a digit at character 1'],
    ['a word in capitals', 'True', 'a value at character 0'],
    ['a word that goes on', 'nullx', 'the end at character 4'],
  ])('%s', (_, text, expected) => {
    expect(refuse(text).message).toContain(expected)
  })

  // proves C1.14
  test.each([
    ['twice', '{"a":1,"a":2}', 7],
    ['twice with equal values', '{"a":1,"a":1}', 7],
    ['escaped', '{"a":1,"\\u0061":2}', 7],
    ['in depth', '[{"x":{"b":1,"c":2,"b":3}}]', 19],
    ['of the prototype', '{"__proto__":1,"__proto__":2}', 15],
    ['that are empty', '{"":1,"":2}', 6],
  ])('duplicate names: %s', (_, text, at) => {
    expect(refuse(text).message).toContain(`at character ${at} `)
  })

  test.each([
    ['an escaped high one', '"\\ud800"'],
    ['an escaped low one', '"\\udc00"'],
    ['a reversed pair', '"\\ude00\\ud83d"'],
    ['a high one before another escape', '"\\ud800\\n"'],
    ['an escaped one in a name', '{"\\ud800":1}'],
    ['a raw one', '"\ud800"'],
    ['a raw one in a name', '{"\udc00":1}'],
    ['an escaped high one and a raw low one', '"\\ud83d\ude00"'],
    ['a raw high one and an escaped low one', '"\ud83d\\ude00"'],
  ])('lone surrogates: %s', (_, text) => {
    expect(refuse(text).message).toContain('surrogate')
  })

  test('a raw lone surrogate with its position', () => {
    expect(refuse('["\u{1F600}", "\ud800"]').message).toContain('at character 8 ')
  })

  test.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('more levels of %s than the limit', (_, open, close) => {
    const nest = (depth: number) => open.repeat(depth) + '1' + close.repeat(depth)
    expect(parseJson(nest(jsonDepthMax))).toBeObject()
    expect(refuse(nest(jsonDepthMax + 1)).message).toContain(`at most ${jsonDepthMax} levels`)
  })

  test('a hundred thousand open brackets without exhausting the stack', () => {
    refuse('['.repeat(100_000))
  })

  test('under the path that it is given', () => {
    expectRefusal(() => parseJson(canary, 'query.metadata'), ['query.metadata'])
  })
})

describe('decodeUtf8', () => {
  test('decodes text of one to four bytes a character', () => {
    expect(decodeUtf8(utf8('a\u00e9\u20ac\u{1F600}\0'))).toBe('a\u00e9\u20ac\u{1F600}\0')
  })

  test('keeps a byte order mark that is not at the start', () => {
    expect(decodeUtf8(utf8('a\ufeff'))).toBe('a\ufeff')
  })

  // proves C1.10
  test.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ['bytes that never occur', [0xff, 0xfe]],
    ['a continuation byte alone', [0x61, 0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong NUL', [0xe0, 0x80, 0x80]],
    ['a surrogate in three bytes', [0xed, 0xa0, 0x80]],
    ['a CESU pair', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['a character beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a truncated character', [0x61, 0xe2, 0x82]],
    ['Latin-1', [0xe9, 0x20]],
  ])('refuses %s', (_, bytes) => {
    expectRefusal(() => decodeUtf8(Uint8Array.from(bytes)), ['body'])
  })

  test('never keeps the state of a refused text', () => {
    expectRefusal(() => decodeUtf8(Uint8Array.of(0xe2, 0x82)), ['body'])
    expect(decodeUtf8(Uint8Array.of(0x61))).toBe('a')
  })
})
