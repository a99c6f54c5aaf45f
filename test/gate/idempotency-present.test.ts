/**
 * Answer to a replay: the present state of what was done, as its caller may see it now.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { slotOf } from '../../src/http/idempotency.ts'
import type { NewRow, Store } from '../../src/store/contract.ts'
import { canary } from '../support/refusal.ts'
import { addApplication, tokenPermissions } from '../support/sessions.ts'
import { openTestVault, requestOf, type Answer, type TestVault } from '../support/vault.ts'

const headers = { 'SVC-IDEMPOTENCY-KEY': 'once' }

async function openWorld(seed: number, transform = 'reveal') {
  const vault = await openTestVault(seed)
  const rules = [{ priority: 1, container: '/', transform, permissions: tokenPermissions }]
  const { id, key } = await addApplication(vault, { type: 'private', rules })
  const ask = (method: string, path: string, body?: unknown) =>
    vault.ask(method, path, { key, body })
  const once = (method: string, path: string, body: unknown) =>
    vault.ask(method, path, { key, body, headers })
  /** The grants of the application from now on. */
  const grant = async (grants: object) => {
    const body = { name: 'changed', ...grants }
    const { status } = await vault.ask('PUT', `/applications/${id}`, {
      key: vault.managementKey,
      body,
    })
    expect(status).toBe(200)
  }
  return { vault, key, ask, once, grant }
}

const pathOf = ({ body }: Answer): string => `/tokens/${String(body['id'])}`

const totalOf = async (vault: TestVault, key: string) => {
  const { body } = await vault.ask('GET', '/tokens', { key })
  return (body['pagination'] as { total_items: number }).total_items
}

const isReplay = ({ headers: sent }: Answer) => sent.get('svc-idempotent-replay') === 'true'

const expectGone = (answer: Answer) => {
  expect([answer.status, answer.text.includes(canary)]).toEqual([404, false])
}

describe('a token that is gone', () => {
  // proves C1.46, E7, S66
  test('is 404 on replay: deleted, with its data and metadata', async () => {
    const { vault, key, ask, once } = await openWorld(400)
    const body = { type: 'token', data: 1, metadata: { told: canary }, mask: canary }
    const first = await once('POST', '/tokens', body)
    expect(first.text).toContain(canary)
    expect((await once('POST', '/tokens', body)).text).toBe(first.text)
    expect((await ask('DELETE', pathOf(first))).status).toBe(204)
    expectGone(await once('POST', '/tokens', body))
    expect(await totalOf(vault, key)).toBe(0)
  })

  // proves C1.46
  test('is 404 on replay: expired', async () => {
    const { vault, once } = await openWorld(401)
    const expires = new Date(vault.clock.now() + 60_000).toISOString()
    const body = { type: 'token', data: canary, metadata: { told: canary }, expires_at: expires }
    expect((await once('POST', '/tokens', body)).status).toBe(201)
    vault.clock.advance(60_000)
    expectGone(await once('POST', '/tokens', body))
  })

  // proves C1.46, E7.1
  test('is 404 on replay: its id is one of a later token', async () => {
    const { ask, once } = await openWorld(402)
    const body = { id: 'order-7', type: 'token', data: 1 }
    const first = await once('POST', '/tokens', body)
    expect(first.status).toBe(201)
    await ask('DELETE', '/tokens/order-7')
    const later = { id: 'order-7', type: 'token', data: 2, metadata: { told: canary } }
    expect((await ask('POST', '/tokens', later)).status).toBe(201)
    expectGone(await once('POST', '/tokens', body))
  })

  test('is 404 on the replay of its update', async () => {
    const { ask, once } = await openWorld(403)
    const { body } = await ask('POST', '/tokens', { id: 'order-7', type: 'token', data: 1 })
    const patch = { metadata: { told: canary } }
    const path = `/tokens/${String(body['id'])}`
    const first = await once('PATCH', path, patch)
    expect(first.text).toContain(canary)
    await ask('DELETE', path)
    expectGone(await once('PATCH', path, patch))
    await ask('POST', '/tokens', {
      id: 'order-7',
      type: 'token',
      data: 1,
      metadata: patch.metadata,
    })
    expectGone(await once('PATCH', path, patch))
  })

  test('is 404 on the replay of a whole body, and of one in part', async () => {
    const { ask, once } = await openWorld(404)
    for (const mode of ['whole', 'partial']) {
      const id = `of-${mode}`
      const body = { a: { id, type: 'token', data: 1, metadata: { told: canary } }, b: 'bare' }
      const path = `/tokenize?mode=${mode}`
      const first = await once('POST', path, body)
      expect(first.text).toContain(canary)
      expect((await once('POST', path, body)).text).toBe(first.text)
      await ask('DELETE', `/tokens/${id}`)
      expectGone(await once('POST', path, body))
    }
  })
})

describe('a caller with other rights', () => {
  const body = { type: 'token', data: canary, mask: '{{ data }}', containers: ['/a/b/'] }
  const rule = (container: string, transform: string) => ({
    rules: [{ priority: 1, container, transform, permissions: tokenPermissions }],
  })

  // proves C1.45, E7.2, S66
  test('sees no more than they allow now', async () => {
    const { once, grant } = await openWorld(405)
    const first = await once('POST', '/tokens', body)
    expect(first.text).toContain(`"data":"${canary}"`)
    await grant(rule('/a/', 'redact'))
    const again = await once('POST', '/tokens', body)
    expect([again.status, isReplay(again)]).toEqual([201, true])
    expect(again.body['id']).toBe(first.body['id'])
    expect(again.body).not.toHaveProperty('data')
    await grant(rule('/b/', 'reveal'))
    expectGone(await once('POST', '/tokens', body))
    await grant(rule('/', 'reveal'))
    expect((await once('POST', '/tokens', body)).text).toBe(first.text)
  })

  // proves C1.45
  test('sees no more of an update, and of a whole body', async () => {
    const { ask, once, grant } = await openWorld(406)
    const { body: made } = await ask('POST', '/tokens', { ...body, data: 1 })
    const path = `/tokens/${String(made['id'])}`
    const update = () => once('PATCH', path, { data: canary })
    const tokenize = () => once('POST', '/tokenize', [body])
    expect(
      [(await update()).text, (await tokenize()).text].every(text => text.includes(canary)),
    ).toBe(true)
    await grant(rule('/a/', 'redact'))
    const [updated, tokenized] = [await update(), await tokenize()]
    expect([updated.status, isReplay(updated)]).toEqual([200, true])
    expect(updated.body).not.toHaveProperty('data')
    expect([tokenized.status, isReplay(tokenized)]).toEqual([200, true])
    expect(tokenized.text).not.toContain('"data"')
    await grant(rule('/b/', 'reveal'))
    expectGone(await update())
    expectGone(await tokenize())
  })
})

describe('a replay', () => {
  // proves C1.45
  test('is what stands now: a later change shows', async () => {
    const { ask, once } = await openWorld(407)
    const body = { type: 'token', data: 1, metadata: { a: '1' } }
    const first = await once('POST', '/tokens', body)
    await ask('PATCH', pathOf(first), { metadata: { a: '2' } })
    const again = await once('POST', '/tokens', body)
    expect([again.status, again.body['metadata']]).toEqual([201, { a: '2' }])
  })

  test('is a create that deduplicates, also where it made nothing', async () => {
    const { vault, key, ask, once } = await openWorld(408, 'mask')
    const body = { type: 'token', data: 'equal', deduplicate_token: true }
    const first = await ask('POST', '/tokens', body)
    expect(first.body['_extras']).toEqual({ deduplicated: false })
    const hit = await once('POST', '/tokens', body)
    expect(hit.body['_extras']).toEqual({ deduplicated: true })
    const again = await once('POST', '/tokens', body)
    expect([again.text, isReplay(again)]).toEqual([hit.text, true])
    await ask('DELETE', pathOf(first))
    expectGone(await once('POST', '/tokens', body))
    expect(await totalOf(vault, key)).toBe(0)
  })

  test('is null for a body without values, and keeps its place', async () => {
    const { once } = await openWorld(409)
    const body = [null, { a: null }]
    expect((await once('POST', '/tokenize', body)).text).toBe('[null,{"a":null}]')
    const again = await once('POST', '/tokenize', body)
    expect([again.text, isReplay(again)]).toEqual(['[null,{"a":null}]', true])
    expect((await once('POST', '/tokenize', [null])).status).toBe(409)
  })

  test('is each item of a body that was taken in part, and what failed of it', async () => {
    const { vault, key, once } = await openWorld(410)
    const card = { type: 'card', data: { number: '4242424242424241', cvc: '123' } }
    const twin = { type: 'token', data: 'twin', deduplicate_token: true }
    const body = { a: 'bare', b: null, c: card, d: [twin, twin], e: { id: '#', ...twin } }
    const first = await once('POST', '/tokenize?mode=partial', body)
    expect(first.body['results']).toHaveLength(5)
    const again = await once('POST', '/tokenize?mode=partial', body)
    expect([again.status, isReplay(again), again.text]).toEqual([200, true, first.text])
    expect(await totalOf(vault, key)).toBe(2)
    // The mode is in the query: that is another request.
    expect((await once('POST', '/tokenize?mode=whole', ['bare'])).status).toBe(200)
  })
})

// proves C1.41, E14.1, S65
test('of 50 requests of one key in two processes one makes a token', async () => {
  const { vault, key } = await openWorld(411)
  const apps = [buildApp({ ...vault.deps }), buildApp({ ...vault.deps })]
  for (const id of [undefined, 'chosen-id']) {
    const before = await totalOf(vault, key)
    const body = { ...(id === undefined ? {} : { id }), type: 'token', data: 1 }
    const sent = { key, body, headers: { 'SVC-IDEMPOTENCY-KEY': `race-${id ?? ''}` } }
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        apps[index % 2]?.handle(requestOf('POST', '/tokens', sent)),
      ),
    )
    const answers = responses.flatMap(response => response ?? [])
    const ids = new Set<string>()
    for (const answer of answers) {
      const told = (await answer.json()) as { id?: string; detail?: string }
      if (answer.status === 201) ids.add(String(told.id))
      else expect([answer.status, told.detail]).toEqual([409, expect.stringMatching('under way')])
    }
    expect(ids.size).toBe(1)
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThanOrEqual(2)
    expect(await totalOf(vault, key)).toBe(before + 1)
  }
})

// proves C1.41
test('of two processes that use one nonce under one key, both say that it is done', async () => {
  const { vault, key } = await openWorld(412)
  const publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
  const { body: session } = await vault.ask('POST', '/sessions', { key: publicKey })
  const body = { nonce: session['nonce'], permissions: ['token:create'] }
  const apps = [buildApp({ ...vault.deps }), buildApp({ ...vault.deps })]
  const statuses = await Promise.all(
    apps.map(async app => {
      const request = requestOf('POST', '/sessions/authorize', { key, body, headers })
      return (await app.handle(request)).status
    }),
  )
  expect(statuses).toEqual([200, 200])
})

const isOfKey = ({ uniques, terms }: NewRow) => uniques.length === 1 && terms.length === 0

/** One done request, for every operation whose requests are kept. */
const operations: readonly (readonly [
  name: string,
  (world: Awaited<ReturnType<typeof openWorld>>) => Promise<readonly [string, string, unknown]>,
  by: 'backend' | 'manager',
])[] = [
  ['create', async () => ['POST', '/tokens', { type: 'token', data: 1 }], 'backend'],
  [
    'update',
    async ({ ask }) => {
      const made = await ask('POST', '/tokens', { type: 'token', data: 1 })
      return ['PATCH', pathOf(made), { data: 2 }]
    },
    'backend',
  ],
  ['tokenize', async () => ['POST', '/tokenize', ['a']], 'backend'],
  [
    'authorize',
    async ({ vault }) => {
      const key = await vault.application({ type: 'public', permissions: ['token:create'] })
      const { body } = await vault.ask('POST', '/sessions', { key })
      const sent = { nonce: body['nonce'], permissions: ['token:create'] }
      return ['POST', '/sessions/authorize', sent]
    },
    'backend',
  ],
  [
    'create an application',
    async () => {
      const body = { name: 'x', type: 'public', permissions: ['token:create'] }
      return ['POST', '/applications', body]
    },
    'manager',
  ],
  [
    'change an application',
    async ({ vault }) => {
      const { id } = await addApplication(vault, { type: 'public', permissions: ['token:create'] })
      const body = { name: 'y', permissions: ['token:create'] }
      return ['PUT', `/applications/${id}`, body]
    },
    'manager',
  ],
  [
    'regenerate a key',
    async ({ vault }) => {
      const { id } = await addApplication(vault, { type: 'public', permissions: ['token:create'] })
      return ['POST', `/applications/${id}/regenerate`, undefined]
    },
    'manager',
  ],
]

// proves C1.39
test.each(operations)(
  'the effect is kept in the write that makes it: %s',
  async (_, prepare, by) => {
    const world = await openWorld(413)
    const { vault } = world
    const [method, path, body] = await prepare(world)
    const kept: number[] = []
    const { store } = vault.deps
    const write: Store['write'] = async changes => {
      kept.push(changes.filter(change => 'insert' in change && isOfKey(change.insert)).length)
      return store.write(changes)
    }
    const app = buildApp({ ...vault.deps, store: { ...store, write } })
    const key = by === 'backend' ? world.key : vault.managementKey
    const done = await app.handle(requestOf(method, path, { key, body, headers }))
    expect(done.status).toBeLessThan(300)
    expect(kept).toEqual([1])
  },
)

// proves C1.37
test('a slot is of the credential that asks, whatever its version', async () => {
  const { deps, tenantId } = (await openWorld(414)).vault
  const slot = (ordinal: number, version: number) =>
    slotOf(
      deps,
      { tenantId, applicationId: 'any', credential: { ordinal, version, uniques: [] } },
      { method: 'POST', path: '/tokens' },
      { request: { url: 'http://localhost/tokens' }, params: {} },
      'same',
      new Uint8Array(),
    ).unique
  expect(slot(7, 1)).toEqual(slot(7, 2))
  expect(slot(7, 1)).not.toEqual(slot(8, 1))
})
