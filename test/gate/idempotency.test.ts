/**
 * Idempotency keys: one operation for one key, over restarts and for every process. Contract
 * section 1.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { sweep } from '../../src/vault/sweep.ts'
import { slotOf } from '../../src/http/idempotency.ts'
import { idempotencyKeptMs } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import {
  openTestVault,
  reopenTestVault,
  requestOf,
  type Ask,
  type TestVault,
} from '../support/vault.ts'

async function openWithKey(seed: number) {
  const vault = await openTestVault(seed)
  const permissions = ['token:create', 'token:read', 'token:update']
  const key = await vault.application({ type: 'private', permissions })
  const ask = (method: string, path: string, idempotencyKey: string | undefined, asked: Ask = {}) =>
    vault.ask(method, path, {
      key,
      ...asked,
      ...(idempotencyKey === undefined
        ? {}
        : { headers: { 'SVC-IDEMPOTENCY-KEY': idempotencyKey } }),
    })
  const create = (idempotencyKey: string | undefined, data: unknown = 1, asked: Ask = {}) =>
    ask('POST', '/tokens', idempotencyKey, { body: { type: 'token', data }, ...asked })
  return { vault, key, ask, create }
}

const count = async (vault: TestVault, key: string) => {
  const { body } = await vault.ask('GET', '/tokens', { key })
  return (body['pagination'] as { total_items: number }).total_items
}

describe('the first success of a key answers every repetition', () => {
  // proves C1.36, C1.49
  test('with the same status, body and location', async () => {
    const { vault, key, ask, create } = await openWithKey(120)
    const first = await create('once', canary)
    expect(first.status).toBe(201)
    expect(first.headers.has('svc-idempotent-replay')).toBe(false)
    for (const again of [
      await create('once', canary),
      await ask('POST', '/tokens/', 'once', { body: { type: 'token', data: canary } }),
      await create('once', canary, { type: 'text/plain' }),
    ]) {
      expect([again.status, again.text]).toEqual([201, first.text])
      expect(again.headers.get('location')).toBe(first.headers.get('location') ?? '')
      expect(again.headers.get('svc-idempotent-replay')).toBe('true')
      expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(again.headers.get('svc-trace-id')).not.toBe(first.headers.get('svc-trace-id'))
    }
    expect(await count(vault, key)).toBe(1)
  })

  // proves C1.34
  test('for PATCH and PUT too', async () => {
    const { vault, ask, create } = await openWithKey(121)
    const { body } = await create(undefined)
    const path = `/tokens/${String(body['id'])}`
    const patch = (metadata: unknown) => ask('PATCH', path, 'patched', { body: { metadata } })
    const first = await patch({ a: '1' })
    const again = await patch({ a: '1' })
    expect([first.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('svc-idempotent-replay')).toBe('true')
    const { body: present } = await ask('GET', path, undefined)
    expect(present['modified_at']).toBe(first.body['modified_at'])
    const managed = await vault.ask('POST', '/applications', {
      key: vault.managementKey,
      body: { name: 'before', type: 'public', permissions: ['token:create'] },
    })
    const put = (name: string) =>
      vault.ask('PUT', `/applications/${String(managed.body['id'])}`, {
        key: vault.managementKey,
        headers: { 'SVC-IDEMPOTENCY-KEY': 'put' },
        body: { name, permissions: ['token:create'] },
      })
    const done = await put('first')
    expect(done.body['name']).toBe('first')
    const repeated = await put('first')
    expect([repeated.status, repeated.text]).toEqual([200, done.text])
    expect(repeated.headers.get('svc-idempotent-replay')).toBe('true')
  })

  test('for an answer without a body', async () => {
    const { vault } = await openWithKey(122)
    const publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const { body } = await vault.ask('POST', '/sessions', { key: publicKey })
    const sent = { nonce: body['nonce'], permissions: ['token:create'] }
    const authorize = (headers: Readonly<Record<string, string>>) =>
      vault.ask('POST', '/sessions/authorize', { key, headers, body: sent })
    expect((await authorize({ 'SVC-IDEMPOTENCY-KEY': 'nonce' })).status).toBe(200)
    const again = await authorize({ 'SVC-IDEMPOTENCY-KEY': 'nonce' })
    expect([again.status, again.text]).toEqual([200, ''])
    expect((await authorize({})).status).toBe(409)
  })

  test('also after a restart, and in another process over the same store', async () => {
    const { vault, key, create } = await openWithKey(123)
    const first = await create('kept')
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'kept' }
    const body = { type: 'token', data: 1 }
    const other = buildApp({ ...vault.deps })
    const elsewhere = await other.handle(requestOf('POST', '/tokens', { key, headers, body }))
    expect(await elsewhere.text()).toBe(first.text)
    const restarted = await reopenTestVault(vault, 123)
    const again = await restarted.ask('POST', '/tokens', { key, headers, body })
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(await count(restarted, key)).toBe(1)
  })

  // proves C1.36
  test('for a day, and then the key is free', async () => {
    const { vault, key, create } = await openWithKey(124)
    await create('daily')
    vault.clock.advance(idempotencyKeptMs - 1)
    await create('daily')
    expect(await count(vault, key)).toBe(1)
    vault.clock.advance(1)
    await create('daily')
    expect(await count(vault, key)).toBe(2)
    vault.clock.advance(idempotencyKeptMs)
    expect(await sweep(vault.deps)).toBe(1)
    await create('daily')
    expect(await count(vault, key)).toBe(3)
  })
})

describe('a key counts', () => {
  // proves C1.37, E12.3
  test('for one credential, one method and one path', async () => {
    const { vault, key, ask, create } = await openWithKey(125)
    const first = await create('shared')
    const other = await vault.application({ type: 'private', permissions: ['token:create'] })
    const foreign = await create('shared', 2, { key: other })
    expect([foreign.status, foreign.body['id'] === first.body['id']]).toEqual([201, false])
    expect(foreign.headers.has('svc-idempotent-replay')).toBe(false)
    const path = `/tokens/${String(first.body['id'])}`
    const patched = await ask('PATCH', path, 'shared', { body: { metadata: { a: 'b' } } })
    expect(patched.status).toBe(200)
    expect(patched.headers.has('svc-idempotent-replay')).toBe(false)
    const second = await create(undefined)
    const elsewhere = `/tokens/${String(second.body['id'])}`
    const moved = await ask('PATCH', elsewhere, 'shared', { body: { metadata: { a: 'b' } } })
    expect(moved.headers.has('svc-idempotent-replay')).toBe(false)
    expect(await count(vault, key)).toBe(3)
  })

  // proves C1.34
  test('not for reading and deleting', async () => {
    const { ask, create } = await openWithKey(126)
    const { body } = await create('read')
    const path = `/tokens/${String(body['id'])}`
    for (let times = 0; times < 2; times += 1) {
      const { status, headers } = await ask('GET', path, 'read')
      expect([status, headers.has('svc-idempotent-replay')]).toEqual([200, false])
    }
    expect((await ask('GET', path, ' '.repeat(300))).status).toBe(200)
  })

  test('for an application under its new key too, and runs nothing twice', async () => {
    const { vault } = await openWithKey(127)
    const own = await vault.ask('POST', '/applications', {
      key: vault.managementKey,
      body: { name: 'x', type: 'private', permissions: ['token:create'] },
    })
    const create = async (key: unknown) => {
      const headers = { 'SVC-IDEMPOTENCY-KEY': 'moved' }
      const body = { type: 'token', data: 1 }
      return vault.ask('POST', '/tokens', { key: String(key), headers, body })
    }
    const first = await create(own.body['key'])
    expect(first.status).toBe(201)
    const path = `/applications/${String(own.body['id'])}/regenerate`
    const regenerated = await vault.ask('POST', path, { key: vault.managementKey })
    expect((await create(own.body['key'])).status).toBe(401)
    const again = await create(regenerated.body['key'])
    expect([again.status, again.body['id']]).toEqual([201, first.body['id']])
  })

  test('never for a caller who may not do it any more', async () => {
    const { vault } = await openWithKey(128)
    const made = await vault.ask('POST', '/applications', {
      key: vault.managementKey,
      body: { name: 'x', type: 'private', permissions: ['token:create'] },
    })
    const create = async () =>
      vault.ask('POST', '/tokens', {
        key: String(made.body['key']),
        headers: { 'SVC-IDEMPOTENCY-KEY': 'mine' },
        body: { type: 'token', data: canary },
      })
    expect((await create()).status).toBe(201)
    const path = `/applications/${String(made.body['id'])}`
    const body = { name: 'x', permissions: ['token:read'] }
    await vault.ask('PUT', path, { key: vault.managementKey, body })
    const forbidden = await create()
    expect(forbidden.status).toBe(403)
    expect(forbidden.text).not.toContain(canary)
    await vault.ask('DELETE', path, { key: vault.managementKey })
    expect((await create()).status).toBe(401)
  })
})

// proves C1.37, E12.3
test('keys of two tenants, methods, paths, parameters or queries never meet', async () => {
  const { deps, tenantId } = await openTestVault(137)
  const slotBy = (
    tenant: string,
    ordinal: number,
    method: 'POST' | 'PATCH',
    path: string,
    id: string,
    query = '',
  ) => {
    const credential = { ordinal, version: 1, uniques: [] }
    const caller = { tenantId: tenant, applicationId: 'any', credential }
    const route = { method, path }
    const url = `http://localhost/any${query}`
    const asked = { request: { url }, params: { id } }
    const { unique } = slotOf(deps, caller, route, asked, 'same', new Uint8Array())
    return Buffer.from(unique).toString('hex')
  }
  const uniques = [
    slotBy(tenantId, 7, 'POST', '/a/:id', '1'),
    slotBy('another', 7, 'POST', '/a/:id', '1'),
    slotBy(tenantId, 8, 'POST', '/a/:id', '1'),
    slotBy(tenantId, 7, 'PATCH', '/a/:id', '1'),
    slotBy(tenantId, 7, 'POST', '/b/:id', '1'),
    slotBy(tenantId, 7, 'POST', '/a/:id', '2'),
    slotBy(tenantId, 7, 'POST', '/a/:id', '1', '?mode=partial'),
  ]
  expect(new Set(uniques).size).toBe(uniques.length)
})

describe('a failure is not kept', () => {
  // proves C1.42
  test('and leaves the key to the next request', async () => {
    const { vault, key, create } = await openWithKey(129)
    expect((await create('again', null)).status).toBe(400)
    expect((await create('again', 1, { raw: '[' })).status).toBe(400)
    const taken = { body: { id: 'taken', type: 'token', data: 1 } }
    expect((await create(undefined, 1, taken)).status).toBe(201)
    expect((await create('again', 1, taken)).status).toBe(409)
    expect((await create('again')).status).toBe(201)
    expect(await count(vault, key)).toBe(2)
  })

  // proves C1.35
  test('and a key that is no key is refused, after the permission', async () => {
    const { vault, create } = await openWithKey(130)
    for (const text of ['', 'two words', 'a'.repeat(201), 'caf\u00e9', `${canary} `.repeat(20)]) {
      const { status, body, text: shown } = await create(text)
      expect([text, status]).toEqual([text, 400])
      expect(Object.keys(body['errors'] ?? {})).toEqual(['SVC-IDEMPOTENCY-KEY'])
      expect(shown).not.toContain(canary)
      const refused = await create(text, 1, { key: vault.managementKey })
      expect(refused.status).toBe(403)
    }
    expect((await create('!'.repeat(200))).status).toBe(201)
  })
})

describe('of two requests at the same time', () => {
  // proves C1.38
  test('one runs, and the others are told so or get its answer', async () => {
    const { vault, key, create } = await openWithKey(131)
    const all = await Promise.all(Array.from({ length: 20 }, () => create('race')))
    const statuses = new Set(all.map(({ status }) => status))
    expect([...statuses].every(status => status === 201 || status === 409)).toBe(true)
    expect(statuses.has(201)).toBe(true)
    expect(await count(vault, key)).toBe(1)
    expect((await create('race')).headers.get('svc-idempotent-replay')).toBe('true')
  })
})
