/**
 * Each request of an operation has exactly one entry in the audit log, and none holds a value.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openBundle } from '../../src/audit/bundle.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

const planted = 'planted-secret-value'
const trace = 'trace-of-a-test'

let vault: TestVault
let reader: string
let masked: string
let maker: string
let ruled: string
beforeAll(async () => {
  vault = await openTestVault(71)
  reader = await vault.application({
    type: 'private',
    permissions: ['token:read', 'token:use', 'token:search', 'token:delete', 'token:create'],
  })
  masked = await vault.application({ type: 'private', permissions: ['token:read'] })
  maker = await vault.application({ type: 'public', permissions: ['token:create'] })
  ruled = await vault.application({
    type: 'private',
    rules: [
      { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
      { priority: 2, container: '/pii/', transform: 'reveal', permissions: ['token:read'] },
    ],
  })
  for (const [id, containers] of [
    ['card-1', ['/pci/high/']],
    ['pii-1', ['/pii/']],
    ['far-1', ['/elsewhere/']],
    ['gone-1', ['/elsewhere/']],
  ] as const) {
    const body = { id, type: 'token', data: planted, containers, metadata: { m: planted } }
    expect((await vault.ask('POST', '/tokens', { key: reader, body })).status).toBe(201)
  }
})
afterAll(() => vault.deps.store.close())

/** Sends a request. @returns the entries that it made, as they are exported */
async function entriesBy(method: string, path: string, ask: Ask = {}) {
  const before = (await entriesOf(vault)).length
  const { status } = await vault.ask(method, path, {
    ...ask,
    headers: { 'svc-trace-id': trace, ...ask.headers },
  })
  const entries = (await entriesOf(vault)).slice(before)
  return { status, lines: entries.map(({ line }) => JSON.parse(line)) }
}

describe('a request of an operation', () => {
  // proves S90
  test.each<[string, string, string, () => Ask, object]>([
    [
      'a reveal',
      'GET',
      '/tokens/pii-1',
      () => ({ key: ruled }),
      { operation: 'getToken', transform: 'reveal', rule: 'rule 1', result: 200 },
    ],
    [
      'a masked read',
      'GET',
      '/tokens/card-1',
      () => ({ key: ruled }),
      { operation: 'getToken', transform: 'mask', rule: 'rule 0', result: 200 },
    ],
    [
      'a read by a plain permission',
      'GET',
      '/tokens/card-1',
      () => ({ key: masked }),
      { operation: 'getToken', transform: 'mask', rule: 'token:read', result: 200 },
    ],
    [
      'a head of a token, which shows nothing',
      'HEAD',
      '/tokens/pii-1',
      () => ({ key: ruled }),
      { operation: 'getToken', transform: 'redact', rule: 'rule 1', result: 200 },
    ],
    [
      'a token that rules hide',
      'GET',
      '/tokens/far-1',
      () => ({ key: ruled }),
      { operation: 'getToken', entity_id: 'far-1', rule: 'none', result: 404, reason: 'not_found' },
    ],
    [
      'a token that is absent',
      'GET',
      '/tokens/no-such',
      () => ({ key: ruled }),
      { operation: 'getToken', entity_id: 'no-such', result: 404, reason: 'not_found' },
    ],
    [
      'a permission that is not held',
      'DELETE',
      '/tokens/card-1',
      () => ({ key: masked }),
      { operation: 'deleteToken', entity_id: 'card-1', rule: 'none', result: 403 },
    ],
    [
      'a create',
      'POST',
      '/tokens',
      () => ({ key: maker, body: { id: 'new-1', type: 'token', data: planted } }),
      { operation: 'createToken', entity_id: 'new-1', rule: 'token:create', result: 201 },
    ],
    [
      'a create of an id that is taken',
      'POST',
      '/tokens',
      () => ({ key: reader, body: { id: 'pii-1', type: 'token', data: planted } }),
      { operation: 'createToken', result: 409, reason: 'conflict' },
    ],
    [
      'a body that is wrong',
      'POST',
      '/tokens',
      () => ({ key: maker, raw: `{"data": "${planted}"` }),
      { operation: 'createToken', result: 400, reason: 'invalid_request' },
    ],
    [
      'a list',
      'GET',
      '/tokens',
      () => ({ key: ruled }),
      {
        operation: 'listTokens',
        entity_ids: ['pii-1', 'card-1'],
        transform: 'reveal',
        result: 200,
      },
    ],
    [
      'a search',
      'POST',
      '/tokens/search',
      () => ({ key: reader, body: { query: `data:${planted}` } }),
      { operation: 'searchTokens', searched: ['data'], result: 200 },
    ],
    [
      'a search by several fields',
      'POST',
      '/tokens/search',
      () => ({
        key: reader,
        body: { query: `(metadata.${planted}:x OR type:card) AND NOT (type:x OR id:${planted})` },
      }),
      { operation: 'searchTokens', searched: ['id', 'metadata', 'type'], result: 200 },
    ],
    [
      'a walk by its older address',
      'GET',
      '/v2/tokens',
      () => ({ key: ruled }),
      { operation: 'listTokensByCursor', entity_type: 'token', transform: 'reveal', result: 200 },
    ],
    [
      'a walk of a search by its older address',
      'POST',
      '/v2/tokens/search',
      () => ({ key: reader, body: { query: 'id:card-1' } }),
      { operation: 'searchTokensByCursor', entity_type: 'token', entity_id: 'card-1', result: 200 },
    ],
    [
      'a search for all',
      'POST',
      '/tokens/search',
      () => ({ key: reader, body: { query: '*' } }),
      { operation: 'searchTokens', searched: ['*'], result: 200 },
    ],
    [
      'tokens made in bulk',
      'POST',
      '/tokenize',
      () => ({ key: maker, body: { a: { id: 'bulk-1', type: 'token', data: planted } } }),
      { operation: 'tokenize', entity_id: 'bulk-1', result: 200 },
    ],
    [
      'data that is used',
      'POST',
      '/detokenize',
      () => ({ key: reader, body: { a: '{{ pii-1 }}', b: '{{ card-1 }}' } }),
      {
        operation: 'detokenize',
        entity_ids: ['pii-1', 'card-1'],
        transform: 'reveal',
        result: 200,
      },
    ],
    [
      'a delete',
      'DELETE',
      '/tokens/gone-1',
      () => ({ key: reader }),
      { operation: 'deleteToken', entity_id: 'gone-1', result: 204 },
    ],
    [
      'an application',
      'POST',
      '/applications',
      () => ({
        key: vault.managementKey,
        body: { name: planted, type: 'private', permissions: ['token:read'] },
      }),
      { operation: 'createApplication', entity_type: 'application', result: 201 },
    ],
    [
      'a session',
      'POST',
      '/sessions',
      () => ({ key: maker }),
      { operation: 'createSession', entity_type: 'session', actor_type: 'public', result: 201 },
    ],
    [
      'the own key',
      'GET',
      '/applications/key',
      () => ({ key: maker }),
      { operation: 'getOwnApplication', actor_type: 'public', result: 200 },
    ],
  ])('%s has one entry', async (_, method, path, ask, members) => {
    const { status, lines } = await entriesBy(method, path, ask())
    expect(lines).toHaveLength(1)
    const [line] = lines
    expect(line).toMatchObject({ result: status, trace_id: trace, ...members })
    expect(line).toMatchObject({ tenant_id: vault.tenantId, at: expect.any(String) })
    expect(line.actor_id).toMatch(/^[0-9a-f-]{36}$/)
    expect(line.key_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  // proves E24.6, S90
  test('a trace id that holds a key or a card number is in no entry', async () => {
    for (const secret of [maker, '4242-4242-4242-4242']) {
      const headers = { 'SVC-TRACE-ID': `for:${secret}` }
      const { headers: sent } = await vault.ask('GET', '/permissions', { key: maker, headers })
      expect(sent.get('svc-trace-id')).toBe(`for:${secret}`)
      const [last] = (await entriesOf(vault)).slice(-1)
      expect(last?.line).not.toContain(secret)
      expect(last?.entry).toMatchObject({ operation: 'listPermissions', traceId: 'hidden' })
    }
  })

  test('a login that fails has one entry, without an actor', async () => {
    const { lines } = await entriesBy('GET', '/tokens/card-1', { key: 'key_of_nobody' })
    expect(lines).toEqual([
      {
        at: expect.any(String),
        operation: 'getToken',
        entity_type: 'token',
        entity_id: 'card-1',
        result: 401,
        reason: 'unauthenticated',
        trace_id: trace,
      },
    ])
  })

  test('further logins that fail share one entry with their number', async () => {
    await entriesBy('GET', '/tokens', { key: 'key_of_nobody' })
    const before = (await entriesOf(vault)).length
    for (let count = 0; count < 5; count += 1) {
      await vault.ask('POST', '/tokens', { key: 'key_of_nobody' })
    }
    const [first, ...more] = (await entriesOf(vault)).slice(before)
    expect(first?.entry).toMatchObject({ operation: 'createToken', result: 401 })
    expect(more.map(({ entry }) => [entry.operation, entry.count])).toEqual([['createToken', 4]])
  })

  test('an answer that repeats an earlier effect has its own entry', async () => {
    const asked = {
      key: maker,
      body: { id: 'once-1', type: 'token', data: planted },
      headers: { 'svc-idempotency-key': 'once' },
    }
    const first = await entriesBy('POST', '/tokens', asked)
    expect(first.lines).toMatchObject([{ entity_id: 'once-1', result: 201 }])
    expect(first.lines[0]).not.toHaveProperty('reason')
    const again = await entriesBy('POST', '/tokens', asked)
    expect(again.lines).toMatchObject([{ entity_id: 'once-1', result: 201, reason: 'replay' }])
  })

  // proves S92
  test('that writes has its entry with the write, and none if that is refused', async () => {
    const { store, keys } = vault.deps
    await vault.deps.audit.flush()
    const { next } = await store.logRange()
    const body = { id: 'landed-1', type: 'token', data: planted }
    expect((await vault.ask('POST', '/tokens', { key: reader, body })).status).toBe(201)
    const landed = (await store.bundles({ from: next }, 10)).flatMap(each => openBundle(keys, each))
    expect(landed.map(({ entry }) => [entry.entityIds, entry.result])).toEqual([
      [['landed-1'], 201],
    ])
    const { lines } = await entriesBy('POST', '/tokens', { key: reader, body })
    expect(lines.map(({ result }) => result)).toEqual([409])
  })

  test('a search that is refused for too many guesses names its fields as well', async () => {
    const few = await openTestVault(72, { searchGuessesPerMinuteMax: 1 })
    const permissions = ['token:search']
    const rules = [{ priority: 1, container: '/', transform: 'mask', permissions }]
    const guesser = await few.application({ type: 'private', rules })
    const search = (query: string) =>
      few.ask('POST', '/tokens/search', { key: guesser, body: { query } })
    expect((await search(`data:${planted}`)).status).toBe(200)
    expect((await search(`data:${planted} OR fingerprint:x`)).status).toBe(429)
    expect((await search(`data:${planted} OR`)).status).toBe(400)
    const entries = (await entriesOf(few)).map(({ entry }) => entry)
    expect(entries.slice(-3).map(({ result, searched }) => [result, searched])).toEqual([
      [200, ['data']],
      [429, ['data', 'fingerprint']],
      [400, undefined],
    ])
    await few.deps.store.close()
  })

  test('no operation is what has no entry', async () => {
    expect((await entriesBy('GET', '/nowhere', { key: reader })).lines).toEqual([])
    expect((await entriesBy('OPTIONS', '/tokens')).lines).toEqual([])
  })

  // proves S90
  test('no entry holds data, metadata, a name, a query or a key', async () => {
    await vault.ask('GET', '/tokens/pii-1', { key: ruled })
    await vault.ask('GET', `/tokens?metadata.m=${planted}`, { key: reader })
    await vault.ask('POST', '/tokens/search', { key: reader, body: { query: `data:${planted}` } })
    await vault.ask('POST', '/tokens', { key: maker, raw: `{"type":"token","data":"${planted}` })
    await vault.ask('GET', '/tokens', { key: 'key_of_nobody' })
    const lines = (await entriesOf(vault)).map(({ line }) => line)
    expect(lines.length).toBeGreaterThanOrEqual(13)
    for (const secret of [planted, reader, maker, vault.managementKey, 'key_of_nobody']) {
      expect(lines.filter(line => line.includes(secret))).toEqual([])
    }
  })
})

describe('a reveal', () => {
  /** The application over a store that refuses every write of the log. */
  function withoutLog(kind: 'storage_full' | 'unavailable') {
    const { deps } = vault
    const refused: unknown[] = []
    const audit = {
      ...deps.audit,
      record: async () => {
        const { ApiError } = await import('../../src/lib/errors.ts')
        refused.push(kind)
        throw new ApiError(kind, 'The storage is full. Masked reads go on.')
      },
    }
    return { app: buildApp({ ...deps, audit }), refused }
  }

  // proves S91
  test('is not answered if its entry cannot be written; a masked read is', async () => {
    const { app } = withoutLog('storage_full')
    const ask = (path: string) => app.handle(requestOf('GET', path, { key: ruled }))
    const refused = await ask('/tokens/pii-1')
    expect(refused.status).toBe(507)
    expect(await refused.text()).not.toContain(planted)
    expect((await ask('/tokens/card-1')).status).toBe(200)
  })

  // proves S91
  test('is answered only once its entry is on disk', async () => {
    const { deps } = vault
    let isWritten = false
    const audit = {
      ...deps.audit,
      record: async (entry: Parameters<typeof deps.audit.record>[0]) => {
        await deps.audit.record(entry)
        isWritten = true
      },
    }
    const app = buildApp({ ...deps, audit })
    const answer = await app.handle(requestOf('GET', '/tokens/pii-1', { key: ruled }))
    expect([answer.status, isWritten]).toEqual([200, true])
  })
})
