/**
 * Bounds of a token over HTTP: the largest value is taken, one more is refused. Source: contract
 * sections 6, 7 and 16.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  containerCharsMax,
  containerSegmentsMax,
  expressionCharsMax,
  jsonDepthMax,
  metadataKeyCharsMax,
  metadataPairsMax,
  metadataValueCharsMax,
  searchIndexesMax,
  searchIndexResultCharsMax,
  tokenDataBytesMax,
  tokenIdCharsMax,
} from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(134)
  const permissions = ['token:create', 'token:read', 'token:update']
  key = await vault.application({ type: 'private', permissions })
})

const token = (body: object) => ({ type: 'token', data: 'x', ...body })
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

/** Bound, largest value, one more, and the place of the fault. */
const bounds: readonly (readonly [string, object, object, readonly string[]])[] = [
  [
    '512 KiB of data',
    { data: 'x'.repeat(tokenDataBytesMax - 2) },
    { data: 'x'.repeat(tokenDataBytesMax - 1) },
    ['data'],
  ],
  [
    '10 search indexes',
    { search_indexes: Array(searchIndexesMax).fill('{{ data }}') },
    { search_indexes: Array(searchIndexesMax + 1).fill('{{ data }}') },
    ['search_indexes'],
  ],
  [
    '1,000 characters of a search index',
    { data: 'x'.repeat(searchIndexResultCharsMax), search_indexes: ['{{ data }}'] },
    { data: 'x'.repeat(searchIndexResultCharsMax + 1), search_indexes: ['{{ data }}'] },
    ['search_indexes[0]'],
  ],
  [
    'a fingerprint expression of 400 characters',
    { fingerprint_expression: 'x'.repeat(expressionCharsMax) },
    { fingerprint_expression: 'x'.repeat(expressionCharsMax + 1) },
    ['fingerprint_expression'],
  ],
  [
    'a mask of 400 characters',
    { mask: 'x'.repeat(expressionCharsMax) },
    { mask: 'x'.repeat(expressionCharsMax + 1) },
    ['mask'],
  ],
  // proves H81
  [
    'an id of 400 characters',
    { id: 'x'.repeat(tokenIdCharsMax) },
    { id: 'x'.repeat(tokenIdCharsMax + 1) },
    ['id'],
  ],
  // proves H81
  ['an id of 3 characters', { id: 'abc' }, { id: 'ab' }, ['id']],
  [
    'a container of 10 segments',
    { containers: [`/${'a/'.repeat(containerSegmentsMax)}`] },
    { containers: [`/${'a/'.repeat(containerSegmentsMax + 1)}`] },
    ['containers[0]'],
  ],
  [
    'a container of 400 characters',
    { containers: [`/${'a'.repeat(containerCharsMax - 2)}/`] },
    { containers: [`/${'a'.repeat(containerCharsMax - 1)}/`] },
    ['containers[0]'],
  ],
  ['one container', { containers: ['/a/'] }, { containers: ['/a/', '/b/'] }, ['containers']],
  [
    '50 pairs of metadata',
    { metadata: pairs(metadataPairsMax) },
    { metadata: pairs(metadataPairsMax + 1) },
    ['metadata'],
  ],
  [
    'a metadata key of 100 characters',
    { metadata: { ['k'.repeat(metadataKeyCharsMax)]: 'v' } },
    { metadata: { ['k'.repeat(metadataKeyCharsMax + 1)]: 'v' } },
    ['metadata[0]'],
  ],
  [
    'a metadata value of 500 characters',
    { metadata: { k: 'v'.repeat(metadataValueCharsMax) } },
    { metadata: { k: 'v'.repeat(metadataValueCharsMax + 1) } },
    ['metadata.k'],
  ],
]

describe('a token', () => {
  // proves C6.17, C7.3, C7.12, C7.13, C7.14, C16.10, C16.11, C16.12, H61
  test.each(bounds)('may have %s, and no more', async (_, most, more, paths) => {
    const made = await vault.ask('POST', '/tokens', { key, body: token(most) })
    expect(made.status).toBe(201)
    expectProblem(await vault.ask('POST', '/tokens', { key, body: token(more) }), 400, paths)
    if ('id' in more) return
    const path = `/tokens/${String(made.body['id'])}`
    // Metadata is merged, so the place of a pair is another one.
    const at = 'metadata' in more ? undefined : paths
    expectProblem(await vault.ask('PATCH', path, { key, body: more }), 400, at)
    expect((await vault.ask('PATCH', path, { key, body: most })).status).toBe(200)
  })

  // proves C16.3
  test('may be 64 levels deep, the body among them', async () => {
    const create = (depth: number) =>
      vault.ask('POST', '/tokens', { key, body: token({ data: nested(depth) }) })
    expect((await create(jsonDepthMax - 1)).status).toBe(201)
    expectProblem(await create(jsonDepthMax), 400)
  })
})

describe('metadata', () => {
  // proves A2.8, C7.15, H60
  test('is texts: nulls are dropped, all else is refused', async () => {
    const create = (metadata: unknown) =>
      vault.ask('POST', '/tokens', { key, body: token({ metadata }) })
    const made = await create({ kept: 'v', dropped: null, empty: '' })
    expect(made.body['metadata']).toEqual({ kept: 'v', empty: '' })
    for (const value of [1, true, ['canary'], { canary: '' }]) {
      expectProblem(await create({ a: 'x', b: value }), 400, ['metadata.b'])
    }
    for (const value of ['canary', 1, ['canary']]) {
      expectProblem(await create(value), 400, ['metadata'])
    }
  })

  // proves C7.16
  test('may be named as members of a prototype are', async () => {
    const raw = '{"type":"token","data":1,"metadata":{"__proto__":"a","constructor":"b"}}'
    const made = await vault.ask('POST', '/tokens', { key, raw })
    expect(made.text).toContain('"metadata":{"__proto__":"a","constructor":"b"}')
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    expect('a' in {}).toBe(false)
  })
})

describe('a container', () => {
  // proves C7.11
  test('is kept in lower case, and found in any', async () => {
    const made = await vault.ask('POST', '/tokens', {
      key,
      body: token({ id: 'cased', containers: ['/PCI/High-1_x/'] }),
    })
    expect(made.body['containers']).toEqual(['/pci/high-1_x/'])
    const listed = await vault.ask('GET', '/tokens?container=/Pci/HIGH-1_X/', { key })
    expect(listed.body['pagination']).toMatchObject({ total_items: 1 })
  })

  // proves A2.7, C7.10
  test.each(['pci', '/pci', 'pci/', '//', '/a//b/', '/a b/', '/\u00e9/', '/a.b/', ''])(
    'named %j is refused',
    async container => {
      const body = token({ containers: [container] })
      expectProblem(await vault.ask('POST', '/tokens', { key, body }), 400, ['containers[0]'])
    },
  )
})

describe('an id', () => {
  // proves C7.4, H82
  test.each([...'#/\\+?[]|&=%<>{}^', '\u0000', '\n', '\u007f', '\u0085'])(
    'with %j in it is refused',
    async char => {
      const answers = [`canary${char}1`, `${char}canary`, `canary${char}`].map(id =>
        vault.ask('POST', '/tokens', { key, body: token({ id }) }),
      )
      for (const answer of await Promise.all(answers)) expectProblem(answer, 400, ['id'])
    },
  )

  // proves C7.8
  test('is matched as it was sent, letter by letter', async () => {
    await vault.ask('POST', '/tokens', { key, body: token({ id: 'Order 17 \u00e9:@' }) })
    const read = async (id: string) => (await vault.ask('GET', `/tokens/${id}`, { key })).status
    expect(await read(encodeURIComponent('Order 17 \u00e9:@'))).toBe(200)
    for (const other of ['order 17 \u00e9:@', 'Order 17 e\u0301:@', 'Order 17 \u00e9:@ ']) {
      expect(await read(encodeURIComponent(other))).toBe(404)
    }
  })
})
