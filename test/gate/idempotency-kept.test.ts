/**
 * Records of a request with an idempotency key, and the write that makes each: one for the claim,
 * the operation and its effect. Contract section 1.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildApp } from '../../src/server/listen/app.ts'
import { idempotencyEffectBytesMax } from '../../src/limits/limits.ts'
import { unsealEveryValue } from '../../src/records/seal-row.ts'
import type { Store } from '../../src/store/contract.ts'
import type { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

async function openWithKey(seed: number) {
  const vault = await openTestVault(seed)
  const permissions = ['token:create', 'token:read']
  const key = await vault.application({ type: 'private', permissions })
  const create = (idempotencyKey: string, data: unknown = 1) =>
    vault.ask('POST', '/tokens', {
      key,
      headers: { 'SVC-IDEMPOTENCY-KEY': idempotencyKey },
      body: { type: 'token', data },
    })
  return { vault, key, create }
}

const count = async (vault: TestVault, key: string) => {
  const { body } = await vault.ask('GET', '/tokens', { key })
  return (body['pagination'] as { total_items: number }).total_items
}

/** The application over a store of which a test holds or breaks the writes. */
function appWith(vault: TestVault, write: Store['write']) {
  const { store } = vault.deps
  const app = buildApp({ ...vault.deps, store: { ...store, write } })
  return async (method: string, path: string, asked: Ask) => {
    const response = await app.handle(requestOf(method, path, asked))
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, text: await response.text(), retryAfter }
  }
}

describe('a request that is under way', () => {
  // proves C1.38
  test('refuses others of its key, and leaves nothing when it fails', async () => {
    const { vault, key, create: createElsewhere } = await openWithKey(132)
    const { store } = vault.deps
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const ask = appWith(vault, async changes => {
      begun.resolve()
      await held.promise
      return store.write(changes)
    })
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'held' }
    const create = (data: unknown) =>
      ask('POST', '/tokens', { key, headers, body: { type: 'token', data } })
    const first = create(1)
    await begun.promise
    // Each may pass once the first has its answer.
    expect(await create(1)).toMatchObject({ status: 409, retryAfter: '1' })
    expect(await create(2)).toMatchObject({ status: 409, retryAfter: '1' })
    held.reject(new TypeError('any'))
    expect((await first).status).toBe(500)
    expect(await count(vault, key)).toBe(0)
    expect((await createElsewhere('held', 2)).status).toBe(201)
  })

  // proves C1.40
  test('binds nobody in another process once its own is dead', async () => {
    const { vault, key, create } = await openWithKey(133)
    const begun = Promise.withResolvers<void>()
    const dead = appWith(vault, () => {
      begun.resolve()
      return new Promise(() => {})
    })
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'dead' }
    void dead('POST', '/tokens', { key, headers, body: { type: 'token', data: 1 } })
    await begun.promise
    expect((await create('dead')).status).toBe(201)
    expect(await count(vault, key)).toBe(1)
  })
})

test('a write whose credential was changed meanwhile is decided anew, and once', async () => {
  const { vault, key, create } = await openWithKey(145)
  const { store } = vault.deps
  const own = await vault.ask('GET', '/applications/key', { key })
  const path = `/applications/${String(own.body['id'])}`
  let isChanged = false
  const ask = appWith(vault, async changes => {
    if (!isChanged) {
      isChanged = true
      const body = { name: 'renamed', permissions: ['token:create', 'token:read'] }
      await vault.ask('PUT', path, { key: vault.managementKey, body })
    }
    return store.write(changes)
  })
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'moved' }
  const sent = { key, headers, body: { type: 'token', data: 1 } }
  const first = await ask('POST', '/tokens', sent)
  expect([isChanged, first.status]).toEqual([true, 201])
  const again = await create('moved')
  expect([again.text, again.headers.get('svc-idempotent-replay')]).toEqual([first.text, 'true'])
  expect(await count(vault, key)).toBe(1)
})

describe('a done request', () => {
  // proves C1.39
  test('is told after a process that died between its write and its answer', async () => {
    const { vault, key, create } = await openWithKey(138)
    const { store } = vault.deps
    const dying = appWith(vault, async changes => {
      await store.write(changes)
      throw new TypeError('dies here')
    })
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'died' }
    const body = { type: 'token', data: 1 }
    expect((await dying('POST', '/tokens', { key, headers, body })).status).toBe(500)
    const again = await create('died')
    expect([again.status, again.headers.get('svc-idempotent-replay')]).toEqual([201, 'true'])
    expect(await count(vault, key)).toBe(1)
  })

  test('is not kept where it takes too long to tell, and is not done again', async () => {
    const { vault, key } = await openWithKey(134)
    const id = (index: number) => `${'\u{1F600}'.repeat(390)}${String(index).padStart(4, '0')}`
    const body = Array.from({ length: 990 }, (_, index) => ({
      id: id(index),
      type: 'token',
      data: 1,
    }))
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'long' }
    const { deps } = vault
    const wide = buildApp({ ...deps, settings: { ...deps.settings, bodyBytesMax: 2 ** 24 } })
    const tokenize = async () => {
      const response = await wide.handle(requestOf('POST', '/tokenize', { key, headers, body }))
      return { status: response.status, text: await response.text() }
    }
    expect(Buffer.byteLength(body.map(({ id }) => id).join(''))).toBeGreaterThan(
      idempotencyEffectBytesMax,
    )
    expect((await tokenize()).status).toBe(200)
    const again = await tokenize()
    expect(again.status).toBe(409)
    expect(again.text).toContain('could not be kept')
    expect(await count(vault, key)).toBe(990)
  })

  // proves C1.47, E7, S66
  test('is kept without a word of data, key or body', async () => {
    const { vault, key, create } = await openWithKey(136)
    const made = await create(canary, { secret: canary })
    const { deps, tenantId } = vault
    const slots = { scope: deps.keys.tenant(tenantId), collection: 'idempotency' } as const
    const store = deps.store as Awaited<ReturnType<typeof openLmdbStore>>
    const texts = [...store.everyRow()].flatMap(row => {
      try {
        return unsealEveryValue(slots, row).map(value => Buffer.from(value).toString())
      } catch {
        return []
      }
    })
    expect(texts.length).toBe(1)
    const [kept = ''] = texts
    expect(kept).toContain(String(made.body['id']))
    expect(kept).not.toContain(canary)
    const sent = JSON.stringify({ type: 'token', data: { secret: canary } })
    expect(kept).not.toContain(new Bun.CryptoHasher('sha256').update(sent).digest('hex'))
    const files = readdirSync(vault.folder).map(name => readFileSync(join(vault.folder, name)))
    for (const text of [canary, String(made.body['id'])]) {
      expect(files.some(bytes => bytes.includes(text))).toBe(false)
    }
    expect((await vault.ask('GET', '/tokens', { key })).status).toBe(200)
  })
})
