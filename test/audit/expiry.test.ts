/**
 * A token that expires has an entry that lands with its removal.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { sweep } from '../../src/vault/sweep.ts'
import { makeExpiryEntries } from '../../src/vault/sweep-entries.ts'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

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

/** @returns operations and ids of the entries of tokens that were added meanwhile */
async function enteredBy(vault: TestVault, work: () => Promise<unknown>) {
  const before = (await entriesOf(vault)).length
  await work()
  const entries = (await entriesOf(vault)).slice(before)
  return entries.map(({ entry: { operation, entityIds } }) => [operation, entityIds])
}

describe('a token that expired, and is in the way before the sweep came, has its entry', () => {
  const open = async () => {
    const vault = await openTestVault(73)
    const permissions = ['token:create', 'token:read', 'token:update'] as const
    const key = await vault.application({ type: 'private', permissions: [...permissions] })
    const ask = async (method: string, path: string, body: object) => {
      const { status } = await vault.ask(method, path, { key, body })
      expect(status).toBe(method === 'POST' ? 201 : 200)
    }
    const create = (id: string, data: string, more: object = {}) =>
      ask('POST', '/tokens', { id, type: 'token', data, ...more })
    const expires_at = new Date(vault.clock.now() + 60_000).toISOString()
    const ends = { deduplicate_token: true, expires_at }
    return { vault, create, ask, ends }
  }

  test('where a create takes its id', async () => {
    const { vault, create, ends } = await open()
    await create('taken', 'one', ends)
    vault.clock.advance(60_000)
    expect(await enteredBy(vault, () => create('taken', 'two'))).toEqual([
      ['tokenExpired', ['taken']],
      ['createToken', ['taken']],
    ])
    await vault.deps.store.close()
  })

  test('also where its record is too long to be glanced at', async () => {
    const { vault, create, ends } = await open()
    const pairs = Array.from({ length: 50 }, (_, at) => [`name ${at}`, 'x'.repeat(500)])
    await create('long', 'one', { ...ends, metadata: Object.fromEntries(pairs) })
    vault.clock.advance(60_000)
    expect(await enteredBy(vault, () => create('long', 'two'))).toEqual([
      ['tokenExpired', ['long']],
      ['createToken', ['long']],
    ])
    await vault.deps.store.close()
  })

  test('where a create, or an update, takes its seat', async () => {
    const { vault, create, ask, ends } = await open()
    await create('first', 'one', ends)
    await create('second', 'two', ends)
    await create('later', 'three')
    vault.clock.advance(60_000)
    const seated = { deduplicate_token: true }
    expect(await enteredBy(vault, () => create('third', 'one', seated))).toEqual([
      ['tokenExpired', ['first']],
      ['createToken', ['third']],
    ])
    const change = () => ask('PATCH', '/tokens/later', { data: 'two', ...seated })
    expect(await enteredBy(vault, change)).toEqual([
      ['tokenExpired', ['second']],
      ['updateToken', ['later']],
    ])
    await vault.deps.store.close()
  })
})
