/**
 * A token that expires has an entry that lands with its removal.
 * @module
 */
import { expect, test } from 'bun:test'
import { sweep } from '../../src/vault/sweep.ts'
import { makeExpiryEntries } from '../../src/vault/sweep-entries.ts'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault } from '../support/vault.ts'

test('a token that expires has an entry; a session and a kept effect have none', async () => {
  const vault = await openTestVault(72)
  const { deps, clock } = vault
  const maker = await vault.application({ type: 'public', permissions: ['token:create'] })
  const expires_at = new Date(clock.now() + 60_000).toISOString()
  for (const id of ['short-1', 'short-2']) {
    const body = { id, type: 'token', data: 'value', expires_at }
    const headers = { 'svc-idempotency-key': id }
    expect((await vault.ask('POST', '/tokens', { key: maker, body, headers })).status).toBe(201)
  }
  expect((await vault.ask('POST', '/sessions', { key: maker })).status).toBe(201)
  const before = (await entriesOf(vault)).length
  clock.advance(48 * 60 * 60 * 1_000)
  expect(await sweep(deps, undefined, makeExpiryEntries(deps))).toBe(5)
  const entries = (await entriesOf(vault)).slice(before).map(({ entry }) => entry)
  expect(entries.map(({ operation, entityIds }) => [operation, entityIds])).toEqual([
    ['tokenExpired', ['short-1']],
    ['tokenExpired', ['short-2']],
  ])
  expect(entries[0]).toMatchObject({ tenantId: vault.tenantId, actorType: 'vault', result: 200 })
  await deps.store.close()
})
