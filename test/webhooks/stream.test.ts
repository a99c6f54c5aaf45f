/**
 * The feed as a stream of server-sent events: what it sends, where it begins, and what ends it.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  feedPieceChars,
  feedStreamMsMax,
  feedStreamsMax,
  feedStreamsPerCredentialMax,
  tokenIdCharsMax,
} from '../../src/limits/limits.ts'
import { eventBundlesBytes } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { readEvents, type EventReader } from '../support/event-stream.ts'
import { addTenant } from '../support/tenants.ts'
import { until } from '../support/until.ts'
import { requestOf } from '../support/vault.ts'
import { openHookVault, type HookVault } from '../support/webhooks.ts'

let vault: HookVault
let app: ReturnType<typeof buildApp>
beforeEach(async () => {
  vault = await openHookVault(410)
  app = buildApp(vault.deps)
})

interface Asked {
  readonly key?: string
  readonly method?: string
  readonly lastEventId?: string
}

const ask = (query = '', asked: Asked = {}): Promise<Response> => {
  const { key = vault.managementKey, method = 'GET', lastEventId } = asked
  const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const headers = { accept: 'text/event-stream', ...last }
  return app.handle(requestOf(method, `/events${query}`, { key, headers }))
}

const created = '?types=token.created'

async function open(query = created, asked: Asked = {}): Promise<EventReader> {
  const response = await ask(query, asked)
  expect(response.status).toBe(200)
  const stream = readEvents(response)
  await until(() => stream.comments.length === 1)
  return stream
}

const idsIn = ({ events }: EventReader): unknown[] =>
  events.map(({ data }) => (data as { data: { token: { id: string } } }).data.token.id)

/** A management application with the right to read, as its key and its id. */
async function reader(): Promise<{ readonly key: string; readonly id: string }> {
  const body = { name: 'reader', type: 'management', permissions: ['log:read'] }
  const made = await vault.manage('POST', '/applications', body)
  return { key: String(made.body['key']), id: String(made.body['id']) }
}

describe('a stream', () => {
  // proves C18.14
  test('sends what is there and then what comes, with the lines of a page as data', async () => {
    await vault.makeTokens('t-1')
    const response = await ask(created)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const stream = readEvents(response)
    await until(() => stream.events.length === 1)
    await vault.makeTokens('t-2')
    await until(() => stream.events.length === 2)
    expect(idsIn(stream)).toEqual(['t-1', 't-2'])
    const [first] = stream.events
    const page = await vault.ask('GET', `/events${created}`, { key: vault.managementKey })
    const line = JSON.parse(page.text.split('\n')[0] ?? '')
    expect(first).toEqual({ type: 'token.created', lastEventId: `${line.sequence}`, data: line })
    stream.close()
  })

  // proves C18.14
  test('begins behind Last-Event-ID, whatever `after` says', async () => {
    await vault.makeTokens('t-1', 't-2', 't-3')
    const all = await open()
    await until(() => all.events.length === 3)
    const lastEventId = all.events[1]?.lastEventId ?? ''
    const rest = await open(`${created}&after=0`, { lastEventId })
    await until(() => rest.events.length === 1)
    expect(idsIn(rest)).toEqual(['t-3'])
    const behind = await open(`${created}&after=${all.events[0]?.lastEventId}`)
    await until(() => behind.events.length === 2)
    expect(idsIn(behind)).toEqual(['t-2', 't-3'])
  })

  // proves C18.14
  test('gives the id of an entry with the last of its events', async () => {
    const before = await open()
    const body = { a: { type: 'token', data: 1 }, b: { type: 'token', data: 2 } }
    expect((await vault.ask('POST', '/tokenize', { key: vault.key, body })).status).toBe(200)
    await until(() => before.events.length === 2)
    const [first, second] = before.events
    expect(first?.lastEventId).toBe('')
    expect(second?.lastEventId).not.toBe('')
  })

  // proves C18.14
  test('tells a reader who waits that it is well, and how far it has looked', async () => {
    const stream = await open()
    vault.clock.advance(5_000)
    await until(() => stream.comments.length === 2)
    const seen = Number(stream.lastEventId())
    await vault.makeTokens('t-1')
    await until(() => stream.events.length === 1)
    expect(Number(stream.events[0]?.lastEventId)).toBeGreaterThan(seen)
  })

  test('is of its tenant alone', async () => {
    const other = await addTenant(vault)
    const key = await other.application({ type: 'private', permissions: ['token:create'] })
    await vault.ask('POST', '/tokens', { key, body: { id: 'other', type: 'token', data: 1 } })
    await vault.makeTokens('own')
    const stream = await open()
    await until(() => stream.events.length === 1)
    expect(idsIn(stream)).toEqual(['own'])
  })

  // proves C18.14
  test.each(['', 'x', '-1', '1e3', '01', '4711', '99999999999999999'])(
    'refuses Last-Event-ID "%s"',
    async lastEventId => {
      const { status, headers } = await ask(created, { lastEventId })
      expect(status).toBe(400)
      expect(headers.get('content-type')).toStartWith('application/problem+json')
    },
  )

  // proves C18.11
  test('is of those who may read the log', async () => {
    expect((await ask('', { key: vault.key })).status).toBe(403)
    expect((await ask('', { key: 'key_none' })).status).toBe(401)
  })

  test('reads no more than its reader takes', async () => {
    let reads = 0
    const { store } = vault.deps
    const counted = new Proxy(store, {
      get(target, name) {
        if (name === 'bundles') reads += 1
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    app = buildApp({ ...vault.deps, store: counted })
    await vault.makeTokens('t-1')
    const response = await ask(created)
    const body = response.body?.getReader()
    await body?.read()
    await body?.read()
    const before = reads
    await vault.makeTokens('t-2', 't-3')
    await Bun.sleep(500)
    expect(reads).toBe(before)
    await body?.read()
    expect(reads).toBeGreaterThan(before)
    await body?.cancel()
  })

  test('holds few bundles of the log at a time while they are long', async () => {
    const { store } = vault.deps
    let most = 0
    const bundles: typeof store.bundles = async (...range) => {
      const found = await store.bundles(...range)
      most = Math.max(
        most,
        found.reduce((sum, { sealed }) => sum + sealed.length, 0),
      )
      return found
    }
    const watched = new Proxy(store, {
      get(target, name) {
        const value: unknown = name === 'bundles' ? bundles : Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    for (let entry = 0; entry < 12; entry += 1) {
      const body = Array.from({ length: 100 }, (_, at) => ({
        id: `${entry}-${at}-`.padEnd(tokenIdCharsMax, 'x'),
        type: 'token',
        data: 1,
      }))
      expect((await vault.ask('POST', '/tokenize', { key: vault.key, body })).status).toBe(200)
      await vault.deps.audit.flush()
    }
    app = buildApp({ ...vault.deps, store: watched })
    const stream = await open()
    await until(() => stream.events.length === 1_200)
    expect(most).toBeGreaterThan(40_000)
    expect(most).toBeLessThan(2 * eventBundlesBytes)
    stream.close()
  })

  // proves C18.15
  test('is held in short texts, and tells nothing more once its key is revoked', async () => {
    const { key, id } = await reader()
    const name = (at: number): string => `${at}-`.padEnd(tokenIdCharsMax, '\u20ac')
    for (let at = 0; at < 300; at += 100) {
      const body = Array.from({ length: 100 }, (_, i) => ({
        id: name(at + i),
        type: 'token',
        data: 1,
      }))
      expect((await vault.ask('POST', '/tokenize', { key: vault.key, body })).status).toBe(200)
    }
    const whole = (await ask(created, { key })).body?.getReader()
    let [texts, events] = [0, 0]
    while (events < 300) {
      const text = new TextDecoder().decode((await whole?.read())?.value)
      // One event more than the bound may begin below it.
      expect(text.length).toBeLessThan(feedPieceChars + 2_000)
      texts += 1
      events += text.split('event: ').length - 1
    }
    expect(texts).toBeGreaterThan(3)
    await whole?.cancel()

    const cut = (await ask(created, { key })).body?.getReader()
    await cut?.read()
    await cut?.read()
    expect((await vault.manage('DELETE', `/applications/${id}`)).status).toBe(204)
    expect((await cut?.read())?.done).toBe(true)
  })

  // proves C18.15
  test('has one entry in the log, at its begin', async () => {
    const stream = await open()
    await vault.makeTokens('t-1')
    await until(() => stream.events.length === 1)
    stream.close()
    await until(() => app.underWay() === 0)
    const refused = await ask(created, { lastEventId: 'x' })
    expect(refused.status).toBe(400)
    await vault.deps.audit.flush()
    const { body } = await vault.manage('GET', '/logs?entity_type=event')
    const entries = body['data'] as readonly { readonly result: number }[]
    expect(entries.map(({ result }) => result)).toEqual([400, 200])
  })
})

describe('a HEAD request', () => {
  test('gets the head alone, and takes no place', async () => {
    for (let count = 0; count <= feedStreamsPerCredentialMax; count += 1) {
      const response = await ask('', { method: 'HEAD' })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      expect(response.body).toBeNull()
    }
    expect(app.underWay()).toBe(0)
  })
})

describe('a stream ends', () => {
  // proves C18.15
  test('when its time is over', async () => {
    const stream = await open()
    vault.clock.advance(feedStreamMsMax)
    await stream.ended
    expect(app.underWay()).toBe(0)
  })

  // proves C18.15
  test('when its key is revoked, and tells nothing more', async () => {
    const { key, id } = await reader()
    const stream = await open(created, { key })
    expect((await vault.manage('DELETE', `/applications/${id}`)).status).toBe(204)
    await vault.makeTokens('late')
    await stream.ended
    expect(stream.events).toEqual([])
  })

  // proves C18.15
  test('when its right is taken', async () => {
    const { key, id } = await reader()
    const stream = await open(created, { key })
    const body = { name: 'reader', permissions: ['application:read'] }
    expect((await vault.manage('PUT', `/applications/${id}`, body)).status).toBe(200)
    await vault.makeTokens('late')
    await stream.ended
    expect(stream.events).toEqual([])
  })

  // proves C18.15
  test('when its key expires', async () => {
    const { id } = await reader()
    const expiresAt = new Date(vault.deps.now() + 60_000).toISOString()
    const made = await vault.manage('POST', `/applications/${id}/keys`, { expires_at: expiresAt })
    const stream = await open(created, { key: String(made.body['key']) })
    vault.clock.advance(61_000)
    await stream.ended
    expect(app.underWay()).toBe(0)
  })

  // proves C18.15
  test('and not when another credential is changed', async () => {
    const { id } = await reader()
    const stream = await open()
    expect((await vault.manage('DELETE', `/applications/${id}`)).status).toBe(204)
    await vault.makeTokens('t-1')
    await until(() => stream.events.length === 1)
  })

  // proves C18.15
  test('with the vault, which waits for it', async () => {
    const stream = await open()
    await app.drain()
    expect(app.underWay()).toBe(0)
    await stream.ended
    expect((await ask()).status).toBe(503)
  })

  // proves C18.15
  test('with the vault, though its reader takes nothing', async () => {
    const { body } = await ask()
    await app.drain()
    expect(app.underWay()).toBe(0)
    await body?.cancel()
  })

  test('when its reader goes', async () => {
    const stream = await open()
    stream.close()
    await until(() => app.underWay() === 0)
  })
})

describe('streams', () => {
  // proves C18.15
  test('are few of one credential, and take no place of pages', async () => {
    const streams = await Promise.all(
      Array.from({ length: feedStreamsPerCredentialMax }, () => open()),
    )
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    const page = await vault.manage('GET', '/events')
    expect(page.status).toBe(200)
    streams[0]?.close()
    await until(() => app.underWay() === feedStreamsPerCredentialMax - 1)
    expect((await ask()).status).toBe(200)
  })

  // proves C18.15
  test('are a bounded number in all', async () => {
    const readers = await Promise.all(
      Array.from({ length: feedStreamsMax / feedStreamsPerCredentialMax }, reader),
    )
    const each = Array.from({ length: feedStreamsPerCredentialMax }, () => readers).flat()
    await Promise.all(each.map(({ key }) => open(created, { key })))
    expect((await ask()).status).toBe(503)
    expect((await vault.manage('GET', '/events')).status).toBe(200)
    await app.drain()
    expect(app.underWay()).toBe(0)
  })
})
