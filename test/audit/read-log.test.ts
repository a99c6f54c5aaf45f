/**
 * Reading the audit log over HTTP: filters, pages and walks, and who may. Source: contract
 * section 17.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sealBundle } from '../../src/audit/bundle.ts'
import { indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import {
  bundleEntriesMax,
  logEntriesOpenedMax,
  logSliceEntries,
} from '../../src/limits/work-limits.ts'
import { mayHold, offeredPermissions } from '../../src/rules/permissions.ts'
import { randomBytes } from '../../src/server/process/system.ts'
import { auditLogOf, entriesOf } from '../support/audit-log.ts'
import { expectProblem } from '../support/problem.ts'
import { openSessionKit } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

type Item = Readonly<Record<string, unknown>>

const itemsOf = ({ body }: Answer) => body['data'] as unknown as readonly Item[]
const paginationOf = ({ body }: Answer) => body['pagination'] as Item
const longId = '😀'.repeat(400)
const oddIds = ['a "quoted" id', 'line\u2028separator', longId, '__proto__']

const queryOf = (filters: Readonly<Record<string, string>>) =>
  new URLSearchParams(filters).toString()

async function ask(vault: TestVault, filters: Readonly<Record<string, string>> = {}) {
  await vault.deps.audit.flush()
  return vault.ask('GET', `/logs?${queryOf(filters)}`, { key: vault.managementKey })
}

let vault: TestVault
let other: TestVault
let reader: string
beforeAll(async () => {
  vault = await openTestVault(801)
  other = await addTenant(vault)
  reader = await vault.application({
    type: 'private',
    permissions: ['token:create', 'token:read', 'token:use'],
  })
  for (const id of ['card-1', 'card-2', ...oddIds]) {
    const body = { id, type: 'token', data: 'planted-value' }
    expect((await vault.ask('POST', '/tokens', { key: reader, body })).status).toBe(201)
    vault.clock.advance(1_000)
  }
  const headers = { 'svc-trace-id': 'checkout-1' }
  await vault.ask('GET', '/tokens/card-1', { key: reader, headers })
  await vault.ask('GET', '/tokens/no-such', { key: reader })
  await vault.ask('POST', '/detokenize', {
    key: reader,
    body: ['{{ card-1 }}', '{{ card-2 }}'],
  })
  await vault.ask('GET', '/tokens', { key: 'key_of_nobody' })
  await other.ask('GET', '/applications/key', { key: other.managementKey })
})
afterAll(() => vault.deps.store.close())

describe('the log of a tenant', () => {
  // proves C17.1
  test('shows an entry with the members of the family and its own', async () => {
    const answer = await ask(vault, { trace_id: 'checkout-1' })
    expect(answer.status).toBe(200)
    expect(paginationOf(answer)).toEqual({
      total_items: 1,
      page_number: 1,
      page_size: 20,
      total_pages: 1,
    })
    const [item] = itemsOf(answer)
    expect(item).toEqual({
      id: String(item?.['sequence']),
      sequence: expect.any(Number),
      tenant_id: vault.tenantId,
      actor_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      actor_type: 'private',
      key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      operation: 'getToken',
      entity_type: 'token',
      entity_id: 'card-1',
      transform: 'mask',
      rule: 'token:read',
      result: 200,
      message: 'getToken was answered with 200.',
      trace_id: 'checkout-1',
      created_at: expect.stringMatching(/^2030-01-01T00:00:\d\d\.\d{3}\+00:00$/),
    })
  })

  // proves C17.1
  test('tells the ids of several things, and why a request was refused', async () => {
    const [several] = itemsOf(await ask(vault, { operation: 'detokenize' }))
    expect(several).toMatchObject({ entity_ids: ['card-1', 'card-2'] })
    expect(several).not.toHaveProperty('entity_id')
    const [refused] = itemsOf(await ask(vault, { entity_id: 'no-such' }))
    expect(refused).toMatchObject({
      result: 404,
      reason: 'not_found',
      message: 'getToken was refused with 404, not_found.',
    })
  })

  // proves C17.2
  test('shows what an auditor of the store finds of the tenant, and nothing else', async () => {
    for (const each of [vault, other]) {
      await each.deps.audit.flush()
      const all = await entriesOf(vault)
      const own = all.filter(({ entry }) => entry.tenantId === each.tenantId).toReversed()
      const answer = await ask(each, { size: '100' })
      expect(itemsOf(answer).map(({ sequence }) => sequence)).toEqual(
        own.map(({ sequence }) => sequence),
      )
      expect(own.length).toBeLessThan(all.length)
      expect(paginationOf(answer)['total_items']).toBe(own.length)
    }
    expect(JSON.stringify(itemsOf(await ask(vault, { result: '401' })))).toBe('[]')
  })

  // proves C17.2
  test('shows no data', async () => {
    expect((await ask(vault, { size: '100' })).text).not.toContain('planted-value')
  })

  // proves C17.3
  test.each(oddIds)('is found by an odd id', async id => {
    const answer = await ask(vault, { entity_id: id, operation: 'createToken' })
    expect(itemsOf(answer).map(({ entity_id }) => entity_id)).toEqual([id])
  })

  // proves C17.3
  test.each([`x${'y'.repeat(2_000)}`, '%2F&=#', '<b>{{ data }}</b>'])(
    'is found by an id that no token can have',
    async id => {
      await vault.ask('GET', `/tokens/${encodeURIComponent(id)}`, { key: reader })
      const [item, ...more] = itemsOf(await ask(vault, { entity_id: id }))
      expect(more).toEqual([])
      expect(item).toMatchObject({ operation: 'getToken', result: 404 })
      expect(id.startsWith(String(item?.['entity_id']))).toBe(true)
    },
  )

  // proves C17.3
  test('is filtered by each of its members, and by all that are given', async () => {
    // Leaves out what reads the log from now on.
    vault.clock.advance(1)
    const window = { end_date: new Date(vault.clock.now()).toISOString(), size: '100' }
    const all = itemsOf(await ask(vault, window))
    const [read] = all.filter(({ trace_id }) => trace_id === 'checkout-1')
    const filters = {
      entity_type: 'token',
      operation: 'getToken',
      actor_id: String(read?.['actor_id']),
      key_id: String(read?.['key_id']),
      transform: 'mask',
      result: '200',
      trace_id: 'checkout-1',
    }
    for (const [name, value] of Object.entries(filters)) {
      const found = itemsOf(await ask(vault, { [name]: value, ...window }))
      const expected = all.filter(item => String(item[name]) === value)
      expect([name, found]).toEqual([name, expected])
      expect(itemsOf(await ask(vault, { [name]: value, entity_id: 'nobody' }))).toEqual([])
    }
    const both = await ask(vault, { ...filters, entity_id: 'card-1' })
    expect(itemsOf(both)).toEqual([read ?? {}])
  })

  // proves C17.3
  test('is filtered by instants: the first counts, and the last does not', async () => {
    const created = itemsOf(await ask(vault, { operation: 'createToken' })).toReversed()
    const [, second, third] = created.map(({ created_at }) => String(created_at))
    const found = await ask(vault, {
      operation: 'createToken',
      start_date: second ?? '',
      end_date: third ?? '',
    })
    expect(itemsOf(found)).toEqual(created.slice(1, 2))
  })

  // proves C17.3
  test('is filtered by client address', async () => {
    expect(itemsOf(await ask(vault, { from: '192.0.2.1' }))).toEqual([])
  })

  // proves C17.4
  test('has an entry for each request that reads it', async () => {
    const before = itemsOf(await ask(vault, { operation: 'listLogs', size: '100' })).length
    await ask(vault)
    const [last, ...rest] = itemsOf(await ask(vault, { operation: 'listLogs', size: '100' }))
    expect(rest).toHaveLength(before + 1)
    expect(last).toMatchObject({ entity_type: 'log', actor_type: 'management', rule: 'log:read' })
  })

  // proves C17.5
  test.each<[string, string, string]>([
    ['an instant that is none', 'start_date=yesterday', 'query.start_date'],
    ['an empty instant', 'end_date=', 'query.end_date'],
    ['a transform that is none', 'transform=canary', 'query.transform'],
    ['a status that is none', 'result=2e2', 'query.result'],
    ['two values', 'actor_id=canary&actor_id=b', 'query.actor_id'],
    ['a page of a walk', 'start=&page=1', 'query.page'],
    ['a page too large', 'size=101', 'query.size'],
    ['a cursor that is none', 'start=canary', 'query.start'],
    ['a parameter that is misspelt', 'actor_idd=canary', 'query.actor_id'],
  ])('refuses %s', async (_, query, at) => {
    const { managementKey: key } = vault
    expectProblem(await vault.ask('GET', `/logs?${query}`, { key }), 400, [at])
  })

  // proves C17.6
  test('tells the kinds of things that it is about', async () => {
    const { managementKey: key } = vault
    const { status, text } = await vault.ask('GET', '/logs/entity-types', { key })
    expect(status).toBe(200)
    const kinds = JSON.parse(text)
    expect(kinds).toContainEqual({ display_name: 'Token', value: 'token' })
    const values = new Set(kinds.map(({ value }: { value: string }) => value))
    const seen = (await entriesOf(vault)).map(({ entry }) => entry.entityType)
    expect(seen.filter(type => type !== undefined && !values.has(type))).toEqual([])
  })
})

describe('a long log', () => {
  let long: TestVault
  let stranger: TestVault
  let expected: readonly number[]
  const window = { end_date: '2030-01-01T00:00:00Z' }
  beforeAll(async () => {
    long = await openTestVault(802)
    stranger = await addTenant(long)
    const audit = auditLogOf({ ...long.deps, log: () => {} })
    for (let i = 0; i < 4 * logSliceEntries + 500; i += 1) {
      audit.note({
        atMs: Date.UTC(2029, 11, 1) + i,
        tenantId: i % 16 === 3 ? long.tenantId : stranger.tenantId,
        actorId: `actor-${i % 3}`,
        operation: 'getToken',
        entityIds: [`token-${i % 7}`],
        result: 200,
      })
    }
    await audit.flush()
    while (await indexNext(long.deps));
    expect(await indexedBelow(long.deps.store)).toBe(4 * logSliceEntries)
    expected = (await entriesOf(long))
      .filter(({ entry }) => entry.tenantId === long.tenantId && entry.actorId === 'actor-0')
      .map(({ sequence }) => sequence)
      .toReversed()
    expect(expected.length).toBeGreaterThan(80)
  })
  afterAll(() => long.deps.store.close())

  // proves C17.7
  test('is read by pages until one is empty', async () => {
    const seen: unknown[] = []
    for (let page = 1; ; page += 1) {
      const asked = { actor_id: 'actor-0', size: '7', page: String(page) }
      const answer = await ask(long, asked)
      expect(paginationOf(answer)).toEqual({
        total_items: expected.length,
        page_number: page,
        page_size: 7,
        total_pages: Math.ceil(expected.length / 7),
      })
      if (itemsOf(answer).length === 0) break
      seen.push(...itemsOf(answer).map(({ sequence }) => sequence))
    }
    expect(seen).toEqual([...expected])
  })

  // proves C17.7
  test('is read by cursors until one is missing', async () => {
    const seen: unknown[] = []
    for (let start: unknown = ''; start !== undefined;) {
      const answer = await ask(long, { actor_id: 'actor-0', size: '7', start: String(start) })
      seen.push(...itemsOf(answer).map(({ sequence }) => sequence))
      start = paginationOf(answer)['next']
    }
    expect(seen).toEqual([...expected])
  })

  // proves C17.7
  test('gives cursors that fit its question and its tenant alone', async () => {
    const first = await ask(long, { actor_id: 'actor-0', size: '7', start: '' })
    const start = String(paginationOf(first)['next'])
    expect((await ask(long, { actor_id: 'actor-0', size: '9', start })).status).toBe(200)
    expectProblem(await ask(long, { actor_id: 'actor-1', size: '7', start }), 400, ['query.start'])
    expectProblem(await ask(stranger, { actor_id: 'actor-0', start }), 400, ['query.start'])
  })

  // proves C17.2
  test('shows each tenant its own, by pages and by walks', async () => {
    for (const each of [long, stranger]) {
      const byPage = await ask(each, { ...window, size: '100' })
      const byWalk = await ask(each, { ...window, size: '100', start: '' })
      for (const answer of [byPage, byWalk]) {
        expect(itemsOf(answer)).toHaveLength(100)
        expect(new Set(itemsOf(answer).map(({ tenant_id }) => tenant_id))).toEqual(
          new Set([each.tenantId]),
        )
      }
    }
    const byEntity = await ask(long, { entity_id: 'token-3', size: '100', ...window })
    expect(new Set(itemsOf(byEntity).map(({ tenant_id }) => tenant_id))).toEqual(
      new Set([long.tenantId]),
    )
  })
})

// proves C17.9
test('a page that would open too many entries is told to be a walk', async () => {
  const { deps, tenantId, ...rest } = await openTestVault(803)
  const entry = { atMs: 0, tenantId, operation: 'getToken', entityIds: [], result: 200 }
  for (let count = 0; count <= logEntriesOpenedMax; count += bundleEntriesMax) {
    const entries = Array.from({ length: bundleEntriesMax }, () => entry)
    await deps.store.write([{ log: sealBundle(deps.keys, randomBytes, entries) }])
  }
  const full = { deps, tenantId, ...rest }
  const answer = await ask(full, { trace_id: 'none' })
  expectProblem(answer, 400, ['query.start'])
  expect(answer.body['detail']).toStartWith('query.start: expected start instead of page')
  const first = await ask(full, { trace_id: 'none', start: '' })
  expect(itemsOf(first)).toEqual([])
  const last = await ask(full, { trace_id: 'none', start: String(paginationOf(first)['next']) })
  expect(paginationOf(last)).toEqual({ page_size: 20 })
  await deps.store.close()
})

describe('the log is refused', () => {
  const paths = ['/logs', '/logs/entity-types']

  // proves C17.8
  test.each(paths)('without a key, and with one of nobody: %s', async path => {
    expectProblem(await vault.ask('GET', path), 401)
    expectProblem(await vault.ask('GET', path, { key: 'key_of_nobody' }), 401)
  })

  // proves C17.8
  test.each(paths)('to every key but one that holds the permission: %s', async path => {
    const kit = await openSessionKit(vault)
    const session = await kit.open({ permissions: ['token:read'] })
    const rest = offeredPermissions.filter(
      permission => mayHold('management', permission) && permission !== 'log:read',
    )
    const manager = await vault.application({ type: 'management', permissions: rest })
    for (const key of [reader, kit.creator.key, kit.authorizer.key, session, manager]) {
      expectProblem(await vault.ask('GET', path, { key }), 403)
    }
    const auditor = await vault.application({ type: 'management', permissions: ['log:read'] })
    expect((await vault.ask('GET', path, { key: auditor })).status).toBe(200)
  })

  // proves C17.8
  test.each(['private', 'public'])('to a %s application, which cannot hold it', async type => {
    const body = { name: 'x', type, permissions: ['log:read'] }
    const { managementKey: key } = vault
    expectProblem(await vault.ask('POST', '/applications', { key, body }), 400, ['permissions[0]'])
  })
})
