/**
 * Faults of a body by itself are 400 also if the target is absent or out of reach; faults that
 * depend on stored data are told after that. Source: contract section 2.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let key: string
let reading: string

beforeAll(async () => {
  vault = await openTestVault(201)
  const held = ['token:create', 'token:update']
  const rules = [{ priority: 1, container: '/a/', transform: 'reveal', permissions: held }]
  key = await vault.application({ type: 'private', rules })
  reading = await vault.application({ type: 'private', permissions: ['token:read'] })
  for (const container of ['/a/', '/b/']) {
    const writer = await vault.application({ type: 'private', permissions: ['token:create'] })
    const id = container === '/a/' ? 'in-reach' : 'beyond'
    const body = { id, type: 'card_number', data: '4242424242424242', containers: [container] }
    expect((await vault.ask('POST', '/tokens', { key: writer, body })).status).toBe(201)
  }
})

const patch = (id: string, body: unknown, by = key) =>
  vault.ask('PATCH', `/tokens/${id}`, { key: by, body })

const faulty: readonly (readonly [string, object, string])[] = [
  ['data that is null', { data: null }, 'data'],
  ['data that fits no token', { data: { a: 'x'.repeat(512 * 1024) } }, 'data'],
  ['containers that are null', { containers: null }, 'containers'],
  ['no container', { containers: [] }, 'containers'],
  ['a container of no shape', { containers: ['canary'] }, 'containers[0]'],
  ['a card number as a container', { containers: ['/4242424242424242/'] }, 'containers[0]'],
  ['an expiry of no shape', { expires_at: 'canary' }, 'expires_at'],
  ['an expiry that is past', { expires_at: '1/1/2020' }, 'expires_at'],
  ['metadata of no texts', { metadata: { a: 1 } }, 'metadata.a'],
  ['metadata that is no object', { metadata: 'canary' }, 'metadata'],
  ['a card number in metadata', { metadata: { a: '4242424242424242' } }, 'metadata.a'],
  ['a mask that does not parse', { mask: '{{ data | canary }}' }, 'mask'],
  ['a mask that is a number', { mask: 5 }, 'mask'],
  ['a mask with a part that does not parse', { mask: { a: '{{ canary' } }, 'mask.*'],
  ['a fingerprint that does not parse', { fingerprint_expression: '{{' }, 'fingerprint_expression'],
  [
    'a constant to deduplicate by',
    { fingerprint_expression: 'canary', deduplicate_token: true },
    'fingerprint_expression',
  ],
  ['an index that does not parse', { search_indexes: ['{{ a.b }}'] }, 'search_indexes[0]'],
  ['too many indexes', { search_indexes: Array(11).fill('{{ data }}') }, 'search_indexes'],
]

describe('E15: a patch with', () => {
  // proves C2.12, E15.3
  test.each(faulty)('%s is 400 for a token, without one, and beyond reach', async (_, body, at) => {
    for (const id of ['absent', 'beyond', 'in-reach']) {
      expectProblem(await patch(id, body), 400, [at], ['canary'])
    }
    expect((await patch('absent', body, reading)).status).toBe(403)
  })

  // proves C2.12
  test('faults of one token alone is 404 without it', async () => {
    for (const body of [{ data: 'canary' }, { data: { number: 1 } }]) {
      expect((await patch('absent', body)).status).toBe(404)
      expect((await patch('beyond', body)).status).toBe(404)
      expectProblem(await patch('in-reach', body), 400, ['data'], ['canary'])
    }
  })

  test('nulls that remove is no fault', async () => {
    const nulls = { mask: null, metadata: null, search_indexes: null, expires_at: null }
    expect((await patch('absent', { ...nulls, data: { a: null } })).status).toBe(404)
    expect((await patch('absent', { metadata: { a: null }, mask: { a: null } })).status).toBe(404)
    expect((await patch('in-reach', nulls)).status).toBe(200)
  })
})

describe('E15: an application that is absent', () => {
  const put = (id: string, body: object, by = vault.managementKey) =>
    vault.ask('PUT', `/applications/${id}`, { key: by, body: { name: 'n', ...body } })
  const rule = (more: object) => ({
    priority: 1,
    container: '/',
    transform: 'mask',
    permissions: ['token:read'],
    ...more,
  })

  // proves C2.12
  test.each([
    ['a permission that is none', { permissions: ['canary:read'] }, ['permissions[0]']],
    ['no grants at all', {}, ['permissions']],
    ['a container of no shape', { rules: [rule({ container: 'x' })] }, ['rules[0].container']],
    ['two rules of one priority', { rules: [rule({}), rule({})] }, ['rules[1].priority']],
    [
      'grants that no one type may hold',
      { permissions: ['token:read', 'log:read'] },
      ['permissions[1]'],
    ],
  ])('is 400 with %s', async (_, body, paths) => {
    expectProblem(await put('absent', body), 400, paths, ['canary'])
    expect((await put('absent', body, key)).status).toBe(403)
  })

  test('is 404 with grants that some type may hold', async () => {
    for (const permission of ['token:create', 'token:read', 'log:read']) {
      expect((await put('absent', { permissions: [permission] })).status).toBe(404)
    }
  })
})
