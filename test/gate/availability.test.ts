/**
 * Requests that the vault cannot serve: a full disk, a store that fails, an end under way. Contract
 * section 2; hardening H162, H164.
 * @module
 */
import { freeSpaceBytesMin } from '../../src/limits/operation-limits.ts'
import { describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import type { Deps } from '../../src/deps.ts'
import { freeSpaceProbeMs, reserveBytesToRemoveMin } from '../../src/store/core/limits.ts'
import { sumSealerOf } from '../../src/records/sum-sealer.ts'
import type { Store } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import type { Allocate } from '../../src/store/lmdb/write/disk-reserve.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault, requestOf, type Ask } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

async function openParts(seed: number) {
  const vault = await openTestVault(seed)
  const key = await vault.application({ type: 'private', permissions })
  await vault.ask('POST', '/tokens', { key, body: { id: 'kept', type: 'token', data: 1 } })
  return { vault, key, create: { key, body: { id: 'new', type: 'token', data: canary } } }
}

/** The application over another store. */
const askOver = (deps: Deps) => {
  const app = buildApp(deps)
  return (method: string, path: string, ask: Ask) => app.handle(requestOf(method, path, ask))
}

describe('a disk that is nearly full', () => {
  // proves C2.28, H162
  test('refuses what adds, goes on with the rest, and recovers by itself', async () => {
    const { vault, key, create } = await openParts(140)
    await vault.deps.store.close()
    let free = freeSpaceBytesMin - 1
    const store = await openLmdbStore({ path: vault.folder, freeBytes: () => free })
    store.keepSum(sumSealerOf(vault.deps.keys))
    const ask = askOver({ ...vault.deps, store })
    const refused = await ask('POST', '/tokens', create)
    expect(refused.status).toBe(507)
    const problem = await refused.text()
    expect(problem).toContain('Insufficient Storage')
    expect(problem).not.toContain(canary)
    const patch = { key, body: { metadata: { a: 'b' } } }
    expect((await ask('PATCH', '/tokens/kept', patch)).status).toBe(507)
    expect((await ask('GET', '/tokens/kept', { key })).status).toBe(200)
    expect((await ask('GET', '/tokens/new', { key })).status).toBe(404)
    expect((await ask('DELETE', '/tokens/kept', { key })).status).toBe(204)
    free = freeSpaceBytesMin
    await Bun.sleep(freeSpaceProbeMs + 50)
    expect((await ask('POST', '/tokens', create)).status).toBe(201)
    await store.close()
  })
})

describe('a disk that another program fills at once', () => {
  /** The vault over a store whose file can grow by so much. */
  const openOver = async (left: () => number, seed: number) => {
    const { vault, key, create } = await openParts(seed)
    await vault.deps.store.close()
    const allocate: Allocate = (_, position, length) => position === 0 || length <= left()
    const store = await openLmdbStore({ path: vault.folder, allocate })
    store.keepSum(sumSealerOf(vault.deps.keys))
    return { ask: askOver({ ...vault.deps, store }), key, create, store }
  }

  test('refuses what adds, and lets go what is removed', async () => {
    const { ask, key, create, store } = await openOver(() => reserveBytesToRemoveMin, 143)
    expect((await ask('POST', '/tokens', create)).status).toBe(507)
    expect((await ask('GET', '/tokens/new', { key })).status).toBe(404)
    expect((await ask('DELETE', '/tokens/kept', { key })).status).toBe(204)
    expect((await ask('GET', '/tokens/kept', { key })).status).toBe(404)
    await store.close()
  })

  test('refuses every change when nothing is left, and recovers by itself', async () => {
    let left = 0
    const { ask, key, create, store } = await openOver(() => left, 144)
    expect((await ask('DELETE', '/tokens/kept', { key })).status).toBe(507)
    expect((await ask('GET', '/tokens/kept', { key })).status).toBe(200)
    left = Infinity
    expect((await ask('DELETE', '/tokens/kept', { key })).status).toBe(204)
    expect((await ask('POST', '/tokens', create)).status).toBe(201)
    await store.close()
  })
})

describe('a store that fails', () => {
  // proves C2.31
  test('is 503, and says when to come back', async () => {
    const { vault, key, create } = await openParts(141)
    await vault.deps.store.close()
    for (const answer of [
      await vault.ask('GET', '/tokens/kept', { key }),
      await vault.ask('POST', '/tokens', create),
    ]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(answer.text).not.toContain(canary)
    }
    expect((await vault.ask('GET', '/absent', { key })).status).toBe(404)
  })

  // proves C1.32, C2.6
  test('in a way that nobody foresaw is 500, told in the log with the trace id alone', async () => {
    const { vault, key } = await openParts(142)
    const store: Store = {
      ...vault.deps.store,
      find: () => Promise.reject(new TypeError(`not a function: ${canary}`)),
    }
    store.keepSum(sumSealerOf(vault.deps.keys))
    const ask = askOver({ ...vault.deps, store })
    const headers = { 'SVC-TRACE-ID': 'trace-of-the-fault' }
    const answer = await ask('GET', '/tokens/kept', { key, headers })
    const problem = await answer.text()
    expect(answer.status).toBe(500)
    expect(answer.headers.get('svc-trace-id')).toBe('trace-of-the-fault')
    expect(JSON.parse(problem)).toMatchObject({ instance: 'urn:trace:trace-of-the-fault' })
    expect(vault.logged.length).toBe(1)
    expect(vault.logged[0]).toContain('"trace_id":"trace-of-the-fault"')
    expect(problem + vault.logged.join()).not.toContain(canary)
  })
})

describe('an end under way', () => {
  // proves C2.31
  test('answers what came before, and 503 to what comes after', async () => {
    const { vault, key, create } = await openParts(143)
    const app = buildApp(vault.deps)
    const text = JSON.stringify(create.body)
    const rest = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from(text.slice(0, 9)))
        await rest.promise
        controller.enqueue(Buffer.from(text.slice(9)))
        controller.close()
      },
    })
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' }
    const request = new Request('http://localhost/tokens', { method: 'POST', headers, body })
    const early = app.handle(request)
    await Bun.sleep(5)
    let isDrained = false
    const drained = app.drain().then(() => {
      isDrained = true
    })
    for (const path of ['/tokens/kept', '/absent', '/swagger']) {
      const late = await app.handle(requestOf('GET', path, { key }))
      expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1'])
      expect(late.headers.get('svc-trace-id')).not.toBeNull()
      expect(await late.json()).toMatchObject({ status: 503, title: 'Service Unavailable' })
    }
    expect(isDrained).toBe(false)
    rest.resolve()
    expect((await early).status).toBe(201)
    await drained
    expect(isDrained).toBe(true)
  })

  test('is at once where nothing is under way', async () => {
    const app = buildApp((await openTestVault(144)).deps)
    await app.drain()
    expect((await app.handle(requestOf('GET', '/tokens', {}))).status).toBe(503)
  })
})
