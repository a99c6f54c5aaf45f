/**
 * Checks the request log of a served vault: the facts that an incident needs, and the absence of
 * all else. The same for one process, several workers and a database.
 * @module
 */
import { expect } from 'bun:test'
import { runCoffer, startCoffer, type Running } from './coffer-process.ts'
import { exchange, requestText } from './wire.ts'

type Line = Readonly<Record<string, unknown>>

/** Texts that a caller planted in ids, paths, headers and data: no line may hold any of them. */
const marks = ['planted', '4242424242424242', 'order-"17"', 'évil', 'inject']

const hostileId = 'planted order-"17" évil'
const client = '192.0.2.77'
const forwarded = { 'X-Forwarded-For': `203.0.113.9, ${client}` }

interface Told {
  readonly key: string
  readonly id: string
  readonly keyId: string
}

interface Asking {
  readonly base: string
  readonly keyFor: string
}

async function send({ base, keyFor }: Asking, path: string, body?: object, method?: string) {
  const answer = await fetch(base + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...forwarded, 'SVC-API-KEY': keyFor, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Line }
}

async function addApplication(manager: Asking, transform: string): Promise<Told> {
  const permissions = ['read', 'create', 'use', 'search', 'update', 'delete'].map(
    name => `token:${name}`,
  )
  const rules = [{ priority: 1, container: '/', transform, permissions }]
  const asked = { name: 'planted', type: 'private', rules, permissions }
  const { body } = await send(manager, '/applications', asked)
  const { body: keys } = await send(manager, `/applications/${String(body['id'])}/keys`)
  const [{ id: keyId }] = keys as unknown as readonly [{ id: string }]
  return { key: String(body['key']), id: String(body['id']), keyId }
}

/** Spends more than one second's rate; the next request may meet another worker. */
async function spendRate(asking: Asking): Promise<void> {
  const many = Array.from({ length: 1_000 }, (_, n) => n)
  for (;;) {
    await send(asking, '/detokenize', many)
    if ((await send(asking, '/tokens/absent')).status === 429) return
  }
}

/** Each is refused, or finds nothing. */
async function sendHostile(port: number, key: string): Promise<void> {
  const paths = [
    `/tokens/${'planted'.repeat(500)}`,
    '/tokens/planted%0a%7B%22event%22:%22inject%22%7D',
    '/tokens/planted%0d%0ainject',
    '/tokens/planted%ff%fe',
    '/tokens/4242424242424242',
    '/planted/4242424242424242?inject=planted',
    `/applications/${'planted'.repeat(20)}`,
    '/applications/42424242-4242-4242-8242-424242424242',
  ]
  const headers = [
    {},
    { 'X-Forwarded-For': `${'planted,'.repeat(500)}4242424242424242` },
    { 'X-Forwarded-For': 'fe80::1%4242424242424242' },
    { 'X-Forwarded-For': '"},{"inject":"planted' },
    { 'SVC-TRACE-ID': 'key_planted4242424242424242' },
    { 'SVC-TRACE-ID': 'a\tinject' },
  ]
  for (const path of paths) {
    await exchange(port, requestText('GET', path, { 'SVC-API-KEY': key }))
  }
  for (const more of headers) {
    await exchange(port, requestText('GET', '/tokens/planted', { 'SVC-API-KEY': key, ...more }))
  }
  await exchange(port, requestText('PLANTED', '/tokens', { 'SVC-API-KEY': key }))
}

const digestOf = async (folder: readonly string[], id: string): Promise<string> => {
  const { stdout, stderr, exitCode } = await runCoffer(['log', 'digest', '-', ...folder], {
    input: `${id}\n`,
  })
  expect([exitCode, stderr]).toEqual([0, ''])
  return stdout.trimEnd()
}

function parseLines(text: string): readonly Line[] {
  const lines = text.split('\n').filter(line => line !== '')
  return lines.map(line => JSON.parse(line) as Line).filter(({ event }) => event === 'request')
}

interface Vault {
  /** Options that name the folder to commands. */
  readonly folder: readonly string[]
  readonly managerKey: string
  readonly more?: readonly string[]
}

async function start({ folder, more = [] }: Vault): Promise<{ server: Running; base: string }> {
  const logged = ['--log-requests', 'all', '--log-format', 'json']
  const trusted = ['--trusted-proxies', '127.0.0.1', '--requests-per-second-max', '200']
  const args = ['serve', ...folder, '--port', '0', ...logged, ...trusted, ...more]
  const server = await startCoffer(args)
  return { server, base: /https?:\/\/[^\s"]+/.exec(server.ready)?.[0] ?? '' }
}

interface Asked {
  readonly seer: Told
  readonly masked: Told
}

/** Sends all requests whose lines are then checked. */
async function askAll(manager: Asking): Promise<Asked> {
  const { base } = manager
  const seer = await addApplication(manager, 'reveal')
  const masked = await addApplication(manager, 'mask')
  const asSeer = { base, keyFor: seer.key }
  const asMasked = { base, keyFor: masked.key }
  const card = { type: 'card', data: { number: '4242424242424242' } }
  const path = `/tokens/${encodeURIComponent(hostileId)}`
  const statusOf = async (...asked: Parameters<typeof send>) => (await send(...asked)).status
  expect(await statusOf(asSeer, '/tokens', { ...card, id: hostileId })).toBe(201)
  expect(
    await statusOf(asSeer, '/tokenize', { a: { ...card, id: 'planted-2' }, b: 'planted' }),
  ).toBe(200)
  for (const asking of [asSeer, asMasked]) {
    expect(await statusOf(asking, path)).toBe(200)
    expect(await statusOf(asking, '/tokens?type=card')).toBe(200)
    expect(await statusOf(asking, '/tokens/search', { query: 'type:card' })).toBe(200)
  }
  expect(await statusOf(asSeer, '/detokenize', { a: `{{ ${hostileId} }}` })).toBe(200)
  const patched = await fetch(base + path, {
    method: 'PATCH',
    headers: { 'SVC-API-KEY': seer.key, 'Content-Type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { planted: 'inject' } }),
  })
  expect(patched.status).toBe(200)
  expect(await statusOf({ base, keyFor: 'key_planted' }, path)).toBe(401)
  expect(await statusOf(manager, path)).toBe(403)
  expect(await statusOf(asSeer, path, undefined, 'DELETE')).toBe(204)
  expect(await statusOf(asSeer, path)).toBe(404)
  await spendRate(asMasked)
  await sendHostile(Number(new URL(base).port), seer.key)
  expect(await statusOf(manager, `/applications/${masked.id}`, undefined, 'DELETE')).toBe(204)
  return { seer, masked }
}

type Find = (operation: string, status: number, keyId?: string) => readonly Line[]

const holding = (line: Line) => [expect.objectContaining(line)] as unknown as Line[]

function expectShown(of: Find, { seer, masked }: Asked, digest: string): void {
  const by = { application_id: seer.id, key_id: seer.keyId, client_address: client }
  const about = { token_digest: digest }
  expect(of('createToken', 201)).toEqual(holding({ ...by, ...about, shown: { mask: 1 } }))
  expect(of('tokenize', 200)).toEqual(holding({ ...by, shown: { mask: 1 } }))
  const [whole, hidden] = [seer.keyId, masked.keyId]
  expect(of('getToken', 200, whole)).toEqual(holding({ ...by, ...about, shown: { reveal: 1 } }))
  expect(of('getToken', 200, hidden)).toEqual(holding({ ...about, shown: { mask: 1 } }))
  for (const operation of ['listTokens', 'searchTokens']) {
    expect(of(operation, 200, whole)).toEqual(holding({ ...by, shown: { reveal: 2 } }))
    expect(of(operation, 200, hidden)).toEqual(holding({ shown: { mask: 2 } }))
  }
  expect(of('detokenize', 200, whole)).toEqual(holding({ ...by, shown: { reveal: 1 } }))
  const direct = { client_address: '127.0.0.1' }
  expect(of('updateToken', 200)).toEqual(holding({ ...about, ...direct }))
  expect(of('deleteToken', 204)).toEqual(holding(about))
}

function expectRefused(of: Find, digest: string): void {
  for (const status of [401, 403, 404, 429]) {
    const refused = of('getToken', status)
    expect(refused.length).toBeGreaterThan(0)
    for (const line of refused) expect(line['client_address']).toMatch(/^(?:192|127|fe80)\b/)
    for (const line of refused) expect(line).not.toHaveProperty('shown')
  }
  // If any id could be digested, a caller could match a log line to its token.
  for (const status of [401, 403, 429]) {
    for (const line of of('getToken', status)) expect(line).not.toHaveProperty('token_digest')
  }
  expect(of('getToken', 404)[0]).toMatchObject({ token_digest: digest })
  for (const line of of('getApplication', 404)) expect(line).not.toHaveProperty('object_id')
}

/** Starts, queries and ends a vault, and checks all its lines. */
export async function checkRequestLines(vault: Vault): Promise<void> {
  const { server, base } = await start(vault)
  const asked = await askAll({ base, keyFor: vault.managerKey })
  const digest = await digestOf(vault.folder, hostileId)
  expect(digest).toMatch(/^[\w-]{22}$/)
  expect(await server.end('SIGTERM')).toBe(0)
  expect(await digestOf(vault.folder, hostileId)).toBe(digest)
  const text = await server.stderr
  for (const mark of [...marks, vault.managerKey, asked.seer.key]) expect(text).not.toContain(mark)
  const lines = parseLines(text)
  const of: Find = (operation, status, keyId) =>
    lines
      .filter(line => line['operation'] === operation && line['status'] === status)
      .filter(line => keyId === undefined || line['key_id'] === keyId)
  expectShown(of, asked, digest)
  expectRefused(of, digest)
  const { seer, masked } = asked
  const deleted = { object_id: masked.id, client_address: client }
  expect(of('deleteApplication', 204)).toEqual(holding(deleted))
  expect(of('createApplication', 201).map(line => line['object_id'])).toEqual([seer.id, masked.id])
}
