/**
 * The own tenant, and the permissions that can be granted. Source: contract section 15.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { unguardedPermissions } from '../../src/rules/permissions.ts'
import { expectProblem } from '../support/problem.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let privateKey: string
let publicKey: string

beforeAll(async () => {
  vault = await openTestVault(81)
  privateKey = await vault.application({ type: 'private', permissions: ['token:read'] })
  publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
})

// proves C15.20, C15.22
test('the tenant of a key is shown to a caller who holds tenant:read', async () => {
  const answer = await vault.ask('GET', '/tenants/self', { key: vault.managementKey })
  expect(answer.status).toBe(200)
  const { body: owner } = await vault.ask('GET', '/applications/key', { key: vault.managementKey })
  expect(answer.body).toEqual({
    id: vault.tenantId,
    owner_id: owner['id'],
    name: 'First tenant',
    created_at: '2030-01-01T00:00:00.000+00:00',
  })
})

// proves C15.21
test('the tenant is renamed by a caller who holds tenant:update, and by nobody else', async () => {
  const own = await openTestVault(83)
  const reader = await own.application({ type: 'management', permissions: ['tenant:read'] })
  const writer = await own.application({ type: 'management', permissions: ['tenant:update'] })
  const { body: before } = await own.ask('GET', '/tenants/self', { key: reader })
  const body = { name: 'Shop', owner_id: 'other', settings: { a: 'b' } }
  const browser = await own.application({ type: 'public', permissions: ['token:create'] })
  for (const key of [reader, browser]) {
    expectProblem(await own.ask('PUT', '/tenants/self', { key, body }), 403, undefined, ['Shop'])
  }
  expectProblem(await own.ask('PUT', '/tenants/self', { body }), 401)
  const long = 'x'.repeat(201)
  for (const wrong of [{}, { name: '' }, { name: long }, { name: null }, { name: 1 }]) {
    const answer = await own.ask('PUT', '/tenants/self', { key: writer, body: wrong })
    expectProblem(answer, 400, ['name'])
  }
  expect((await own.ask('GET', '/tenants/self', { key: reader })).body).toEqual(before)
  const answer = await own.ask('PUT', '/tenants/self', { key: writer, body })
  const { id: writerId } = (await own.ask('GET', '/applications/key', { key: writer })).body
  const after = { ...before, name: 'Shop', modified_by: writerId }
  expect([answer.status, answer.body]).toEqual([
    200,
    { ...after, modified_at: expect.any(String) as string },
  ])
  expect((await own.ask('GET', '/tenants/self', { key: reader })).body).toEqual(answer.body)
  expectProblem(await own.ask('GET', '/tenants/self', { key: writer }), 403)
})

// proves C15.21
test('a tenant is renamed once under an idempotency key', async () => {
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'rename' }
  const { managementKey: key } = await addTenant(vault)
  const ask = { key, headers, body: { name: 'Once' } }
  const first = await vault.ask('PUT', '/tenants/self', ask)
  const again = await vault.ask('PUT', '/tenants/self', ask)
  expect([again.status, again.body]).toEqual([200, first.body])
  expect(again.headers.get('svc-idempotent-replay')).toBe('true')
})

// proves C15.20
test('the tenant is refused to all others', async () => {
  const key = await vault.application({ type: 'management', permissions: ['application:read'] })
  for (const other of [key, privateKey, publicKey]) {
    const answer = await vault.ask('GET', '/tenants/self', { key: other })
    expectProblem(answer, 403, undefined, [vault.tenantId])
  }
  expectProblem(await vault.ask('GET', '/tenants/self'), 401, undefined, [vault.tenantId])
  const foreign = await openTestVault(82)
  const ask = { key: foreign.managementKey }
  expectProblem(await vault.ask('GET', '/tenants/self', ask), 401, undefined, [vault.tenantId])
})

// proves C15.6
test('every application reads the permissions, as a bare array', async () => {
  for (const key of [vault.managementKey, privateKey, publicKey]) {
    const answer = await vault.ask('GET', '/permissions', { key })
    expect(answer.status).toBe(200)
    const listed = answer.body as unknown as Record<string, unknown>[]
    expect(listed).toHaveLength(24)
    expect(listed).toContainEqual({
      type: 'token:create',
      description: 'Create tokens',
      application_types: ['private', 'public'],
    })
    expect(listed).toContainEqual({
      type: 'tenant:read',
      description: 'Read the tenant',
      application_types: ['management'],
    })
  }
})

// proves C15.7
test('the permissions of one type of application are listed by themselves', async () => {
  const list = async (query: string) => {
    const answer = await vault.ask('GET', `/permissions?${query}`, { key: publicKey })
    expect(answer.status).toBe(200)
    return answer.body as unknown as { type: string; application_types: string[] }[]
  }
  const all = await list('')
  for (const type of ['private', 'public', 'management']) {
    const some = all.filter(({ application_types: types }) => types.includes(type))
    expect(await list(`application_type=${type}`)).toEqual(some)
    expect(some.length).toBeLessThan(all.length)
  }
  expect((await list('application_type=public')).map(({ type }) => type)).toEqual([
    'token:create',
    'token:update',
  ])
  expect(await list('application_type=private&application_type=management')).toEqual(all)
  for (const wrong of ['session', 'canary', '', 'Private', 'private,public']) {
    const query = `application_type=public&application_type=${wrong}`
    const answer = await vault.ask('GET', `/permissions?${query}`, { key: publicKey })
    expectProblem(answer, 400, ['query.application_type'], ['canary'])
  }
})

// proves A1.6, A6.3, C11.1
test('a listed permission can be granted to just the types that are listed with it', async () => {
  const { body } = await vault.ask('GET', '/permissions', { key: vault.managementKey })
  const listed = body as unknown as { type: string; application_types: string[] }[]
  for (const { type: permission, application_types: types } of listed) {
    for (const type of ['private', 'public', 'management']) {
      const ask = { name: 'granted', type, permissions: [permission] }
      const answer = await vault.ask('POST', '/applications', {
        key: vault.managementKey,
        body: ask,
      })
      expect([permission, type, answer.status]).toEqual([
        permission,
        type,
        types.includes(type) ? 201 : 400,
      ])
    }
  }
})

describe('permissions that guard nothing', () => {
  test.each(unguardedPermissions)('%s is offered nowhere', async unguarded => {
    const key = vault.managementKey
    const listed = await vault.ask('GET', '/permissions', { key })
    expect(JSON.stringify(listed.body)).not.toContain(unguarded)
    for (const permission of ['canary:read', 'token:read']) {
      const body = { name: 'told', type: 'management', permissions: [permission] }
      const refused = await vault.ask('POST', '/applications', { key, body })
      expectProblem(refused, 400, ['permissions[0]'], ['canary', unguarded])
    }
    const { body } = await vault.ask('GET', '/swagger/json')
    const { components } = body as unknown as {
      components: { schemas: Record<string, { enum: string[] }> }
    }
    expect(components.schemas['PermissionName']?.enum).not.toContain(unguarded)
  })

  test('are taken where they are sent, shown where held, and kept by a change', async () => {
    const key = vault.managementKey
    const grants = { name: 'of before', permissions: [...unguardedPermissions] }
    const body = { ...grants, type: 'management' }
    const { body: made, status } = await vault.ask('POST', '/applications', { key, body })
    expect(status).toBe(201)
    expect(made['permissions']).toEqual([...unguardedPermissions])
    const path = `/applications/${String(made['id'])}`
    expect((await vault.ask('PUT', path, { key, body: grants })).status).toBe(200)
    expect((await vault.ask('GET', path, { key })).body['permissions']).toEqual(grants.permissions)
    const own = await vault.ask('GET', '/applications/key', { key: String(made['key']) })
    expect(own.status).toBe(200)
    for (const type of ['private', 'public']) {
      const refused = await vault.ask('POST', '/applications', { key, body: { ...grants, type } })
      expect(refused.status).toBe(400)
    }
  })
})

// proves C15.6
test('the permissions are refused without a key, and to a session', async () => {
  expectProblem(await vault.ask('GET', '/permissions'), 401)
  const { body } = await vault.ask('POST', '/sessions', { key: publicKey })
  const key = String(body['session_key'])
  expectProblem(await vault.ask('GET', '/permissions', { key }), 403, undefined, [key])
})
