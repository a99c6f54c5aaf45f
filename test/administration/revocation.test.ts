/**
 * The end of every API key and session, in a vault of several tenants.
 */
import { expect, test } from 'bun:test'
import { revokeEverything } from '../../src/vault/operator/revocation.ts'
import { openSessionKit } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault } from '../support/vault.ts'

// proves S15
test('every tenant has one new manager, and no other key of any tenant works', async () => {
  const first = await openTestVault()
  const second = await addTenant(first)
  const kits = [await openSessionKit(first), await openSessionKit(second)]
  const sessions = [await kits[0]?.create(), await kits[1]?.create()].map(one => one?.key ?? '')
  const before = kits.flatMap(kit => [kit.creator.key, kit.authorizer.key])
  before.push(first.managementKey, second.managementKey, ...sessions)
  const { keys, sessions: ended, managers } = await revokeEverything(first.deps, () => {})
  expect([keys, ended]).toEqual([6, 2])
  const tenants = managers.map(({ record }) => record.tenantId)
  expect(tenants.toSorted()).toEqual([first.tenantId, second.tenantId].toSorted())
  for (const key of before) {
    expect((await first.ask('GET', '/tenants/self', { key })).status).toBe(401)
  }
  for (const { record, key } of managers) {
    const own = await first.ask('GET', '/tenants/self', { key: key.reveal() })
    expect([own.status, own.body['id']]).toEqual([200, record.tenantId])
    const shown = await first.ask('GET', '/applications', { key: key.reveal() })
    expect(shown.status).toBe(200)
  }
})

// proves S15
test('webhooks get nothing more until somebody enables them, and stay', async () => {
  const vault = await openTestVault()
  const { deps, managementKey } = vault
  const events = ['token.created']
  const body = { name: 'Deleted since', url: 'https://hooks.example/old', events }
  for (const status of ['enabled', 'disabled']) {
    const made = await vault.ask('POST', '/webhooks', { key: managementKey, body })
    const path = `/webhooks/${String(made.body['id'])}`
    const kept = { ...body, status }
    expect((await vault.ask('PUT', path, { key: managementKey, body: kept })).status).toBe(200)
  }
  const { managers, webhooks } = await revokeEverything(deps, () => {})
  expect(webhooks).toBe(1)
  const key = managers[0]?.key.reveal() ?? ''
  const listed = await vault.ask('GET', '/webhooks', { key })
  expect(listed.body['data']).toMatchObject(
    Array.from({ length: 2 }, () => ({ ...body, status: 'disabled' })),
  )
})

test('keys that were revoked once are not counted again, but for the new key', async () => {
  const vault = await openTestVault()
  expect(await revokeEverything(vault.deps, () => {})).toMatchObject({ keys: 1, sessions: 0 })
  expect(await revokeEverything(vault.deps, () => {})).toMatchObject({ keys: 1, sessions: 0 })
})
