/**
 * Long answers that nobody reads leave room to their credential and to others; a request without
 * room changes nothing. Contract sections 1, 2 and 16; docs/hostile-inputs.md, E10.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp, type App } from '../../src/server/listen/app.ts'
import { credentialAnswersBytesMax, retryAfterSeconds } from '../../src/limits/limits.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

const dataChars = 500_000
const tokens = 20
/** A token that a caller without room still gets: none of its answers is long. */
const small = { type: 'token', data: 'small', id: 'small', containers: ['/small/'] }
const permissions = ['read', 'create', 'update', 'use', 'search', 'delete'].map(
  name => `token:${name}`,
)

let vault: TestVault
let app: App
let key: string
let otherKey: string

const send = (method: string, path: string, ask: Ask) => app.handle(requestOf(method, path, ask))
const list = (by = key) => send('GET', `/tokens?size=${tokens}`, { key: by })

beforeAll(async () => {
  vault = await openTestVault(171)
  app = buildApp(vault.deps)
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const application = { type: 'private', permissions: [], rules: [rule] }
  key = await vault.application(application)
  otherKey = await vault.application(application)
  await vault.ask('POST', '/tokens', { key, body: small })
  for (let count = 0; count < tokens; count += 1) {
    const body = { type: 'token', id: `long-${count}`, data: 'x'.repeat(dataChars) }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
  }
})

/** Runs the task while one answer of the key is not read, then reads it. */
async function besideUnread(task: () => Promise<void>): Promise<string> {
  const unread = await list()
  expect(unread.status).toBe(200)
  await task()
  return unread.text()
}

async function refuse(method: string, path: string, body?: object): Promise<void> {
  const response = await send(method, path, { key, ...(body === undefined ? {} : { body }) })
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe(String(retryAfterSeconds))
  // Callers who had to connect anew would keep the server from those who are connected.
  expect(response.headers.get('connection')).not.toBe('close')
  expect(await response.text()).not.toContain('xxxx')
}

test('this load needs more than one credential has', () => {
  expect(tokens * dataChars).toBeLessThan(credentialAnswersBytesMax)
  expect(2 * tokens * dataChars).toBeGreaterThan(credentialAnswersBytesMax)
})

describe('a long answer that nobody reads', () => {
  // proves C2.23, E10.20, E29.6
  test('E10.20: leaves 503 for the next of its credential, and its short ones', async () => {
    const text = await besideUnread(async () => {
      await refuse('GET', `/tokens?size=${tokens}`)
      await refuse('POST', '/tokens/search', { query: 'type:token', size: tokens })
      const uses = Array.from({ length: tokens }, (_, at) => `{{ long-${at} }}`)
      await refuse('POST', '/detokenize', uses as unknown as object)
      const short = await send('GET', '/tokens/small', { key })
      expect(short.status).toBe(200)
      expect(await short.json()).toMatchObject({ data: 'small' })
    })
    expect(JSON.parse(text).data).toHaveLength(tokens)
  })

  test.each(['GET', 'PATCH', 'DELETE'])(
    'leaves a token unread that a %s finds no room for',
    async method => {
      let finds = 0
      const { store } = vault.deps
      const find: typeof store.find = unique => {
        finds += 1
        return store.find(unique)
      }
      const counting = buildApp({ ...vault.deps, store: { ...store, find } })
      const read = () => counting.handle(requestOf('GET', '/tokens/long-0', { key }))
      const unread = []
      let findsBefore = finds
      for (let last = await read(); last.status === 200; last = await read()) {
        unread.push(last)
        findsBefore = finds
      }
      expect(unread.length).toBeGreaterThan(1)
      expect(findsBefore).toBeGreaterThan(1)
      const ask = { key, ...(method === 'PATCH' ? { body: { metadata: { a: 'b' } } } : {}) }
      const refused = await counting.handle(requestOf(method, '/tokens/long-0', ask))
      expect(refused.status).toBe(503)
      expect(finds).toBe(findsBefore)
      expect(await unread[0]?.text()).toContain('xxxx')
    },
  )

  // proves E10.20
  test('counts as long as it is in bytes', async () => {
    for (let count = 0; count < tokens; count += 1) {
      // Each letter has three bytes, so that all of them are as long as the other tokens.
      const data = '\u20ac'.repeat(dataChars / 3)
      const body = { type: 'token', id: `wide-${count}`, containers: ['/wide/'], data }
      expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    }
    const uses = Array.from({ length: tokens }, (_, at) => `{{ wide-${at} }}`)
    const body = { query: 'container:/wide/', size: tokens }
    const wide = await send('POST', '/tokens/search', { key, body })
    expect(wide.status).toBe(200)
    await refuse('POST', '/tokens/search', body)
    await refuse('POST', '/detokenize', uses as unknown as object)
    expect((await wide.text()).length).toBeLessThan((tokens * dataChars) / 2)
    for (let count = 0; count < tokens; count += 1) {
      const deleted = await vault.ask('DELETE', `/tokens/wide-${count}`, { key })
      expect(deleted.status).toBe(204)
    }
  })

  // proves E10.20, S64
  test('leaves others all they need', async () => {
    await besideUnread(async () => {
      const response = await list(otherKey)
      expect(response.status).toBe(200)
      await response.text()
    })
  })

  // proves E10.21
  test('E10.21: gives its room back once it was read, or its connection has ended', async () => {
    await besideUnread(() => refuse('GET', `/tokens?size=${tokens}`))
    const dropped = await list()
    expect(dropped.status).toBe(200)
    await dropped.body?.cancel()
    const last = await list()
    expect(last.status).toBe(200)
    await last.text()
  })

  test('takes no room where none of it is sent', async () => {
    for (let count = 0; count < 3; count += 1) {
      const head = await send('HEAD', `/tokens?size=${tokens}`, { key })
      expect(head.status).toBe(200)
    }
    const text = await besideUnread(async () => {})
    expect(text.includes('xxxx')).toBe(true)
  })
})

describe('a write whose answer finds no room', () => {
  /** Fills the room with unread answers of one token, so that no further one fits. */
  async function besideFull(task: () => Promise<void>): Promise<void> {
    const unread: Response[] = []
    for (;;) {
      const response = await send('GET', '/tokens/long-0', { key })
      if (response.status === 503) break
      unread.push(response)
    }
    await task()
    for (const response of unread) await response.body?.cancel()
  }

  // proves C2.23, E10.22
  test('E10.22: changes nothing', async () => {
    const before = await vault.ask('GET', '/tokens/long-1', { key })
    await besideFull(() => refuse('PATCH', '/tokens/long-1', { metadata: { a: 'b' } }))
    expect((await vault.ask('GET', '/tokens/long-1', { key })).text).toBe(before.text)
  })

  // proves E10.22
  test('also where a short token would be shown at length', async () => {
    const body = { id: 'repeats', type: 'token', data: 'x'.repeat(2_000), mask: 'a' }
    const repeated = { mask: Array.from({ length: 40 }, () => '{{ data }}'.repeat(4)) }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    await besideFull(() => refuse('PATCH', '/tokens/repeats', repeated))
    const { body: found } = await vault.ask('GET', '/tokens/repeats', { key })
    expect(found['mask']).toBe('a')
    expect(found['modified_at']).toBeUndefined()
  })

  // proves C2.23, E10.22
  test('makes nothing', async () => {
    const made = { id: 'never', type: 'token', data: 'x'.repeat(dataChars), mask: '{{ data }}' }
    await besideFull(async () => {
      await refuse('POST', '/tokens', made)
      await refuse('POST', '/tokenize', { one: made })
    })
    expect((await vault.ask('GET', '/tokens/never', { key })).status).toBe(404)
  })
})
