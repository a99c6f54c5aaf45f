/**
 * Applications and sessions as the specification shows them: every field, the types that have it,
 * and bounds of requests. Source: spec, "Application object", "Access rule", "Applications",
 * "Sessions"; contract sections 11 to 13 and 16.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import {
  descriptionCharsMax,
  idFilterMax,
  nameCharsMax,
  rulesMax,
} from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { openSessionKit, type SessionKit } from '../support/sessions.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

let vault: TestVault
let kit: SessionKit
let managerId: string

beforeAll(async () => {
  vault = await openTestVault(132)
  kit = await openSessionKit(vault)
  const own = await vault.ask('GET', '/applications/key', { key: vault.managementKey })
  managerId = String(own.body['id'])
})

const ask = (method: string, path: string, body?: unknown) =>
  vault.ask(method, path, { key: vault.managementKey, ...(body === undefined ? {} : { body }) })

const rule = {
  description: 'cards',
  priority: 1,
  container: '/pci/',
  transform: 'reveal',
  permissions: ['token:read', 'token:create'],
}
const backend = { name: 'Backend', type: 'private', permissions: ['token:read'], rules: [rule] }

const now = () => new Date(vault.clock.now()).toISOString().replace('Z', '+00:00')

describe('an application', () => {
  // proves A6.1, A6.2, A6.4, A6.5, A9.9, A12.6, A13.3
  test('has every field, its key only when it was just made', async () => {
    const made = await ask('POST', '/applications', { ...backend, expires_at: '1/1/2031' })
    expect(made.status).toBe(201)
    const { key, ...shown } = made.body
    expect(key).toMatch(/^key_[1-9A-HJ-NP-Za-km-z]{22}$/)
    expect(shown).toEqual({
      ...backend,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenant_id: vault.tenantId,
      created_by: managerId,
      created_at: now(),
      expires_at: '2031-01-01T00:00:00.000+00:00',
    })
    const path = `/applications/${String(shown['id'])}`
    expect((await ask('GET', path)).body).toEqual(shown)
    expect((await vault.ask('GET', '/applications/key', { key: String(key) })).body).toEqual(shown)
    const listed = await ask('GET', `/applications?id=${String(shown['id'])}`)
    expect(listed.body['data']).toEqual([shown])
  })

  // proves A6.4, A12.5, A12.11, C13.4
  test('is replaced in name, permissions and rules alone', async () => {
    const made = await ask('POST', '/applications', { ...backend, expires_at: '1/1/2031' })
    const { key, ...shown } = made.body
    const path = `/applications/${String(shown['id'])}`
    vault.clock.advance(1_000)
    const change = { name: 'Renamed', type: 'public', key: 'key_canary', expires_at: '1/1/2035' }
    const answer = await ask('PUT', path, { ...change, permissions: ['token:create'] })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      ...shown,
      name: 'Renamed',
      permissions: ['token:create'],
      rules: [],
      modified_by: managerId,
      modified_at: now(),
    })
    const ruled = await ask('PUT', path, { name: 'Ruled', rules: [rule] })
    expect(ruled.body).toMatchObject({ name: 'Ruled', permissions: [], rules: [rule] })
    expect((await vault.ask('GET', '/applications/key', { key: String(key) })).status).toBe(200)
  })

  // proves A12.11
  test('is not replaced without a name, or with nothing granted', async () => {
    const { body: made } = await ask('POST', '/applications', backend)
    const path = `/applications/${String(made['id'])}`
    const { key: _, ...before } = made
    expectProblem(await ask('PUT', path, { permissions: ['token:read'] }), 400, ['name'])
    for (const nothing of [{}, { permissions: [], rules: [] }, { permissions: null }]) {
      expectProblem(await ask('PUT', path, { name: 'canary', ...nothing }), 400, ['permissions'])
    }
    expect((await ask('GET', path)).body).toEqual(before)
  })

  // proves A12.4
  test('may have permissions alone or rules alone', async () => {
    const { permissions, rules, ...rest } = backend
    const first = await ask('POST', '/applications', { ...rest, permissions })
    expect([first.status, first.body['rules']]).toEqual([201, []])
    const second = await ask('POST', '/applications', { ...rest, rules, permissions: [] })
    expect([second.status, second.body['permissions']]).toEqual([201, []])
    expectProblem(await ask('POST', '/applications', rest), 400, ['permissions'])
  })

  // proves A6.2, A12.13
  test('tells of a new key when it is regenerated, and of no other change', async () => {
    const { body: made } = await ask('POST', '/applications', backend)
    const { key, ...shown } = made
    const path = `/applications/${String(shown['id'])}`
    const answer = await ask('POST', `${path}/regenerate`)
    const { key: fresh, modified_by: by, modified_at: at, ...rest } = answer.body
    expect([answer.status, rest, by]).toEqual([200, shown, managerId])
    expect(typeof at).toBe('string')
    expect([fresh === key, String(fresh).startsWith('key_')]).toEqual([false, true])
    expect((await ask('GET', path)).text).not.toContain('key_')
  })
})

describe('a change of an application', () => {
  // proves C13.5, C13.6
  test('counts in every process at once: grants, a new key, and the end', async () => {
    const { body: made } = await ask('POST', '/applications', backend)
    const path = `/applications/${String(made['id'])}`
    const elsewhere = buildApp(vault.deps)
    const listBy = async (key: unknown) =>
      (await elsewhere.handle(requestOf('GET', '/tokens', { key: String(key) }))).status
    expect(await listBy(made['key'])).toBe(200)
    await ask('PUT', path, { name: 'Backend', permissions: ['token:create'] })
    expect(await listBy(made['key'])).toBe(403)
    await ask('PUT', path, { name: 'Backend', permissions: ['token:read'] })
    expect(await listBy(made['key'])).toBe(200)
    const { body: fresh } = await ask('POST', `${path}/regenerate`)
    expect([await listBy(made['key']), await listBy(fresh['key'])]).toEqual([401, 200])
    expect((await ask('DELETE', path)).status).toBe(204)
    expect(await listBy(fresh['key'])).toBe(401)
  })
})

// proves A8.5
test('the eight permissions that the specification names can be granted', async () => {
  const tokens = ['token:create', 'token:read', 'token:update', 'token:delete']
  const applications = tokens.map(name => name.replace('token', 'application'))
  for (const [type, permissions] of [
    ['private', tokens],
    ['management', applications],
  ] as const) {
    const made = await ask('POST', '/applications', { name: 'all', type, permissions })
    expect([made.status, made.body['permissions']]).toEqual([201, permissions])
    const wrong = type === 'private' ? applications : tokens
    const refused = await ask('POST', '/applications', { name: 'all', type, permissions: wrong })
    expectProblem(refused, 400)
  }
})

const ruleAt = (_: unknown, index: number) => ({ ...rule, priority: index + 1 })
const rules = (count: number) => Array.from({ length: count }, ruleAt)

describe('bounds of what is granted', () => {
  const grants: readonly (readonly [string, object, object, string])[] = [
    [
      'a name of 200 characters',
      { name: '\u{1F600}'.repeat(nameCharsMax / 2) },
      { name: 'x'.repeat(nameCharsMax + 1) },
      'name',
    ],
    [
      'a description of 200 characters',
      { rules: [{ ...rule, description: 'x'.repeat(descriptionCharsMax) }] },
      { rules: [{ ...rule, description: 'x'.repeat(descriptionCharsMax + 1) }] },
      'rules[0].description',
    ],
    ['100 rules', { rules: rules(rulesMax) }, { rules: rules(rulesMax + 1) }, 'rules'],
    [
      '50 permissions',
      { permissions: Array(50).fill('token:read') },
      { permissions: Array(51).fill('token:read') },
      'permissions',
    ],
  ]

  // proves A12.2, A13.10, C11.3, C16.13
  test.each(grants)('%s is taken, and no more', async (_, most, more, path) => {
    const made = await ask('POST', '/applications', { ...backend, ...most })
    expect(made.status).toBe(201)
    expectProblem(await ask('POST', '/applications', { ...backend, ...more }), 400, [path])
    const own = `/applications/${String(made.body['id'])}`
    const { type: _type, ...grant } = backend
    expectProblem(await ask('PUT', own, { ...grant, ...more }), 400, [path])
  })

  // proves C16.16
  test('100 ids in the filter of a list are taken, and no more', async () => {
    const query = (count: number) => `id=${managerId}&`.repeat(count)
    const { status, body } = await ask('GET', `/applications?${query(idFilterMax)}`)
    expect([status, body['pagination']]).toMatchObject([200, { total_items: 1 }])
    expectProblem(await ask('GET', `/applications?${query(idFilterMax + 1)}`), 400, ['query.id'])
  })

  test('hold for the rules of a session too', async () => {
    const { nonce } = await kit.create()
    const long = { ...rule, description: 'x'.repeat(descriptionCharsMax + 1) }
    expectProblem(await kit.authorize(nonce, { rules: [long] }), 400, ['rules[0].description'])
    expectProblem(await kit.authorize(nonce, { rules: rules(rulesMax + 1) }), 400, ['rules'])
    expect((await kit.authorize(nonce, { rules: rules(rulesMax) })).status).toBe(200)
  })
})

describe('a list of applications', () => {
  // proves A12.8
  test.each(['page=0', 'page=x', 'size=0', 'size=101', 'size=1.5'])('refuses %s', async query => {
    expectProblem(await ask('GET', `/applications?${query}`), 400, [`query.${query.split('=')[0]}`])
  })

  // proves A8.4, C4.4
  test('has the shape of every list, and is empty past its end', async () => {
    const all = await ask('GET', '/applications?size=2')
    const total = (all.body['pagination'] as { total_items: number }).total_items
    expect(Object.keys(all.body)).toEqual(['pagination', 'data'])
    expect(all.body['pagination']).toEqual({
      total_items: total,
      page_number: 1,
      page_size: 2,
      total_pages: Math.ceil(total / 2),
    })
    const past = await ask('GET', `/applications?page=${total}&size=2`)
    expect([past.status, past.body['data']]).toEqual([200, []])
  })
})
