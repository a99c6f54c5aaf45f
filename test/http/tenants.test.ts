/**
 * The own tenant, and the permissions that can be granted. Source: contract section 15.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let privateKey: string
let publicKey: string

beforeAll(async () => {
  vault = await openTestVault(81)
  privateKey = await vault.application({ type: 'private', permissions: ['token:read'] })
  publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
})

test('the tenant of a key is shown to whoever holds tenant:read', async () => {
  const answer = await vault.ask('GET', '/tenants/self', { key: vault.managementKey })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ id: vault.tenantId, created_at: '2030-01-01T00:00:00.000+00:00' })
})

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

test('every application reads the permissions, as a bare array', async () => {
  for (const key of [vault.managementKey, privateKey, publicKey]) {
    const answer = await vault.ask('GET', '/permissions', { key })
    expect(answer.status).toBe(200)
    const listed = answer.body as unknown as Record<string, unknown>[]
    expect(listed).toHaveLength(22)
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

test('what is listed can be granted to just the types that are listed with it', async () => {
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

test('the permissions are refused without a key, and to a session', async () => {
  expectProblem(await vault.ask('GET', '/permissions'), 401)
  const { body } = await vault.ask('POST', '/sessions', { key: publicKey })
  const key = String(body['session_key'])
  expectProblem(await vault.ask('GET', '/permissions', { key }), 403, undefined, [key])
})
