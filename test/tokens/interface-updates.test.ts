/**
 * Updates member by member: members that are merged, replaced or cleared by `null`, and those that
 * follow the data. Source: spec, "Update token"; contract section 9.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:search']

let vault: TestVault
let key: string
let plain: string

beforeAll(async () => {
  vault = await openTestVault(125)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  key = await vault.application({ type: 'private', rules })
  plain = await vault.application({ type: 'private', permissions })
})

const create = async (body: object) => {
  const made = await vault.ask('POST', '/tokens', { key, body: { type: 'token', ...body } })
  expect(made.status).toBe(201)
  return made
}
const patch = (id: string, body: object, as = key) =>
  vault.ask('PATCH', `/tokens/${id}`, { key: as, body })
const read = async (id: string) => (await vault.ask('GET', `/tokens/${id}`, { key })).body
const found = async (query: string) => {
  const { body } = await vault.ask('POST', '/tokens/search', { key, body: { query } })
  return (body['data'] as { id: string }[]).map(({ id }) => id)
}

describe('an update', () => {
  // proves A10.19, A10.23, C9.1
  test('merges data, mask and metadata', async () => {
    await create({
      id: 'merged',
      data: { a: 1, b: { c: 2, d: 3 } },
      mask: { a: '{{ data.a }}', b: { c: '{{ data.b.c }}' } },
      metadata: { k: 'v', l: 'w' },
    })
    const answer = await patch('merged', {
      data: { b: { d: null, e: 4 } },
      mask: { b: { c: null, e: '{{ data.b.e }}' } },
      metadata: { l: null, m: 'x' },
    })
    expect(answer.status).toBe(200)
    const mask = { a: '{{ data.a }}', b: { e: '{{ data.b.e }}' } }
    expect(answer.body).toMatchObject({ data: { a: 1, b: { e: 4 } }, mask })
    const stored = await read('merged')
    expect(stored).toMatchObject({ data: { a: 1, b: { c: 2, e: 4 } }, mask })
    expect([stored['mask'], stored['metadata']]).toEqual([mask, { k: 'v', m: 'x' }])
  })

  // proves A10.20
  test('replaces the rest', async () => {
    await create({
      id: 'replaced',
      data: 'Ada',
      containers: ['/a/'],
      search_indexes: ['{{ data }}', 'second'],
      fingerprint_expression: '{{ data }}',
      expires_at: '1/1/2031',
    })
    const change = {
      containers: ['/b/'],
      search_indexes: ['{{ data | downcase }}'],
      fingerprint_expression: '{{ data | upcase }}',
      expires_at: '2032-02-03T04:05:06.789+01:00',
    }
    expect((await patch('replaced', change)).body).toMatchObject(change)
    expect((await read('replaced'))['search_indexes']).toEqual(['{{ data | downcase }}'])
    expect((await read('replaced'))['containers']).toEqual(['/b/'])
  })

  // proves C9.2
  test('by null clears all that can be cleared', async () => {
    await create({
      id: 'cleared',
      data: 'Ada',
      mask: '{{ data | last4 }}',
      metadata: { a: '1' },
      search_indexes: ['{{ data }}'],
      fingerprint_expression: 'x{{ data }}',
      expires_at: '1/1/2031',
    })
    const answer = await patch('cleared', {
      mask: null,
      metadata: null,
      search_indexes: null,
      fingerprint_expression: null,
      expires_at: null,
    })
    expect(answer.status).toBe(200)
    const stored = await read('cleared')
    for (const body of [answer.body, stored]) {
      for (const member of ['mask', 'metadata', 'expires_at'])
        expect(body).not.toHaveProperty(member)
      expect(body['search_indexes']).toEqual([])
      expect(body['fingerprint_expression']).toBe('{{ data | stringify }}')
    }
    expect([answer.body['data'], stored['data']]).toEqual([undefined, 'Ada'])
    const equal = await create({ data: 'Ada' })
    expect(stored['fingerprint']).toBe(String(equal.body['fingerprint']))
  })

  // proves C9.3
  test('by null clears neither data nor containers', async () => {
    await create({ id: 'uncleared', data: 'canary' })
    const before = await read('uncleared')
    for (const member of ['data', 'containers']) {
      expectProblem(await patch('uncleared', { [member]: null }), 400, [member])
    }
    expect(await read('uncleared')).toEqual(before)
  })

  // proves A3.8, C9.6
  test('lets search indexes and fingerprint follow the data', async () => {
    const made = await create({ id: 'followed', data: 'before', search_indexes: ['{{ data }}'] })
    expect(await found('data:before')).toEqual(['followed'])
    expect((await patch('followed', { data: 'after' })).status).toBe(200)
    expect([await found('data:before'), await found('data:after')]).toEqual([[], ['followed']])
    const { fingerprint } = await read('followed')
    expect(fingerprint).not.toBe(String(made.body['fingerprint']))
    const equal = await create({ data: 'after' })
    expect(fingerprint).toBe(String(equal.body['fingerprint']))
    expect(await found(`fingerprint:${String(made.body['fingerprint'])}`)).toEqual([])
  })

  // proves A2.10, A2.14, A9.2
  test('says who changed the token last, and shows no more than the mask', async () => {
    const made = await create({ id: 'changed', data: 'canary', mask: '{{ data | last4 }}' })
    expect(made.body).not.toHaveProperty('modified_by')
    expect(made.body).not.toHaveProperty('modified_at')
    for (const as of [plain, key]) {
      vault.clock.advance(1_500)
      const answer = await patch('changed', { metadata: { a: '1' } }, as)
      const own = await vault.ask('GET', '/applications/key', { key: as })
      expect(answer.body).toMatchObject({
        data: 'nary',
        created_by: made.body['created_by'],
        created_at: made.body['created_at'],
        modified_by: own.body['id'],
        modified_at: new Date(vault.clock.now()).toISOString().replace('Z', '+00:00'),
      })
      expect(answer.text).not.toContain('canary')
    }
  })
})
