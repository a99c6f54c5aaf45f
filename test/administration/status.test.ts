/**
 * The state of the vault over HTTP, where no process reports: who is told, and what is left.
 * Served vaults are in `cli/status-answers.test.ts`.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { defaultSettings } from '../../src/settings/settings.ts'
import { expectProblem } from '../support/problem.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const paths = ['/status', '/status/history', '/status/settings']

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault(311, { maskGuard: false })
})

describe.each(paths)('GET %s', path => {
  // proves C19.4, S104
  test('tells a manager of the first tenant who holds status:read', async () => {
    const key = await vault.application({ type: 'management', permissions: ['status:read'] })
    expect((await vault.ask('GET', path, { key })).status).toBe(200)
    const renamed = { key: vault.managementKey, body: { name: 'Renamed' } }
    expect((await vault.ask('PUT', '/tenants/self', renamed)).status).toBe(200)
    expect((await vault.ask('GET', path, { key })).status).toBe(200)
  })

  test('is told in a turn of long work', async () => {
    let taken = 0
    const next = async (): Promise<void> => void (taken += 1)
    const app = buildApp({ ...vault.deps, turns: { ...vault.deps.turns, next } })
    const { status } = await app.handle(requestOf('GET', path, { key: vault.managementKey }))
    expect([status, taken]).toEqual([200, 1])
  })

  // proves C19.4, S104
  test('is refused to all others', async () => {
    const lacking = await vault.application({ type: 'management', permissions: ['log:read'] })
    const tokens = await vault.application({ type: 'private', permissions: ['token:read'] })
    const other = await addTenant(vault)
    for (const key of [lacking, tokens, other.managementKey]) {
      expectProblem(await vault.ask('GET', path, { key }), 403)
    }
    expectProblem(await vault.ask('GET', path), 401)
    const { body } = await vault.ask('GET', path, { key: other.managementKey })
    expect(body['detail']).toContain('first tenant')
    // A later tenant does not take the place of the first.
    expect((await vault.ask('GET', path, { key: vault.managementKey })).status).toBe(200)
  })

  // proves C19.5
  test('is an entry of the audit log, answered or refused', async () => {
    const own = await openTestVault(312)
    const key = await own.application({ type: 'management', permissions: ['log:read'] })
    await own.ask('GET', path, { key: own.managementKey })
    await own.ask('GET', path, { key })
    await own.deps.audit.flush()
    const told = await own.ask('GET', '/logs?entity_type=status&size=10', { key })
    const entries = told.body['data'] as readonly Record<string, unknown>[]
    expect(entries.map(({ result, rule }) => [result, rule])).toEqual([
      [403, 'none'],
      [200, 'status:read'],
    ])
  })
})

// proves C19.1, C19.2
test('a vault that a host serves tells of itself alone', async () => {
  const key = vault.managementKey
  const { body } = await vault.ask('GET', '/status', { key })
  expect(body).toMatchObject({ is_ready: true, failing: [], findings: [], store: 'folder' })
  expect((await vault.ask('GET', '/status/history', { key })).body).toEqual({ samples: [] })
})

// proves C19.3
test('its settings are there, each with whether the program chose it', async () => {
  const key = vault.managementKey
  const { body } = await vault.ask('GET', '/status/settings', { key })
  const settings = body['settings'] as readonly Record<string, unknown>[]
  expect(settings).toHaveLength(Object.keys(defaultSettings).length)
  expect(settings).toContainEqual({ name: 'mask_guard', value: false, from: 'program' })
  expect(settings).toContainEqual({ name: 'strict_masks', value: true, from: 'default' })
  expect(settings).toContainEqual({ name: 'requests_per_second_max', from: 'default' })
})
