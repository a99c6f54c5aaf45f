import { describe, expect, test } from 'bun:test'
import { parseJsonPath } from '../../../../../src/language/expression/json-path/parse-path.ts'
import { ApiError } from '../../../../../src/lib/errors.ts'
import { canary } from '../../../../support/refusal.ts'

const refusalOf = (text: string): ApiError => {
  try {
    parseJsonPath(text)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('expected a refusal')
}

const name = (text: string) => ({ isDescendant: false, selectors: [{ kind: 'name', name: text }] })

describe('queries of RFC 9535', () => {
  test.each([
    ['$', []],
    ['$.a', [name('a')]],
    ['$ .a\n["b"]', [name('a'), name('b')]],
    ['$._a1.é.😀', [name('_a1'), name('é'), name('😀')]],
    ['$.AZaz09.\u0080', [name('AZaz09'), name('\u0080')]],
    [`$['\\'"\\\\\\/\\u0041\\ud83d\\ude00']`, [name(`'"\\/A😀`)]],
    [`$["\\"'"]`, [name(`"'`)]],
    ['$.*', [{ isDescendant: false, selectors: [{ kind: 'wildcard' }] }]],
    ['$..a', [{ ...name('a'), isDescendant: true }]],
    [
      '$[ 0 , -1 ]',
      [{ isDescendant: false, selectors: [0, -1].map(index => ({ kind: 'index', index })) }],
    ],
    [
      '$[1 : 5 : 2]',
      [{ isDescendant: false, selectors: [{ kind: 'slice', start: 1, end: 5, step: 2 }] }],
    ],
    ['$[\t0\r]', [{ isDescendant: false, selectors: [{ kind: 'index', index: 0 }] }]],
    ['$["a"\n]', [name('a')]],
    [
      '$[1:5:]',
      [{ isDescendant: false, selectors: [{ kind: 'slice', start: 1, end: 5, step: 1 }] }],
    ],
    [
      '$[?@.a]',
      [
        {
          isDescendant: false,
          selectors: [
            {
              kind: 'filter',
              test: { kind: 'exists', query: { isRelative: true, segments: [name('a')] } },
            },
          ],
        },
      ],
    ],
    [
      '$[:]',
      [
        {
          isDescendant: false,
          selectors: [{ kind: 'slice', start: undefined, end: undefined, step: 1 }],
        },
      ],
    ],
  ])('%s is read', (text, query) => {
    expect<unknown>(parseJsonPath(text)).toEqual(query)
  })

  test.each([
    '$[?@.a]',
    '$[?!@.a]',
    '$[? !( @.a ) ]',
    "$[?@.a == 'x' && (@.b<1||@.c>=-1.5e3)]",
    '$[?$.a[0]["b"] != @]',
    '$[?length(@.a) > 1]',
    '$[?length(value(@..a)) == length("abc")]',
    '$[?count(@..*) == 1]',
    '$[?value(@..color) == "red"]',
    '$[?null == @.a, ?true == @.b]',
    '$[?@[?@.a]]',
    '$..[?@.a]',
  ])('%s is a filter', text => {
    expect(parseJsonPath(text)).toHaveLength(1)
  })

  test.each([
    '',
    'a',
    ' $',
    '$ ',
    '$x',
    '$.',
    '$..',
    '$...a',
    '$. a',
    '$.. a',
    '$.1a',
    '$.a-b',
    '$.@',
    '$.`',
    '$.{',
    '$.\x7f',
    "$.'a'",
    '$[',
    '$[]',
    '$[a]',
    '$[01]',
    '$[-0]',
    '$[1.0]',
    '$[1e1]',
    '$[9007199254740992]',
    '$[0,]',
    '$[,0]',
    '$[0 1]',
    '$[1:2:3:4]',
    '$[1:2 3]',
    '$[-0:1]',
    "$['a]",
    "$['a\\x']",
    `$['\\"']`,
    `$["\\'"]`,
    '$["\t"]',
    '$["\\ud800"]',
    '$[?]',
    '$[?()]',
    '$[?1]',
    '$[?true]',
    "$[?'a']",
    '$[?a]',
    '$[?@.a = 1]',
    '$[?@.a == ]',
    '$[?@.a == 1 == 1]',
    '$[?@.a == 01]',
    '$[?@.a == +1]',
    '$[?@.a == 1.]',
    '$[?@.a == TRUE]',
    '$[?@.a & @.b]',
    '$[?@.a && ]',
    '$[?(@.a]',
    '$[?!1]',
    '$[?!@.a == 1]',
    '$[?@.* == 1]',
    '$[?@..a == 1]',
    '$[?@[0,1] == 1]',
    '$[?@[0:1] == 1]',
    '$[?1 == @.*]',
    '$[?length(@.a)]',
    '$[?length(@.*) < 3]',
    '$[?length() == 1]',
    '$[?length(1, 2) == 1]',
    '$[?length (@.a) == 1]',
    '$[?count(1) == 1]',
    '$[?count(@.a)]',
    '$[?value(@.a)]',
    '$[?match(@.a, "x")]',
    '$[?search(@.a, "x")]',
    '$[?unknown(@.a) == 1]',
  ])('%j is refused', text => {
    expect(refusalOf(text).kind).toBe('invalid_request')
  })

  test.each([
    ['$[01]', 'position 2: expected an integer of at most 53 bits'],
    ['$[9007199254740992]', 'position 2: expected an integer of at most 53 bits'],
    ['$[?@.a == 1a]', 'position 10: expected a JSON number'],
    ['$[?@.a == 1e400]', 'position 10: expected a JSON number'],
    ['$["\\u12', 'position 3: expected a known escape after the backslash'],
    ['$["\\u004', 'position 3: expected a known escape after the backslash'],
    ['$["\\u0041', 'position 2: the string has no end'],
    ['$["a', 'position 2: the string has no end'],
  ])('%j says where it fails, and why', (text, message) => {
    expect(refusalOf(text).message).toBe(message)
  })

  test('a refusal says where, and repeats nothing', () => {
    expect(refusalOf('$.a[?@.b == ]').message).toBe(
      'position 12: expected @, $, a constant, length, count or value',
    )
    for (const text of [canary, `$.${canary} x`, `$["${canary}`, `$[?${canary}(@.a)]`]) {
      expect(refusalOf(text).message).not.toContain('c4n4ry')
    }
  })
})
