/**
 * Expiry, on both sides of the instant. Source: contract section 10.
 * @module
 */
import { describe, expect, spyOn, test } from 'bun:test'
import { sweep } from '../../src/vault/sweep.ts'
import { openTestVault } from '../support/vault.ts'

const lifetimeMs = 60_000

async function vaultWithToken() {
  const vault = await openTestVault(5)
  const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']
  const key = await vault.application({ type: 'private', permissions })
  const body = { id: 'brief', type: 'token', data: 1, expires_at: '2030-01-01T00:01:00Z' }
  const made = await vault.ask('POST', '/tokens', { key, body })
  expect(made.body['expires_at']).toBe('2030-01-01T00:01:00.000+00:00')
  const ask = (method: string, path = '/tokens/brief', sent?: unknown) =>
    vault.ask(method, path, sent === undefined ? { key } : { key, body: sent })
  return { vault, ask, body }
}

describe('a token with an expiry', () => {
  // proves A4.2, C10.4, H111
  test('is there until the instant, and from it on is gone for every operation', async () => {
    const { vault, ask } = await vaultWithToken()
    vault.clock.advance(lifetimeMs - 1)
    expect((await ask('GET')).status).toBe(200)
    expect((await ask('GET', '/tokens')).text).toContain('"total_items":1')
    vault.clock.advance(1)
    expect((await ask('GET')).status).toBe(404)
    expect((await ask('PATCH', '/tokens/brief', { expires_at: null })).status).toBe(404)
    expect((await ask('DELETE')).status).toBe(404)
    expect((await ask('GET', '/tokens')).text).toContain('"total_items":0')
  })

  test('leaves its id to the next token even before the sweep', async () => {
    const { vault, ask, body } = await vaultWithToken()
    expect((await ask('POST', '/tokens', { ...body, expires_at: null })).status).toBe(409)
    vault.clock.advance(lifetimeMs)
    expect((await ask('POST', '/tokens', { ...body, data: 2, expires_at: null })).status).toBe(201)
    expect(await sweep(vault.deps)).toBe(0)
    expect((await ask('GET')).status).toBe(200)
  })

  // proves A9.4, C10.7
  test('is swept from the store once it is due, not before', async () => {
    const { vault } = await vaultWithToken()
    expect(await sweep(vault.deps)).toBe(0)
    vault.clock.advance(lifetimeMs)
    expect((await vault.deps.store.due(vault.clock.now(), 10)).length).toBe(1)
    expect(await sweep(vault.deps)).toBe(1)
    expect((await vault.deps.store.due(vault.clock.now(), 10)).length).toBe(0)
  })

  // proves C10.4
  test('that expires while its change waits is gone, and no change brings it back', async () => {
    const { vault, ask } = await vaultWithToken()
    const { store } = vault.deps
    const glancing = spyOn(store, 'glance').mockImplementationOnce(async (unique, parts) => {
      glancing.mockRestore()
      const found = await store.glance(unique, parts)
      vault.clock.advance(lifetimeMs)
      return found
    })
    expect((await ask('PATCH', '/tokens/brief', { expires_at: null })).status).toBe(404)
    expect((await ask('GET')).status).toBe(404)
    expect((await ask('GET', '/tokens')).text).toContain('"total_items":0')
  })

  test('that was prolonged stays', async () => {
    const { vault, ask } = await vaultWithToken()
    await ask('PATCH', '/tokens/brief', { expires_at: '2030-01-02T00:00:00Z' })
    vault.clock.advance(lifetimeMs)
    expect(await sweep(vault.deps)).toBe(0)
    expect((await ask('GET')).status).toBe(200)
  })
})

// proves H125, S54
test('an application with an expiry is refused from the instant on', async () => {
  const vault = await openTestVault(6)
  const key = await vault.application({
    type: 'private',
    permissions: ['token:read'],
    expires_at: '2030-01-01T00:01:00Z',
  })
  vault.clock.advance(lifetimeMs - 1)
  expect((await vault.ask('GET', '/applications/key', { key })).status).toBe(200)
  vault.clock.advance(1)
  expect((await vault.ask('GET', '/applications/key', { key })).status).toBe(401)
})
