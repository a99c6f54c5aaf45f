/**
 * The grammar of search queries: accepted texts, and the place that a refusal names.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { parseSearch, type SearchTree } from '../../../src/language/search-query.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const type = (value: string): SearchTree => ({ field: 'type', value })
const [a, b, c] = [type('a'), type('b'), type('c')]
const at = (text: string) => Date.parse(text)
const created = (fromMs: number, beforeMs: number): SearchTree => ({
  field: 'created_at',
  fromMs,
  beforeMs,
})
const dayMs = 86_400_000

const read: readonly (readonly [string, SearchTree])[] = [
  ['type:a', a],
  ['  type:a\t\n', a],
  ['\u3000type:a\u3000AND\u00a0type:b\u2003', { all: [a, b] }],
  ['NOT\u3000(\u202ftype:a\u205fOR\u1680type:b\u2028)\u0085', { not: { any: [a, b] } }],
  ['data:"a\u3000b\u00a0c"', { field: 'data', value: 'a\u3000b\u00a0c' }],
  ['id:"a b (c)"', { field: 'id', value: 'a b (c)' }],
  ['data:"say \\"a\\\\b\\" \\u0041"', { field: 'data', value: 'say "a\\b" A' }],
  ['data:""', { field: 'data', value: '' }],
  ['data:-5!', { field: 'data', value: '-5!' }],
  ['data:AND', { field: 'data', value: 'AND' }],
  ['id:a:b:c', { field: 'id', value: 'a:b:c' }],
  ["fingerprint:it's", { field: 'fingerprint', value: "it's" }],
  ['created_by:0A0B', { field: 'created_by', value: '0a0b' }],
  ['modified_by:0A0B', { field: 'modified_by', value: '0a0b' }],
  ['metadata.k:v', { field: 'metadata', key: 'k', value: 'v' }],
  ['metadata.K.l=m:v:w', { field: 'metadata', key: 'K.l=m', value: 'v:w' }],
  ['metadata."a: b":"c*"', { field: 'metadata', key: 'a: b', value: 'c*' }],
  ['metadata.__proto__:x', { field: 'metadata', key: '__proto__', value: 'x' }],
  ['container:/PCI/high/', { field: 'container', value: '/pci/high/', isStart: false }],
  ['container:"/pci/"', { field: 'container', value: '/pci/', isStart: false }],
  ['container:/Pci/*', { field: 'container', value: '/pci/', isStart: true }],
  ['container:/pc*', { field: 'container', value: '/pc', isStart: true }],
  ['container:*', { field: 'container', value: '', isStart: true }],
  ['type:a AND type:b AND type:c', { all: [a, b, c] }],
  ['type:a OR type:b OR type:c', { any: [a, b, c] }],
  ['type:a OR type:b AND type:c', { any: [a, { all: [b, c] }] }],
  ['type:a AND type:b OR type:c', { any: [{ all: [a, b] }, c] }],
  ['(type:a OR type:b) AND type:c', { all: [{ any: [a, b] }, c] }],
  ['((type:a))', a],
  ['type:a AND (type:b AND type:c)', { all: [a, { all: [b, c] }] }],
  ['NOT type:a AND type:b', { all: [{ not: a }, b] }],
  ['NOT(type:a AND type:b)', { not: { all: [a, b] } }],
  ['-type:a', { not: a }],
  ['! type:a OR - (type:b)', { any: [{ not: a }, { not: b }] }],
  ['NOT !-type:a', { not: { not: { not: a } } }],
]

const instants: readonly (readonly [string, SearchTree])[] = [
  [
    'created_at:2026-01-02T03:04:05.678Z',
    created(at('2026-01-02T03:04:05.678Z'), at('2026-01-02T03:04:05.679Z')),
  ],
  [
    'created_at:"1/2/2026 3:04:05 AM +01:00"',
    created(at('2026-01-02T02:04:05Z'), at('2026-01-02T02:04:05.001Z')),
  ],
  ['created_at:2026-01-02', created(at('2026-01-02'), at('2026-01-03'))],
  ['created_at:1/2/2026', created(at('2026-01-02'), at('2026-01-03'))],
  ['created_at:[2026-01-02 TO 2026-01-03]', created(at('2026-01-02'), at('2026-01-04'))],
  ['created_at:{2026-01-02 TO 2026-01-09}', created(at('2026-01-03'), at('2026-01-09'))],
  ['created_at:[ 2026-01-02  TO * ]', created(at('2026-01-02'), Infinity)],
  ['created_at:{* TO 2026-01-02}', created(-Infinity, at('2026-01-02'))],
  ['created_at:[* TO *]', created(-Infinity, Infinity)],
  [
    'created_at:{2026-01-02T00:00Z TO "2026-01-02T00:00:01Z"}',
    created(at('2026-01-02') + 1, at('2026-01-02') + 1_000),
  ],
  ['created_at:[2026-01-03 TO 2026-01-01]', created(at('2026-01-03'), at('2026-01-01') + dayMs)],
  ['modified_at:[* TO *]', { field: 'modified_at', fromMs: -Infinity, beforeMs: Infinity }],
]

describe('a search query', () => {
  // proves C14.8
  test.each([...read, ...instants])('%s is read', (text, tree) => {
    expect(parseSearch(text, 'query')).toEqual(tree)
  })

  test.each(['*', ' *', '\t*\r\n '])('a star alone (%j) asks for nothing in particular', text => {
    expect(parseSearch(text, 'query')).toBeUndefined()
  })
})

const refused: readonly (readonly [string, number, string])[] = [
  ['x', 0, 'one of the fields'],
  ['', 0, '* alone finds all tokens'],
  [' \t', 2, '* alone finds all tokens'],
  ['**', 0, 'one of the fields'],
  ['* id:a', 0, 'one of the fields'],
  [`${canary}:x`, 0, 'one of the fields'],
  ['Type:a', 0, 'one of the fields'],
  ['tenant_id:a', 0, 'one of the fields'],
  ['metadata:a', 0, 'one of the fields'],
  ['__proto__:a', 0, 'one of the fields'],
  ['type', 4, 'a colon'],
  ['type :a', 4, 'a colon'],
  ['type:', 5, 'a value'],
  ['type: a', 5, 'a value'],
  ['type:a type:b', 7, 'AND or OR'],
  ['type:a and type:b', 7, 'AND or OR'],
  ['type:a && type:b', 7, 'AND or OR'],
  ['type:a -type:b', 7, 'AND or OR'],
  ['type:a ANDtype:b', 7, 'AND or OR'],
  ['type:a AND', 10, 'one of the fields'],
  ['AND type:a', 0, 'one of the fields'],
  ['type:a OR OR type:b', 10, 'one of the fields'],
  ['NOT', 3, 'one of the fields'],
  ['()', 1, 'one of the fields'],
  ['(type:a', 0, 'no end'],
  ['(type:a type:b)', 8, 'AND, OR or )'],
  ['type:a)', 6, 'AND or OR'],
  ['(type:a))', 8, 'AND or OR'],
  [`type:"${canary}`, 5, 'no end'],
  ['type:"a"b', 8, 'a blank or )'],
  ['type:a"b"', 6, 'a blank or )'],
  ['type:a\\b', 6, 'a blank or )'],
  ['type:"\\q"', 6, 'escape'],
  ['type:"\\ud800"', 5, 'well-formed'],
  ['type:a*', 6, 'only containers'],
  ['id:*', 3, 'a value'],
  ['metadata.k:a*', 12, 'only containers'],
  ['metadata.:a', 9, 'a metadata key'],
  ['metadata.k', 10, 'a colon'],
  ['metadata.a b:c', 10, 'a colon'],
  ['container:/pci', 10, 'a path'],
  ['container:pci*', 10, 'a path'],
  ['container:/p*i/', 13, 'a blank or )'],
  ['container:/pci/**', 16, 'only containers'],
  ['container:"/pci/*"', 10, 'a path'],
  [`container:/${canary}!/`, 10, 'a path'],
  ['type:[a TO b]', 5, 'only created_at'],
  ['data:{* TO *}', 5, 'only created_at'],
  ['created_at:*', 11, 'an instant'],
  [`created_at:${canary}`, 11, 'M/D/YYYY'],
  ['created_at:2026-02-30', 11, 'exist'],
  ['created_at:[2026-01-01 TO 2026-13-01]', 26, 'exist'],
  ['created_at:[2026-01-01 TO 2026-01-02}', 36, 'expected ]'],
  ['created_at:{2026-01-01 TO 2026-01-02]', 36, 'expected }'],
  ['created_at:[2026-01-01, 2026-01-02]', 12, 'M/D/YYYY'],
  ['created_at:[2026-01-01 to 2026-01-02]', 23, 'expected TO'],
  ['created_at:[2026-01-01 TO]', 25, 'a blank'],
  ['created_at:[*TO *]', 13, 'a blank'],
  ['type:a\u3000type:b', 7, 'AND or OR'],
  ['data:a\u00a0b', 7, 'AND or OR'],
  ['created_at:[* TO *', 18, 'expected ]'],
  ['created_at:[* TO *]type:a', 19, 'a blank or )'],
]

describe('a text outside of the grammar', () => {
  // proves C14.16
  test.each(refused)('%s is refused at its place', (text, position, expected) => {
    const error = expectRefusal(() => parseSearch(text, 'query'), ['query'])
    expect(error.message).toStartWith(`query: position ${position}: `)
    expect(error.message).toContain(expected)
  })

  test('nests up to 16 levels, and holds up to 100 clauses', () => {
    const nested = (levels: number) => `${'('.repeat(levels)}type:a${')'.repeat(levels)}`
    expect(parseSearch(nested(16), 'query')).toEqual(a)
    expectRefusal(() => parseSearch(nested(17), 'query'), ['query'])
    expect(parseSearch(`${'!'.repeat(16)}type:a`, 'query')).toBeDefined()
    expectRefusal(() => parseSearch(`${'!'.repeat(17)}type:a`, 'query'), ['query'])
    const joined = (count: number) => Array(count).fill('type:a').join(' OR ')
    expect(parseSearch(joined(100), 'query')).toEqual({ any: Array(100).fill(a) })
    expectRefusal(() => parseSearch(joined(101), 'query'), ['query'])
  })

  test.each(['('.repeat(10_000), 'NOT '.repeat(10_000), '-'.repeat(100_000)])(
    'of hostile depth is refused before it is walked',
    text => {
      const error = expectRefusal(() => parseSearch(text, 'query'), ['query'])
      expect(error.message).toContain('at most 16 levels')
    },
  )
})
