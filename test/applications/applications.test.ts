/**
 * Applications over HTTP: all seven operations, with the refusal beside each success.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault(11)
})

const ask = (method: string, path: string, body?: unknown, key = vault.managementKey) =>
  vault.ask(method, path, body === undefined ? { key } : { key, body })

const backend = { name: 'Backend', type: 'private', permissions: ['token:read'] }
const keyPattern = /^key_[1-9A-HJ-NP-Za-km-z]{22}$/

async function make(body: object = backend) {
  const { status, body: made } = await ask('POST', '/applications', body)
  expect(status).toBe(201)
  return { id: String(made['id']), key: String(made['key']), made }
}

describe('creating an application', () => {
  // proves A7.1, C1.33, C13.1
  test('answers 201 with its key, once', async () => {
    const rule = {
      description: 'cards',
      priority: 2,
      container: '/PCI/',
      transform: 'reveal',
      permissions: ['token:read'],
    }
    const body = { ...backend, rules: [rule, { ...rule, priority: 1 }] }
    const answer = await ask('POST', '/applications', body)
    expect(answer.body).toMatchObject({
      tenant_id: vault.tenantId,
      name: 'Backend',
      type: 'private',
      permissions: ['token:read'],
      rules: [
        { priority: 1, container: '/pci/' },
        { priority: 2, container: '/pci/', description: 'cards' },
      ],
      created_at: '2030-01-01T00:00:00.000+00:00',
    })
    expect(answer.body['key']).toMatch(keyPattern)
    expect(answer.headers.get('location')).toBe(`/applications/${String(answer.body['id'])}`)
    const shown = await ask('GET', `/applications/${String(answer.body['id'])}`)
    expect(shown.text).not.toContain('key_')
  })

  const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }
  const refused: readonly (readonly [string, object, readonly string[]])[] = [
    ['no name', { ...backend, name: undefined }, ['name']],
    ['a long name', { ...backend, name: 'x'.repeat(201) }, ['name']],
    ['an unknown type', { ...backend, type: 'canary' }, ['type']],
    ['an unknown permission', { ...backend, permissions: ['canary'] }, ['permissions[0]']],
    [
      'a permission in another case',
      { ...backend, permissions: ['Token:Read'] },
      ['permissions[0]'],
    ],
    ['neither permissions nor rules', { ...backend, permissions: [] }, ['permissions']],
    ['a public application that reads', { ...backend, type: 'public' }, ['permissions[0]']],
    [
      'a management application that reads tokens',
      { ...backend, type: 'management' },
      ['permissions[0]'],
    ],
    [
      'a private application that manages',
      { ...backend, permissions: ['application:create'] },
      ['permissions[0]'],
    ],
    // proves H134
    ['two rules of one priority', { ...backend, rules: [rule, rule] }, ['rules[1].priority']],
    ['priority 0', { ...backend, rules: [{ ...rule, priority: 0 }] }, ['rules[0].priority']],
    [
      'an unknown transform',
      { ...backend, rules: [{ ...rule, transform: 'REVEAL' }] },
      ['rules[0].transform'],
    ],
    [
      'a rule without container',
      { ...backend, rules: [{ ...rule, container: undefined }] },
      ['rules[0].container'],
    ],
    // proves H133
    [
      'a rule with conditions',
      { ...backend, rules: [{ ...rule, conditions: [] }] },
      ['rules[0].conditions'],
    ],
    [
      'a bad container',
      { ...backend, rules: [{ ...rule, container: 'canary' }] },
      ['rules[0].container'],
    ],
    [
      'rules for a management application',
      {
        name: 'm',
        type: 'management',
        permissions: ['application:read'],
        rules: [{ ...rule, permissions: ['application:read'] }],
      },
      ['rules'],
    ],
    ['a past expiry', { ...backend, expires_at: '2029-01-01T00:00:00Z' }, ['expires_at']],
  ]

  // proves A1.6, A6.3, A7.2, A7.4, A7.5, A12.2, A12.3, A12.7, C11.2, C11.8, C11.9, C11.11, C11.15
  test.each(refused)('refuses %s', async (_, body, at) => {
    const answer = await ask('POST', '/applications', body)
    expect([answer.status, Object.keys(answer.body['errors'] ?? {})]).toEqual([400, [...at]])
    expect(answer.text).not.toContain('canary')
    expect(answer.text).not.toContain('key_')
  })

  test('is refused to others than management', async () => {
    const { key } = await make()
    expect((await ask('POST', '/applications', backend, key)).status).toBe(403)
    expect((await vault.ask('POST', '/applications', { body: backend })).status).toBe(401)
  })

  // proves C11.15, H139, H140, S52
  test('hands on no power that the caller lacks', async () => {
    const { key } = await make({
      name: 'clerk',
      type: 'management',
      permissions: ['application:create', 'application:update'],
    })
    const grant = (permissions: readonly string[]) =>
      ask('POST', '/applications', { name: 'x', type: 'management', permissions }, key)
    expect((await grant(['application:create'])).status).toBe(201)
    expect((await grant(['application:delete'])).status).toBe(403)
    const own = String((await ask('GET', '/applications/key', undefined, key)).body['id'])
    const more = { name: 'clerk', permissions: ['application:create', 'application:delete'] }
    expect((await ask('PUT', `/applications/${own}`, more, key)).status).toBe(403)
    const first = String((await ask('GET', '/applications/key')).body['id'])
    expect((await ask('POST', `/applications/${first}/regenerate`, undefined, key)).status).toBe(
      403,
    )
  })
})

describe('reading applications', () => {
  // proves A12.9, A12.10, C13.3
  test('by id, by key, and not across tenants', async () => {
    const { id, key } = await make()
    expect((await ask('GET', `/applications/${id}`)).body['name']).toBe('Backend')
    expect((await ask('GET', `/applications/${id.toUpperCase()}`)).body['id']).toBe(id)
    expect((await ask('GET', '/applications/key', undefined, key)).body['id']).toBe(id)
    for (const own of [id, id.toUpperCase()]) {
      expect((await ask('GET', `/applications/${own}`, undefined, key)).body['id']).toBe(id)
    }
    const another = await make()
    expect((await ask('GET', `/applications/${another.id}`, undefined, key)).status).toBe(403)
    expect((await ask('GET', '/applications/absent', undefined, key)).status).toBe(403)
    const other = await openTestVault(12)
    const foreign = await other.ask('GET', `/applications/${id}`, { key: other.managementKey })
    expect(foreign.status).toBe(404)
    expect((await ask('GET', '/applications/absent')).status).toBe(404)
  })

  // proves A12.8
  test('as a list, newest first, by id and type', async () => {
    const lister = await openTestVault(13)
    for (const type of ['private', 'public', 'private']) {
      await lister.application({ type, permissions: ['token:create'], name: type })
    }
    const list = async (query: string) => {
      const key = lister.managementKey
      const { body } = await lister.ask('GET', `/applications${query}`, { key })
      return [body['data'] as { id: string; type: string }[], body['pagination']] as const
    }
    const [all, pagination] = await list('')
    expect(all.map(({ type }) => type)).toEqual(['private', 'public', 'private', 'management'])
    expect(pagination).toMatchObject({ total_items: 4 })
    expect(JSON.stringify(all)).not.toContain('key_')
    const [byId] = await list(`?id=${all[0]?.id}&id=${all[3]?.id}`)
    expect(byId.map(({ id }) => id)).toEqual([all[0]?.id ?? '', all[3]?.id ?? ''])
    const [byType] = await list('?type=public')
    expect(byType.length).toBe(1)
    const [page] = await list('?page=2&size=3')
    expect(page.map(({ type }) => type)).toEqual(['management'])
  })
})

describe('changing applications', () => {
  // proves A12.12
  test('replaces name, permissions and rules, with effect on the next request', async () => {
    const { id, key } = await make()
    expect((await ask('GET', '/tokens', undefined, key)).status).toBe(200)
    const body = { name: 'Renamed', permissions: ['token:create'] }
    const answer = await ask('PUT', `/applications/${id}`, body)
    expect(answer.body).toMatchObject({
      id,
      name: 'Renamed',
      permissions: ['token:create'],
      rules: [],
    })
    expect(answer.body).toHaveProperty('modified_at')
    expect(answer.body).not.toHaveProperty('key')
    expect((await ask('GET', '/tokens', undefined, key)).status).toBe(403)
  })

  // proves A12.12
  test('refuses grants that the type may not hold, and an absent application', async () => {
    const { id } = await make()
    const bad = { name: 'x', permissions: ['application:read'] }
    expect((await ask('PUT', `/applications/${id}`, bad)).status).toBe(400)
    expect((await ask('PUT', `/applications/${id}`, { name: 'x' })).status).toBe(400)
    const good = { name: 'x', permissions: ['token:read'] }
    expect((await ask('PUT', '/applications/absent', good)).status).toBe(404)
  })

  // proves A1.11, A9.10
  test('a regenerated key replaces the old one at once', async () => {
    const { id, key } = await make()
    expect((await ask('GET', '/applications/key', undefined, key)).status).toBe(200)
    const answer = await vault.ask('POST', `/applications/${id}/regenerate`, {
      key: vault.managementKey,
      type: 'application/x-www-form-urlencoded',
    })
    expect(answer.status).toBe(200)
    expect(answer.body['key']).toMatch(keyPattern)
    expect(answer.body['key']).not.toBe(key)
    expect((await ask('GET', '/applications/key', undefined, key)).status).toBe(401)
    const fresh = await ask('GET', '/applications/key', undefined, String(answer.body['key']))
    expect(fresh.body['id']).toBe(id)
    expect((await ask('POST', '/applications/absent/regenerate')).status).toBe(404)
  })

  test('of many parallel regenerations exactly one key is left', async () => {
    const { id } = await make()
    const path = `/applications/${id}/regenerate`
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('POST', path)))
    const keys = answers.map(({ body }) => String(body['key']))
    const live = await Promise.all(
      keys.map(async key => (await ask('GET', '/applications/key', undefined, key)).status),
    )
    expect(live.filter(status => status === 200).length).toBe(1)
  })
})

describe('deleting applications', () => {
  // proves A9.11, A12.14, C3.6
  test('ends its key at once', async () => {
    const { id, key } = await make()
    expect((await ask('GET', '/applications/key', undefined, key)).status).toBe(200)
    const answer = await ask('DELETE', `/applications/${id}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await ask('GET', '/applications/key', undefined, key)).status).toBe(401)
    expect((await ask('DELETE', `/applications/${id}`)).status).toBe(404)
  })

  // proves C13.8, H147
  test('refuses to delete or disarm the last one that can create applications', async () => {
    const alone = await openTestVault(14)
    const key = alone.managementKey
    const id = String((await alone.ask('GET', '/applications/key', { key })).body['id'])
    const disarmed = { name: 'x', permissions: ['application:read'] }
    expect((await alone.ask('DELETE', `/applications/${id}`, { key })).status).toBe(409)
    expect((await alone.ask('PUT', `/applications/${id}`, { key, body: disarmed })).status).toBe(
      409,
    )
    expect((await alone.ask('GET', '/applications/key', { key })).status).toBe(200)
    await alone.application({ type: 'management', permissions: ['application:create'] })
    expect((await alone.ask('DELETE', `/applications/${id}`, { key })).status).toBe(204)
  })
})
