/**
 * Sessions over HTTP: creating, authorizing, and the callers that may. Source: contract section 12.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  addApplication,
  openSessionKit,
  tokenPermissions,
  type SessionKit,
} from '../support/sessions.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let kit: SessionKit
beforeAll(async () => {
  vault = await openTestVault(41)
  kit = await openSessionKit(vault)
})

const reading = { permissions: ['token:read'] }
const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }
const condition = { attribute: 'id', operator: 'starts_with', value: 'order-' }

const statusOf = async (method: string, path: string, key: string, body?: unknown) =>
  (await vault.ask(method, path, body === undefined ? { key } : { key, body })).status

describe('creating a session', () => {
  // proves A1.7, A8.1, A8.3, A13.3, C12.1, C12.9
  test('answers 201 with a key, a nonce and the end, and nothing else', async () => {
    const answer = await vault.ask('POST', '/sessions', { key: kit.creator.key })
    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual(['id', 'session_key', 'nonce', 'expires_at'])
    expect(answer.body['session_key']).toMatch(/^key_sess_[1-9A-HJ-NP-Za-km-z]{22}$/)
    expect(answer.body['nonce']).toMatch(/^[1-9A-HJ-NP-Za-km-z]{22}$/)
    expect(answer.body['expires_at']).toBe('2030-01-01T00:03:00.000+00:00')
    expect(String(answer.body['session_key'])).not.toContain(String(answer.body['nonce']))
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  // proves A13.6
  test('gives each session its own key and nonce', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => kit.create()))
    const texts = made.flatMap(({ key, nonce }) => [key, key.slice(9), nonce])
    expect(new Set(texts).size).toBe(60)
  })

  // proves A11.2, C1.24
  test.each([
    ['an empty form', 'application/x-www-form-urlencoded', ''],
    ['an empty JSON body', 'application/json', ''],
    ['what is not JSON', 'application/json', '{"'],
    ['members that look like grants', 'application/json', JSON.stringify(reading)],
    ['plain text', 'text/plain', 'canary'],
    ['bytes without a type', '', new Uint8Array([0xff, 0xfe])],
  ])('ignores %s', async (_, type, raw) => {
    const answer = await vault.ask('POST', '/sessions', { key: kit.creator.key, type, raw })
    expect(answer.status).toBe(201)
    expect(await statusOf('GET', '/tokens', String(answer.body['session_key']))).toBe(403)
  })
})

describe('authorizing a session', () => {
  // proves A1.8, A8.2, A9.5, A9.6, A11.8
  test('answers 200 with an empty body, and the session has its grants at once', async () => {
    const { key, nonce } = await kit.create()
    expect(await statusOf('GET', '/tokens', key)).toBe(403)
    const answer = await kit.authorize(nonce, reading)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(answer.headers.get('content-type')).toBeNull()
    expect(await statusOf('GET', '/tokens', key)).toBe(200)
    expect(await statusOf('DELETE', '/tokens/absent', key)).toBe(403)
    expect(await statusOf('GET', '/tokens/absent', key)).toBe(404)
  })

  // proves C12.14
  test('makes the public application the creator of what the session creates', async () => {
    const key = await kit.open({ permissions: ['token:create', 'token:update'] })
    const body = { id: 'by-session', type: 'token', data: 'secret', mask: '{{ data | last4 }}' }
    const made = await vault.ask('POST', '/tokens', { key, body })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ data: 'cret', created_by: kit.creator.id })
    const changed = await vault.ask('PATCH', '/tokens/by-session', { key, body: { data: 'more' } })
    expect(changed.body['modified_by']).toBe(kit.creator.id)
  })

  // proves A7.1, A11.5, C11.10, C12.4
  test.each([
    ['permissions as null', { permissions: null, rules: [rule] }],
    ['rules as null', { ...reading, rules: null, expires_at: null }],
    ['a rule on a container', { rules: [rule] }],
    ['a rule on conditions', { rules: [{ ...rule, container: null, conditions: [condition] }] }],
    ['every token permission', { permissions: tokenPermissions }],
  ])('takes %s', async (_, grants) => {
    const { nonce } = await kit.create()
    expect((await kit.authorize(nonce, grants)).status).toBe(200)
  })

  // proves A9.7, C3.5
  test('is done once: a nonce that was used is a conflict, and its grants stay', async () => {
    const { key, nonce } = await kit.create()
    await kit.authorize(nonce, reading)
    const again = await kit.authorize(nonce, { permissions: tokenPermissions })
    expect(again.status).toBe(409)
    expect(again.text).not.toContain(nonce)
    expect(await statusOf('DELETE', '/tokens/absent', key)).toBe(403)
  })

  const condemned = (changes: object) => ({
    rules: [{ ...rule, container: undefined, conditions: [{ ...condition, ...changes }] }],
  })
  const refused: readonly (readonly [string, object, readonly string[]])[] = [
    ['no nonce', { nonce: undefined, ...reading }, ['nonce']],
    ['a nonce that is no text', { nonce: 17, ...reading }, ['nonce']],
    // proves H153
    ['neither permissions nor rules', {}, ['permissions']],
    // proves H153
    ['empty permissions and rules', { permissions: [], rules: [] }, ['permissions']],
    // proves H154
    ['a permission on applications', { permissions: ['application:read'] }, ['permissions[0]']],
    ['an unknown permission', { permissions: ['token:*'] }, ['permissions[0]']],
    ['a permission in another case', { permissions: ['Token:Read'] }, ['permissions[0]']],
    // proves H133
    [
      'a rule with container and conditions',
      { rules: [{ ...rule, conditions: [condition] }] },
      ['rules[0]'],
    ],
    // proves H133
    ['a rule with neither', { rules: [{ ...rule, container: undefined }] }, ['rules[0]']],
    [
      'empty conditions',
      { rules: [{ ...rule, container: undefined, conditions: [] }] },
      ['rules[0].conditions'],
    ],
    [
      'a condition on another attribute',
      condemned({ attribute: 'canary' }),
      ['rules[0].conditions[0].attribute'],
    ],
    ['another operator', condemned({ operator: 'canary' }), ['rules[0].conditions[0].operator']],
    ['an empty value', condemned({ value: '' }), ['rules[0].conditions[0].value']],
    ['a value that is no text', condemned({ value: 1 }), ['rules[0].conditions[0].value']],
    [
      'a value that no container begins with',
      condemned({ attribute: 'container', value: 'canary' }),
      ['rules[0].conditions[0].value'],
    ],
    // proves H134
    ['two rules of one priority', { rules: [rule, rule] }, ['rules[1].priority']],
    ['priority 0', { rules: [{ ...rule, priority: 0 }] }, ['rules[0].priority']],
    ['an unknown transform', { rules: [{ ...rule, transform: 'Reveal' }] }, ['rules[0].transform']],
    [
      'a rule without permissions',
      { rules: [{ ...rule, permissions: [] }] },
      ['rules[0].permissions'],
    ],
    [
      'a rule with a permission on keys',
      { rules: [{ ...rule, permissions: ['key:read'] }] },
      ['rules[0].permissions[0]'],
    ],
    ['a bad container', { rules: [{ ...rule, container: 'canary' }] }, ['rules[0].container']],
    // proves H116
    ['an end in the past', { ...reading, expires_at: '2029-12-31T23:59:59Z' }, ['expires_at']],
    ['an end that is no instant', { ...reading, expires_at: 'canary' }, ['expires_at']],
  ]

  // proves A7.6, A7.13, A9.6, A11.4, A11.6, A11.9, C11.8, C11.10, C12.4, H152
  test.each(refused)('refuses %s, and leaves the nonce', async (_, body, at) => {
    const { key, nonce } = await kit.create()
    const answer = await kit.authorize(nonce, body)
    expect([answer.status, Object.keys(answer.body['errors'] ?? {})]).toEqual([400, [...at]])
    for (const secret of ['canary', nonce, key]) expect(answer.text).not.toContain(secret)
    expect(await statusOf('GET', '/tokens', key)).toBe(403)
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
  })

  // proves A11.4
  test('refuses a body of another type or too large a one, and leaves the nonce', async () => {
    const { nonce } = await kit.create()
    const send = (raw: string, type: string) =>
      vault.ask('POST', '/sessions/authorize', { key: kit.authorizer.key, raw, type })
    const text = JSON.stringify({ nonce, ...reading })
    expect((await send(text, 'text/plain')).status).toBe(415)
    expect((await send(`${text} ${' '.repeat(1024 * 1024)}`, 'application/json')).status).toBe(413)
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
  })

  // proves A11.9, C3.5
  test('finds nothing for what is no live nonce', async () => {
    const { key, nonce } = await kit.create()
    const others = ['', nonce.slice(1), `${nonce} `, nonce.toLowerCase(), key, key.slice(9)]
    for (const other of [...others, kit.creator.key, kit.authorizer.key]) {
      const answer = await kit.authorize(other, reading)
      expect(answer.status).toBe(404)
      if (other !== '') expect(answer.text).not.toContain(other)
    }
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
  })
})

describe('the credentials of a session', () => {
  test('a nonce, a digest and a shortened key are no keys', async () => {
    const { key, nonce } = await kit.create()
    await kit.authorize(nonce, reading)
    const digest = new Bun.CryptoHasher('sha256').update(key).digest('hex')
    const wrong = [nonce, `key_${nonce}`, `key_sess_${nonce}`, `key_${key.slice(9)}`]
    for (const other of [...wrong, 'key_sess_', key.slice(0, -1), digest, `key_sess_${digest}`]) {
      expect(await statusOf('GET', '/tokens', other)).toBe(401)
    }
    expect(await statusOf('GET', '/tokens', key)).toBe(200)
  })
})

const absentBody = { nonce: 'absent', ...reading }
const newApplication = { name: 'x', type: 'private', ...reading }
const newToken = { type: 'token', data: 1 }

/** Statuses of: no key · public · private · management · new session · authorized session. */
const matrix: readonly (readonly [string, string, unknown, readonly number[]])[] = [
  ['POST', '/sessions', undefined, [401, 201, 403, 403, 403, 403]],
  ['POST', '/sessions/authorize', absentBody, [401, 403, 404, 403, 403, 403]],
  ['POST', '/sessions/authorize', {}, [401, 403, 400, 403, 403, 403]],
  ['POST', '/sessions/authorize', undefined, [401, 403, 415, 403, 403, 403]],
  ['GET', '/sessions', undefined, [401, 403, 403, 200, 403, 403]],
  ['DELETE', '/sessions/absent', undefined, [401, 403, 404, 404, 403, 403]],
  ['GET', '/applications/key', undefined, [401, 200, 200, 200, 403, 403]],
  ['GET', '/applications', undefined, [401, 403, 403, 200, 403, 403]],
  ['GET', '/applications/absent', undefined, [401, 403, 403, 404, 403, 403]],
  ['POST', '/applications', newApplication, [401, 403, 403, 201, 403, 403]],
  ['PUT', '/applications/absent', newApplication, [401, 403, 403, 404, 403, 403]],
  ['POST', '/applications/absent/regenerate', undefined, [401, 403, 403, 404, 403, 403]],
  ['DELETE', '/applications/absent', undefined, [401, 403, 403, 404, 403, 403]],
  ['GET', '/tokens', undefined, [401, 403, 200, 403, 403, 200]],
  ['POST', '/tokens', newToken, [401, 201, 201, 403, 403, 201]],
  ['GET', '/tokens/absent', undefined, [401, 403, 404, 403, 403, 404]],
  ['PATCH', '/tokens/absent', { data: 2 }, [401, 404, 404, 403, 403, 404]],
  ['DELETE', '/tokens/absent', undefined, [401, 403, 404, 403, 403, 404]],
]

describe('each operation by each kind of caller', () => {
  let keys: readonly (string | undefined)[]
  beforeAll(async () => {
    const writing = { type: 'public', permissions: ['token:create', 'token:update'] }
    const { key } = await kit.create()
    const open = await kit.open({ permissions: tokenPermissions })
    const shop = await addApplication(vault, writing)
    keys = [undefined, shop.key, kit.authorizer.key, vault.managementKey, key, open]
  })

  // proves A1.7, A11.1, A11.3, C12.3, H149, H156
  test.each(matrix)('%s %s', async (method, path, body, expected) => {
    const statuses: number[] = []
    for (const key of keys) {
      const asked = {
        ...(key === undefined ? {} : { key }),
        ...(body === undefined ? {} : { body }),
      }
      const answer = await vault.ask(method, path, asked)
      statuses.push(answer.status)
      if (answer.status >= 400) expect(answer.body['status']).toBe(answer.status)
    }
    expect(statuses).toEqual([...expected])
  })

  // proves H150
  test('refusing a caller leaves the nonce', async () => {
    const { nonce } = await kit.create()
    for (const key of keys.filter(other => other !== kit.authorizer.key)) {
      const asked = { ...(key === undefined ? {} : { key }), body: { nonce, ...reading } }
      expect([401, 403]).toContain((await vault.ask('POST', '/sessions/authorize', asked)).status)
    }
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
  })
})

// proves C13.3
test('a session key does not read the application that made it', async () => {
  const key = await kit.open(reading)
  const answer = await vault.ask('GET', `/applications/${kit.creator.id}`, { key })
  expectProblem(answer, 403, undefined, [kit.creator.id])
  const own = await vault.ask('GET', `/applications/${kit.creator.id}`, { key: kit.creator.key })
  expect([own.status, own.body['id']]).toEqual([200, kit.creator.id])
})
