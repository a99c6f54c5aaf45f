/**
 * The typed client against a listening vault: each operation, and what goes over the wire.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  CofferError,
  createClient,
  type Client,
  type CreateWebhookRequest,
  type Fetch,
} from '../../src/client/index.ts'
import { operationsOf, readDocument } from '../support/openapi.ts'
import { until } from '../support/until.ts'
import { openServed } from './served.ts'

const served = await openServed(1)
const { address, keys, vault } = served
const asked: { readonly method: string; readonly path: string; readonly headers: Headers }[] = []

const recording: Fetch = (url, init) => {
  const headers = new Headers(init.headers)
  asked.push({ method: init.method ?? '', path: new URL(url).pathname, headers })
  return fetch(url, init)
}
const clientOf = (kind: keyof typeof keys): Client => served.clientOf(kind, { fetch: recording })

const listed = async <T>(walk: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = []
  for await (const item of walk) items.push(item)
  return items
}

async function refusalOf(call: Promise<unknown>): Promise<CofferError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(CofferError)
  return error as CofferError
}

const card = { type: 'card', data: { number: '4242424242424242' } } as const

describe('tokens', () => {
  const { tokens, tokenizeEach } = clientOf('private')

  test('are created masked, read revealed, changed, listed, found and deleted', async () => {
    const made = await tokens.create<{ number: string }>({ ...card, metadata: { shop: '7' } })
    expect(made.data?.number).toBe('XXXXXXXXXXXX4242')
    expect((await tokens.get(made.id)).data).toEqual(card.data)
    const changed = await tokens.update(made.id, { metadata: { shop: null, order: '17' } })
    expect(changed.metadata).toEqual({ order: '17' })
    const filter = { type: ['card'], metadata: { order: '17' } } as const
    expect((await listed(tokens.list(filter))).map(({ id }) => id)).toEqual([made.id])
    expect((await tokens.listPage({ ...filter, size: 1 })).pagination.total_items).toBe(1)
    const query = 'metadata.order:17'
    expect((await listed(tokens.search(query))).map(({ id }) => id)).toEqual([made.id])
    expect((await tokens.searchPage({ query, page: 2 })).data).toEqual([])
    await tokens.delete(made.id)
    expect(await refusalOf(tokens.get(made.id))).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('have ids that go into an address as they are', async () => {
    const id = 'a b,c;d:e@f~*!"'
    await tokens.create({ type: 'token', data: 1, id })
    expect((await tokens.get(id)).data).toBe(1)
    expect((await tokens.listPage({ id: [id, 'x&id=y'] })).pagination.total_items).toBe(1)
    await tokens.delete(id)
  })

  test('are walked from the first to the last, over all stretches', async () => {
    const { tokens, tokenize, detokenize } = (await openServed(7)).clientOf('private')
    const count = 205
    const ids = await tokenize<string[]>(Array.from({ length: count }, (_, at) => `value ${at}`))
    const container = ['/general/high/']
    expect(await listed(tokens.list({ container }))).toHaveLength(count)
    expect(await listed(tokens.search('type:token'))).toHaveLength(count)
    expect(await detokenize({ a: `{{ ${ids[3]} }}`, b: 2 })).toEqual({ a: 'value 3', b: 2 })
  })

  test('may be made each by itself', async () => {
    const answer = await tokenizeEach(['good', { type: 'card', data: { number: '1' } }])
    expect(answer).toMatchObject({ results: [{ status: 201 }, { status: 400 }] })
  })

  test.each(['', '.', '..'])('of the id %p would be another address', id => {
    expect(() => tokens.get(id)).toThrow('expected the id')
    expect(() => tokens.delete(id)).toThrow('expected the id')
    const { keys } = clientOf('management').applications
    expect(() => keys.delete('any', id)).toThrow('expected the id')
  })
})

test('applications, their keys, the tenant and permissions', async () => {
  const { applications, tenant, permissions } = clientOf('management')
  const grants = { permissions: ['token:read'] } as const
  const made = await applications.create({ name: 'Desk', type: 'private', ...grants })
  expect(made.key).toStartWith('key_')
  const own = createClient({ address, key: made.key, fetch: recording })
  expect((await own.applications.current()).id).toBe(made.id)
  expect(await applications.get(made.id)).not.toHaveProperty('key')
  expect((await applications.update(made.id, { name: 'New', ...grants })).name).toBe('New')
  expect((await applications.regenerate(made.id)).key).not.toBe(made.key)
  expect((await refusalOf(own.applications.current())).code).toBe('unauthenticated')
  const key = await applications.keys.create(made.id)
  expect((await applications.keys.get(made.id, key.id)).version).toBe(key.version)
  await applications.keys.delete(made.id, key.id)
  expect(await applications.keys.list(made.id)).toHaveLength(1)
  const names = (await listed(applications.list({ type: ['private'] }))).map(({ name }) => name)
  expect(names).toContain('New')
  await applications.delete(made.id)
  expect((await tenant.update({ name: 'Shop' })).name).toBe('Shop')
  expect((await tenant.get()).name).toBe('Shop')
  const granted = await permissions.list(['public'])
  expect(granted.map(({ type }) => type)).toEqual(['token:create', 'token:update'])
})

test('explained access', async () => {
  const { access, applications } = clientOf('management')
  const rules = [
    { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
  ] as const
  const { id } = await applications.create({ name: 'Seen', type: 'private', rules })
  const asked = { application_id: id, permission: 'token:read' } as const
  const told = await access.explain({ ...asked, place: { containers: ['/pci/high/'] } })
  expect(told).toMatchObject({ decision: 'mask', decided_by: 'rule 0' })
  const proposed = { permissions: ['token:read'] } as const
  expect((await access.simulate({ application_id: id, proposed })).changes).toBeArray()
  const refusal = await refusalOf(access.explain({ ...asked, token_id: 'absent' }))
  expect(refusal.code).toBe('not_found')
  const tried = await applications.preview(id, { name: 'Till', ...proposed })
  expect([tried.name, tried._extras?.changes]).toEqual(['Till', expect.any(Array)])
  expect((await applications.get(id)).name).toBe('Seen')
  const confirmed = await applications.update(id, { name: 'Till', rules }, { confirm: true })
  expect([confirmed.name, confirmed._extras]).toEqual(['Till', undefined])
})

test('the state of the vault', async () => {
  const { status } = clientOf('management')
  expect(await status.get()).toMatchObject({ store: 'folder', is_ready: true, failing: [] })
  expect((await status.history()).samples).toBeArray()
  const { settings } = await status.settings()
  expect(settings).toContainEqual({ name: 'mask_guard', value: true, from: 'default' })
  expect((await refusalOf(clientOf('private').status.get())).code).toBe('forbidden')
})

test('containers step by step', async () => {
  const { tokens } = clientOf('private')
  await tokens.create({ type: 'token', data: 1, containers: ['/tree/leaf/'] })
  const { below, is_complete } = await tokens.containers()
  expect(is_complete).toBe(true)
  expect(below).toContainEqual({ container: '/tree/', tokens: 1 })
  expect(await tokens.containers('/tree/leaf/')).toMatchObject({ tokens: 1, below: [] })
  expect((await refusalOf(clientOf('management').tokens.containers())).code).toBe('forbidden')
})

test('expressions on sample data', async () => {
  const { expressions } = clientOf('management')
  const sample = { type: 'token', data: { a: 'Ada' }, mask: '{{ data.a | slice: 0 }}' } as const
  const told = await expressions.preview({ ...sample, fingerprint_expression: '{{ data.a }}' })
  expect(told).toMatchObject({ data: 'A', fingerprint_text: 'Ada', search_texts: [] })
  const refusal = await refusalOf(expressions.preview({ ...sample, mask: '{{ a }}' }))
  expect(Object.keys(refusal.errors)).toEqual(['mask'])
  expect((await refusalOf(clientOf('private').expressions.preview(sample))).code).toBe('forbidden')
})

test('the audit log', async () => {
  const { logs } = clientOf('management')
  const { id } = await clientOf('private').tokens.create(card)
  const filter = { entity_id: id, start_date: new Date(0), end_date: new Date('2100-01-01') }
  await until(async () => (await listed(logs.list(filter))).length > 0)
  const [entry, ...more] = await listed(logs.list({ ...filter, size: 1 }))
  expect(more).toEqual([])
  expect(entry).toMatchObject({ operation: 'createToken', result: 201, entity_id: id })
  expect(entry?.created_at).toBeInstanceOf(Date)
  expect(await listed(logs.list({ ...filter, end_date: '2020-01-01' }))).toEqual([])
  expect((await logs.entityTypes()).map(({ value }) => value)).toContain('token')
  expect((await refusalOf(clientOf('private').logs.entityTypes())).code).toBe('forbidden')
})

test('webhooks, their secrets and their deliveries', async () => {
  const { webhooks } = clientOf('management')
  const url = 'https://hooks.shop.example/a'
  const body: CreateWebhookRequest = { name: 'Orders', url, events: ['token.created'] }
  const made = await webhooks.create(body)
  expect(made.secret).toStartWith('whsec_')
  expect(made.created_at).toBeInstanceOf(Date)
  expect(await webhooks.get(made.id)).not.toHaveProperty('secret')
  expect((await webhooks.list()).data.map(({ id }) => id)).toEqual([made.id])
  const rotated = await webhooks.rotate(made.id, { overlap_hours: 1 })
  expect(rotated.secret).not.toBe(made.secret)
  await webhooks.test(made.id)
  await webhooks.replay(made.id, 0)
  expect(await listed(webhooks.deliveries(made.id, { size: 1 }))).toEqual([])
  expect((await refusalOf(webhooks.retry(made.id, 1))).code).toBe('not_found')
  expect((await webhooks.update(made.id, { ...body, status: 'disabled' })).status).toBe('disabled')
  expect((await refusalOf(webhooks.test(made.id))).code).toBe('conflict')
  expect(await webhooks.eventTypes()).toContain('token.created')
  expect((await webhooks.publicKey()).key).toStartWith('whpk_')
  await webhooks.delete(made.id)
  expect((await refusalOf(webhooks.get(made.id))).code).toBe('not_found')
  expect((await refusalOf(clientOf('private').webhooks.list())).code).toBe('forbidden')
})

test('events are read by pages, and followed', async () => {
  const { events } = clientOf('management')
  const { tokens } = clientOf('private')
  const { id } = await tokens.create(card)
  const types = ['token.created'] as const
  const isOf = (line: { readonly data?: unknown }, token: string) =>
    JSON.stringify(line.data).includes(token)
  let after: number | undefined
  for await (const line of events.follow({ types })) {
    expect([line.type, line.timestamp]).toEqual(['token.created', expect.any(Date)])
    after = line.sequence
    if (isOf(line, id)) break
  }
  const next = await tokens.create(card)
  for await (const line of events.follow({ after, types })) {
    expect(isOf(line, next.id)).toBe(true)
    break
  }
  const lines = await events.page({ types: ['application.key.deleted'], after, wait: 0 })
  expect(lines).toEqual([{ type: 'page.end', after: expect.any(Number), oldest: 0 }])
  expect((await refusalOf(clientOf('private').events.page())).code).toBe('forbidden')
})

test('sessions', async () => {
  const { sessions, tokens } = clientOf('private')
  const session = await clientOf('public').sessions.create()
  const own = createClient({ address, key: session.session_key, fetch: recording })
  const { id } = await tokens.create(card)
  expect((await refusalOf(own.tokens.get(id))).code).toBe('forbidden')
  await sessions.authorize({ nonce: session.nonce, permissions: ['token:read'] })
  expect((await own.tokens.get(id)).data).toMatchObject({ number: 'XXXXXXXXXXXX4242' })
  const open = await listed(clientOf('management').sessions.list())
  expect(open.map(each => each.id)).toContain(session.id)
  await sessions.delete(session.id)
  expect((await refusalOf(own.tokens.get(id))).code).toBe('unauthenticated')
})

/** Calls each operation without an id, with one and with two, for what it asks. */
async function callAll(operations: object): Promise<void> {
  for (const operation of Object.values(operations) as unknown[]) {
    if (typeof operation !== 'function') await callAll(operation as object)
    else {
      for (const ids of [[], ['id-1'], ['id-1', 'id-2']]) {
        await settle(operation as (...ids: string[]) => unknown, ids)
      }
    }
  }
}

/** Calls an operation with so many ids; each refuses too few and too many. */
async function settle(operation: (...ids: string[]) => unknown, ids: string[]): Promise<void> {
  try {
    const result = operation(...ids) as Partial<AsyncIterator<unknown>> | Promise<unknown>
    await ('next' in result ? result.next?.() : result)
  } catch {}
}

test('there is a way to each operation of the interface', async () => {
  const known = operationsOf(await readDocument(vault)).map(({ at }) => at)
  const called: string[] = []
  const noting: Fetch = (url, { method }) => {
    const path = new URL(url).pathname.replace('id-1', '{id}')
    const inner = path.startsWith('/webhooks') ? '{sequence}' : '{keyId}'
    called.push(`${method} ${path.replace('id-2', inner)}`)
    return Promise.resolve(Response.json({ detail: 'noted' }, { status: 400 }))
  }
  await callAll(served.clientOf('private', { fetch: noting }))
  expect([...new Set(called)].toSorted()).toEqual(known.toSorted())
})

describe('a sent request', () => {
  test('has an idempotency key of its own where it writes, and none where it reads', async () => {
    const { tokens, sessions } = clientOf('private')
    asked.splice(0)
    const { id } = await tokens.create({ type: 'token', data: 1 })
    await tokens.update(id, { metadata: { a: '1' } })
    await tokens.get(id)
    await listed(tokens.search('type:card'))
    await tokens.delete(id)
    await refusalOf(sessions.create())
    const sent = asked.map(({ headers }) => headers.get('svc-idempotency-key'))
    expect(sent.map(key => key !== null)).toEqual([true, true, false, false, false, false])
    expect(sent[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(sent[1]).not.toBe(sent[0])
  })

  test('carries the trace id and the idempotency key of the call', async () => {
    const { tokens } = clientOf('private')
    asked.splice(0)
    const options = { traceId: 'order-17', idempotencyKey: 'once' }
    const first = await tokens.create({ type: 'token', data: 1 }, options)
    expect((await tokens.create({ type: 'token', data: 1 }, options)).id).toBe(first.id)
    const error = await refusalOf(tokens.get('absent', { traceId: 'lookup-17' }))
    expect(error.traceId).toBe('lookup-17')
    expect(asked[0]?.headers.get('svc-trace-id')).toBe('order-17')
  })

  test('carries a reason, in any script, and asks for less', async () => {
    const { tokens } = clientOf('private')
    const { id } = await tokens.create(card)
    asked.splice(0)
    const reason = '100 % sure: Rückfrage 💳'
    const read = await tokens.get(id, { transform: 'mask', reason })
    expect(read.data).toMatchObject({ number: 'XXXXXXXXXXXX4242' })
    const [request] = asked
    expect(decodeURIComponent(request?.headers.get('svc-reason') ?? '')).toBe(reason)
    const found = await tokens.searchPage({ query: `id:${id}`, transform: 'redact' })
    expect(found.data[0]?.data).toBeUndefined()
  })

  test.each(['', ' ', '\ud800', 17])('sends no reason such as %p', async reason => {
    const { tokens } = clientOf('private')
    const failed = await tokens.get('absent', { reason: reason as string }).catch(error => error)
    expect(failed).toBeInstanceOf(TypeError)
    expect(failed.message).toStartWith('reason: expected')
  })

  test('asks a function for the key each time', async () => {
    const given = [keys.public, keys.private]
    const key = () => Promise.resolve(given.shift() ?? '')
    const { tokens } = createClient({ address, key, fetch: recording })
    expect((await refusalOf(tokens.get('absent'))).code).toBe('forbidden')
    expect((await refusalOf(tokens.get('absent'))).code).toBe('not_found')
  })
})

test('errors say what was expected and where, and nothing of what was sent', async () => {
  const error = await refusalOf(
    clientOf('private').tokens.create({ type: 'card', data: { number: '4242424242424241' } }),
  )
  expect(error).toMatchObject({ name: 'CofferError', status: 400, code: 'invalid_request' })
  expect(Object.keys(error.errors)).toEqual(['data.number'])
  expect(JSON.stringify([error, error.message, error.stack])).not.toContain('4242')
})
