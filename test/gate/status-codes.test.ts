/**
 * Every status that contract section 3 declares is reached by a request, for every operation that
 * may answer it; and so are the statuses of section 2 that any request may meet.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { openAccessKit, type AccessKit, type Credential } from '../support/access/credentials.ts'
import { operations, type Operation, type Place } from '../support/access/operations.ts'
import { openTestVault, requestOf, type Answer, type Ask } from '../support/vault.ts'

/** The table of contract section 3, row by row: operations that share their statuses. */
const declared = `
POST /tokens | 201 400 401 403 409 413
GET /tokens, POST /tokens/search | 200 400 401 403
GET /tokens/{id} | 200 401 403 404
PATCH /tokens/{id} | 200 400 401 403 404 409 415
DELETE /tokens/{id} | 204 401 403 404
POST /tokenize, POST /detokenize | 200 400 401 403 409
POST /sessions | 201 401 403
POST /sessions/authorize | 200 400 401 403 404 409
GET /sessions | 200 400 401 403
DELETE /sessions/{id} | 204 401 403 404
POST /applications | 201 400 401 403
GET /applications, GET /applications/{id}, GET /applications/key | 200 401 403 404
PUT /applications/{id} | 200 400 401 403 404
POST /applications/{id}/regenerate | 200 401 403 404
DELETE /applications/{id} | 204 401 403 404
`

/**
 * A list is never absent, nor is the application whose key is sent; and a mere read is never kept
 * for an idempotency key, so it conflicts with nothing.
 */
const impossible = ['GET /applications 404', 'GET /applications/key 404', 'POST /detokenize 409']

let kit: AccessKit
beforeAll(async () => {
  kit = await openAccessKit()
})

const send = (method: string, path: string, by: Credential, ask: Ask = {}): Promise<Answer> => {
  const key = kit.keys[by]
  return kit.vault.ask(method, path, { ...ask, ...(key === undefined ? {} : { key }) })
}

const operationOf = (route: string): Operation => {
  const found = operations.find(operation => operation.route === route)
  if (found === undefined) throw new Error(`no operation ${route}`)
  return found
}

/** The operation's own good request, by someone, with something changed. */
async function ask(route: string, by: Credential, change: Ask = {}, place: Place = 'in') {
  const { request } = await operationOf(route).prepare(kit, place)
  const { method, path, ...rest } = request
  return send(method, path, by, { ...rest, ...change })
}

/** Returns a caller that may do it, beside those that may not. */
const able = (route: string): Credential => {
  if (route === 'POST /sessions') return 'public'
  const isManaged = route.includes('/applications') || /GET \/sessions|\{id\}$/.test(route)
  return isManaged && !route.includes('/tokens') ? 'manage' : 'plain'
}
const unable = (route: string): Credential => (able(route) === 'plain' ? 'manage' : 'plain')

/** Sends two at once with one idempotency key. @returns the answer of the second */
async function askTwice(route: string): Promise<Answer> {
  const { request } = await operationOf(route).prepare(kit, 'in')
  const headers = { 'SVC-IDEMPOTENCY-KEY': crypto.randomUUID() }
  const asks = [1, 2].map(() =>
    send(request.method, request.path, able(route), { ...request, headers }),
  )
  const answers = await Promise.all(asks)
  expect(answers.some(({ status }) => status === operationOf(route).success)).toBe(true)
  const refused = answers.find(({ status }) => status === 409)
  if (refused === undefined) throw new Error('neither was refused')
  return refused
}

async function createTwice(): Promise<Answer> {
  const { request } = await operationOf('POST /tokens').prepare(kit, 'in')
  await send('POST', '/tokens', 'plain', request)
  return send('POST', '/tokens', 'plain', request)
}

async function authorizeTwice(): Promise<Answer> {
  const { request } = await operationOf('POST /sessions/authorize').prepare(kit, 'in')
  await send(request.method, request.path, 'plain', request)
  return send(request.method, request.path, 'plain', request)
}

const uuid = '00000000-0000-4000-8000-000000000000'
const grants = { name: 'x', permissions: ['token:read'] }

/** Ways to a status that the general ways below do not reach, or reach less well. */
const special: Readonly<Record<string, () => Promise<Answer>>> = {
  'POST /tokens 409': createTwice,
  'GET /tokens 400': () => send('GET', '/tokens?page=0', 'plain'),
  'POST /tokens/search 400': () =>
    send('POST', '/tokens/search', 'plain', { body: { query: 'id:' } }),
  'GET /tokens/{id} 404': () => ask('GET /tokens/{id}', 'reveal', {}, 'out'),
  'PATCH /tokens/{id} 404': () => ask('PATCH /tokens/{id}', 'reveal', {}, 'out'),
  'DELETE /tokens/{id} 404': () => ask('DELETE /tokens/{id}', 'reveal', {}, 'out'),
  'POST /sessions/authorize 404': () =>
    send('POST', '/sessions/authorize', 'plain', {
      body: { nonce: 'unknown', permissions: ['token:read'] },
    }),
  'POST /sessions/authorize 409': authorizeTwice,
  'GET /sessions 400': () => send('GET', '/sessions?page=1', 'manage'),
  'DELETE /sessions/{id} 403': () => send('DELETE', `/sessions/${uuid}`, 'public'),
  'DELETE /sessions/{id} 404': () => send('DELETE', `/sessions/${uuid}`, 'plain'),
  'GET /applications/key 403': () => send('GET', '/applications/key', 's-plain'),
  'GET /applications/{id} 404': () => send('GET', `/applications/${uuid}`, 'manage'),
  'PUT /applications/{id} 404': () =>
    send('PUT', `/applications/${uuid}`, 'manage', { body: grants }),
  'POST /applications/{id}/regenerate 404': () =>
    ask('POST /applications/{id}/regenerate', 'o-man'),
  'DELETE /applications/{id} 404': () => ask('DELETE /applications/{id}', 'o-man'),
}

/** The same for every operation. */
const general: Readonly<Record<number, (route: string) => Promise<Answer>>> = {
  400: route => ask(route, able(route), { raw: '{"' }),
  401: route => ask(route, 'unknown'),
  403: route => ask(route, unable(route)),
  409: askTwice,
  413: route => ask(route, able(route), { raw: ' '.repeat(1024 * 1024 + 1) }),
  415: route => ask(route, able(route), { type: 'application/json-patch+json' }),
}

function reach(route: string, status: number): Promise<Answer> {
  const way = special[`${route} ${status}`] ?? (() => general[status]?.(route))
  const isSuccess = operationOf(route).success === status
  const answer = isSuccess ? ask(route, able(route)) : way()
  if (answer === undefined) throw new Error(`no request for ${route} ${status}`)
  return answer
}

const cells = declared
  .trim()
  .split('\n')
  .flatMap(line => {
    const [routes = '', statuses = ''] = line.split(' | ')
    return routes
      .split(', ')
      .flatMap(route => statuses.split(' ').map(status => [route, Number(status)] as const))
  })
  .filter(([route, status]) => !impossible.includes(`${route} ${status}`))

describe('every declared status is reached', () => {
  // proves A13.7, A13.8, C2.8, C3.1
  test.each(cells)('%s: %i', async (route, status) => {
    const answer = await reach(route, status)
    expect(answer.status).toBe(status)
    if (status < 400) return
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    expect(answer.body).toMatchObject({ status, title: expect.any(String) })
    expect('errors' in answer.body).toBe(status === 400)
  })

  // proves C3.2
  test('and documented: by each operation as the contract declares it', async () => {
    const { body } = await kit.vault.ask('GET', '/swagger/json')
    const paths = body['paths'] as Record<string, Record<string, { responses: object }>>
    const missing = cells.filter(([route, status]) => {
      const [method = '', path = ''] = route.split(' ')
      return !(String(status) in (paths[path]?.[method.toLowerCase()]?.responses ?? {}))
    })
    expect(missing).toEqual([])
  })
})

const full = () => {
  throw new ApiError('storage_full', 'There is no room left.')
}

describe('a status that any request may meet is reached', () => {
  test('404 for an unknown address, 405 with the methods that are allowed', async () => {
    expect((await send('GET', '/nothing', 'plain')).status).toBe(404)
    const answer = await send('PUT', '/tokens', 'plain', { body: {} })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toContain('POST')
  })

  test('414 for an address that is too long', async () => {
    const path = `/tokens?id=${'x'.repeat(8 * 1024)}`
    expect((await send('GET', path, 'plain')).status).toBe(414)
  })

  test('429 with when to come back, for a credential alone that asks too often', async () => {
    const vault = await openTestVault(74, { requestsPerSecondMax: 2 })
    const other = await vault.application({ type: 'private', permissions: ['token:read'] })
    const asks = () => vault.ask('GET', '/applications/key', { key: vault.managementKey })
    const answers = [await asks(), await asks()]
    const last = answers.at(-1)
    expect(last?.status).toBe(429)
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await vault.ask('GET', '/tokens', { key: other })).status).toBe(200)
    vault.clock.advance(1_000)
    expect((await asks()).status).toBe(200)
  })

  test('503 with when to come back, while the service stops', async () => {
    const vault = await openTestVault(75)
    const app = buildApp(vault.deps)
    await app.drain()
    const answer = await app.handle(requestOf('GET', '/tokens', { key: vault.managementKey }))
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('507 for a write when the disk is full, and reads go on', async () => {
    const vault = await openTestVault(76)
    const permissions = ['token:create', 'token:read']
    const key = await vault.application({ type: 'private', permissions })
    const app = buildApp({ ...vault.deps, store: { ...vault.deps.store, write: full } })
    const body = { type: 'token', data: 'c4n4ry' }
    const write = await app.handle(requestOf('POST', '/tokens', { key, body }))
    expect(write.status).toBe(507)
    expect(await write.text()).not.toContain('c4n4ry')
    expect((await app.handle(requestOf('GET', '/tokens', { key }))).status).toBe(200)
  })
})
