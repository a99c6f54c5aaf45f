/**
 * Texts that are no key, places where a key may stand, and how often a key may call. Group H of
 * docs/hostile-inputs.md; contract sections 1 and 2.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { expectProblem } from '../support/problem.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault } from '../support/vault.ts'
import { expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
let sessionKey: string
let nonce: string
beforeAll(async () => {
  wire = await openWire(107)
  const permissions = ['token:create']
  const key = await wire.vault.application({ type: 'public', permissions })
  const { body } = await wire.vault.ask('POST', '/sessions', { key })
  sessionKey = String(body['session_key'])
  nonce = String(body['nonce'])
})
afterAll(() => wire.close())

const withoutTrace = (body: string) => body.replace(/urn:trace:[^"]+/, '')

/** Bytes beyond ASCII in a header arrive as Latin-1. */
const ask = async (headers: Readonly<Record<string, string>>, target = '/applications/key') => {
  const received = await wire.send(Buffer.from(requestText('GET', target, headers), 'latin1'))
  return { received, status: received.answers[0]?.status, body: received.answers[0]?.body ?? '' }
}

describe('a text that is no live key is 401, with one body for all', () => {
  // proves A13.1, C2.9, H118, H120, S41
  test('H118, H120: whatever stands in its place', async () => {
    const { key } = wire
    const nobody = withoutTrace((await ask({})).body)
    const wrong = [
      '',
      '   ',
      'key_',
      'k',
      canary,
      `key_${canary}`,
      'a'.repeat(10_000),
      'k\u00e9y',
      key.toUpperCase(),
      key.toLowerCase(),
      key.slice(0, -1),
      `${key}1`,
      `${key} x`,
      `"${key}"`,
      `Bearer ${key}`,
      Buffer.from(key).toString('base64'),
      nonce,
      `key_${nonce}`,
      `key_sess_${nonce}`,
      createHash('sha256').update(key).digest('hex'),
      `key_${key}`,
    ]
    for (const text of wrong) {
      const { status, body, received } = await ask({ 'SVC-API-KEY': text })
      expect([text, status]).toEqual([text, 401])
      expect(withoutTrace(body)).toBe(nobody)
      await expectUnharmed(wire, received)
    }
  })

  // proves H120
  test('H120: but space around a header is none of its value', async () => {
    // decision: RFC 9110 section 5.5 takes it away, and so does the server.
    expect((await ask({ 'SVC-API-KEY': `  ${wire.key}  ` })).status).toBe(200)
  })

  // proves A13.1, H121
  test('H121: wherever else a key stands', async () => {
    const { key } = wire
    for (const [headers, target] of [
      [{ Authorization: key }, '/applications/key'],
      [{ Authorization: `Bearer ${key}` }, '/applications/key'],
      [{ Cookie: `SVC-API-KEY=${key}` }, '/applications/key'],
      [{ 'X-API-KEY': key }, '/applications/key'],
      [{}, `/applications/key?SVC-API-KEY=${key}&api_key=${key}`],
    ] as const) {
      const { status, received } = await ask(headers, target)
      expect(status).toBe(401)
      expect(received.text).not.toContain(key)
      expect(wire.vault.logged.join('\n')).not.toContain(key)
    }
  })

  // proves A13.2, H122
  test('H122: keys, nonces and session keys are no one another', async () => {
    expect((await ask({ 'SVC-API-KEY': sessionKey }, '/tokens')).status).toBe(403)
    expect((await ask({ 'SVC-API-KEY': nonce }, '/tokens')).status).toBe(401)
    const authorize = async (text: string) => {
      const sent = JSON.stringify({ nonce: text, permissions: ['token:create'] })
      return (await wire.ask('POST', '/sessions/authorize', sent)).status
    }
    expect(await authorize(sessionKey)).toBeGreaterThanOrEqual(400)
    expect(await authorize(wire.key)).toBeGreaterThanOrEqual(400)
    expect(await authorize(nonce)).toBe(200)
  })

  test('twice the same header is no key', async () => {
    const { key } = wire
    expect((await ask({ 'SVC-API-KEY': `${key}\r\nSVC-API-KEY: ${key}` })).status).toBe(401)
  })
})

describe('further names of the key header', () => {
  const aliases = { keyHeaders: ['bt-api-key', 'x-key'] }

  // proves C1.1
  test('carry the key like the first one', async () => {
    const vault = await openTestVault(108, aliases)
    const { managementKey } = vault
    const statusOf = async (headers: Readonly<Record<string, string>>) =>
      (await vault.ask('GET', '/applications/key', { headers })).status
    expect(await statusOf({ 'BT-API-KEY': managementKey })).toBe(200)
    expect(await statusOf({ 'X-Key': managementKey, 'SVC-API-KEY': managementKey })).toBe(200)
    expect(await statusOf({ 'X-Other': managementKey })).toBe(401)
  })

  test('are 401 where two of them disagree, whichever is right', async () => {
    const vault = await openTestVault(109, aliases)
    const key = vault.managementKey
    for (const headers of [
      { 'SVC-API-KEY': key, 'BT-API-KEY': 'key_other' },
      { 'SVC-API-KEY': 'key_other', 'BT-API-KEY': key },
      { 'BT-API-KEY': key, 'X-Key': 'key_other' },
      { 'SVC-API-KEY': key, 'X-Key': '' },
    ]) {
      expect((await vault.ask('GET', '/applications/key', { headers })).status).toBe(401)
    }
  })

  // proves C1.1
  test('are none unless they are set', async () => {
    const vault = await openTestVault(110)
    const headers = { 'BT-API-KEY': vault.managementKey }
    expect((await vault.ask('GET', '/applications/key', { headers })).status).toBe(401)
  })
})

describe('a prefix of header names', () => {
  const prefixes = { headerPrefix: ['bt', 'shop'] }
  const body = { type: 'token', data: 1 }

  // proves C1.2, P32
  test('stands for the key, the trace id and the idempotency key', async () => {
    const vault = await openTestVault(115, prefixes)
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    for (const prefix of ['BT', 'SHOP', 'SVC']) {
      const headers = {
        [`${prefix}-API-KEY`]: key,
        [`${prefix}-TRACE-ID`]: `trace of ${prefix}`.replaceAll(' ', '-'),
        [`${prefix}-IDEMPOTENCY-KEY`]: `once under ${prefix}`.replaceAll(' ', '-'),
      }
      const [first, again] = [
        await vault.ask('POST', '/tokens', { headers, body }),
        await vault.ask('POST', '/tokens', { headers, body }),
      ]
      expect([first.status, again.status]).toEqual([201, 201])
      expect(again.body['id']).toBe(first.body['id'])
      expect(again.headers.get('svc-idempotent-replay')).toBe('true')
      expect(again.headers.get('svc-trace-id')).toBe(`trace-of-${prefix}`)
    }
  })

  // proves C1.4
  test('makes one idempotency key under whatever name, and 400 of two', async () => {
    const vault = await openTestVault(116, prefixes)
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const create = (headers: Readonly<Record<string, string>>) =>
      vault.ask('POST', '/tokens', { key, headers, body })
    const first = await create({ 'BT-IDEMPOTENCY-KEY': 'one', 'SVC-IDEMPOTENCY-KEY': 'one' })
    expect((await create({ 'SHOP-IDEMPOTENCY-KEY': 'one' })).body['id']).toBe(first.body['id'])
    const two = await create({ 'BT-IDEMPOTENCY-KEY': 'one', 'SVC-IDEMPOTENCY-KEY': 'two' })
    expectProblem(two, 400, ['SVC-IDEMPOTENCY-KEY'], ['two'])
  })

  // proves C1.2
  test('is none unless it is set, and 401 where two keys differ', async () => {
    const plain = await openTestVault(117)
    const headers = { 'BT-API-KEY': plain.managementKey }
    expect((await plain.ask('GET', '/applications/key', { headers })).status).toBe(401)
    const vault = await openTestVault(118, prefixes)
    const { managementKey } = vault
    const differ = { 'SVC-API-KEY': managementKey, 'SHOP-API-KEY': 'key_other' }
    expect((await vault.ask('GET', '/applications/key', { headers: differ })).status).toBe(401)
  })

  // proves C1.2
  test('is told to browsers', async () => {
    const vault = await openTestVault(119, { ...prefixes, corsOrigins: ['*'] })
    const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' }
    const answer = await vault.ask('OPTIONS', '/tokens', { headers })
    const allowed = answer.headers.get('access-control-allow-headers') ?? ''
    for (const name of ['bt-api-key', 'bt-trace-id', 'shop-idempotency-key', 'SVC-API-KEY']) {
      expect(allowed.split(', ')).toContain(name)
    }
  })
})

describe('requests in a second', () => {
  // proves C2.24
  test('are bounded for each credential, and come back with time', async () => {
    const vault = await openTestVault(111, { requestsPerSecondMax: 4 })
    const other = await vault.application({ type: 'private', permissions: ['token:read'] })
    vault.clock.advance(1_000)
    const ask = (key: string) => vault.ask('GET', '/applications/key', { key })
    const statuses = async (count: number) => {
      const asked = Array.from({ length: count }, () => ask(vault.managementKey))
      return (await Promise.all(asked)).map(({ status }) => status)
    }
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 429])
    expect((await ask(other)).status).toBe(200)
    const refused = await ask(vault.managementKey)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body).toMatchObject({ status: 429, title: 'Too Many Requests' })
    vault.clock.advance(500)
    expect(await statuses(3)).toEqual([200, 200, 429])
    vault.clock.advance(60_000)
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 429])
  })

  test('count before the permission, and not for what is no key', async () => {
    const vault = await openTestVault(112, { requestsPerSecondMax: 1 })
    const key = vault.managementKey
    expect((await vault.ask('GET', '/tokens/any', { key })).status).toBe(403)
    expect((await vault.ask('GET', '/tokens/any', { key })).status).toBe(429)
    for (let count = 0; count < 5; count += 1) {
      expect((await vault.ask('GET', '/tokens/any', { key: 'key_unknown' })).status).toBe(401)
    }
  })

  test('are not bounded unless a setting says so', async () => {
    const vault = await openTestVault(113)
    const asked = Array.from({ length: 300 }, () =>
      vault.ask('GET', '/applications/key', { key: vault.managementKey }),
    )
    expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true)
  })
})
