/**
 * Tokens over HTTP: create, get, list, update, delete, with the refusal beside each success.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type Ask, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const card = { number: cardNumber, expiration_month: 12, expiration_year: 2030, cvc: '123' }
const tokenPermissions = ['token:create', 'token:read', 'token:update', 'token:delete']
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let vault: TestVault
/** Plain permissions: masks. */
let plain: string
/** A rule on `/` that reveals. */
let revealing: string

beforeAll(async () => {
  vault = await openTestVault()
  plain = await vault.application({ type: 'private', permissions: tokenPermissions })
  revealing = await vault.application({
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }],
  })
})

const create = (body: unknown, key = plain) => vault.ask('POST', '/tokens', { key, body })
const read = (id: unknown, key = plain) => vault.ask('GET', `/tokens/${String(id)}`, { key })

/** Expects a refusal: a problem document that repeats nothing of the request. */
async function expectRefusal(method: string, path: string, ask: Ask, status: number, at?: string) {
  const answer = await vault.ask(method, path, ask)
  expect([answer.status, answer.body['status']]).toEqual([status, status])
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  if (at !== undefined) expect(Object.keys(answer.body['errors'] ?? {})).toEqual([at])
  for (const sent of [cardNumber, '4242424242424241', 'canary']) {
    expect(answer.text).not.toContain(sent)
  }
  return answer
}

describe('creating a token', () => {
  // proves A2.2, A2.3, A3.2, C1.29, C1.33, C7.1
  test('answers 201 with the masked token and where it is', async () => {
    const answer = await create({ type: 'card', data: card, metadata: { Order: 'A-1' } })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.stringMatching(uuid),
      tenant_id: vault.tenantId,
      type: 'card',
      data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
      mask: {
        number: '{{ data.number | reveal_last: 4 }}',
        expiration_month: '{{ data.expiration_month }}',
        expiration_year: '{{ data.expiration_year }}',
      },
      fingerprint: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{44}$/),
      containers: ['/pci/high/'],
      metadata: { Order: 'A-1' },
      created_by: expect.stringMatching(uuid),
      created_at: '2030-01-01T00:00:00.000+00:00',
      search_indexes: [],
      fingerprint_expression: '{{ data.number }}',
      _extras: { cvc_expires_at: '2030-01-02T00:00:00.000+00:00' },
    })
    expect(answer.headers.get('location')).toBe(`/tokens/${String(answer.body['id'])}`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.text).not.toContain(cardNumber)
    expect(answer.text).not.toContain('"cvc"')
  })

  // proves A2.14
  test('masks even for a caller whose rule reveals', async () => {
    const answer = await create({ type: 'card', data: card }, revealing)
    expect(answer.body['data']).toMatchObject({ number: 'XXXXXXXXXXXX4242' })
  })

  // proves A2.1, C7.5, C7.6
  test('takes an id, and refuses it a second time', async () => {
    expect((await create({ id: 'order 17', type: 'token', data: 1 })).status).toBe(201)
    const ask = { key: plain, body: { id: 'order 17', type: 'token', data: 2 } }
    await expectRefusal('POST', '/tokens', ask, 409)
    expect((await read('order%2017', revealing)).body['data']).toBe(1)
  })

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['a type that is not there', { type: 'canary', data: 1 }, 'type'],
    ['no type', { data: 1 }, 'type'],
    ['no data', { type: 'token' }, 'data'],
    ['data null', { type: 'token', data: null }, 'data'],
    ['a card number that is not valid', { type: 'card_number', data: '4242424242424241' }, 'data'],
    ['a card without number', { type: 'card', data: { cvc: '123' } }, 'data.number'],
    [
      'a card number as a number',
      { type: 'card', data: { number: 4242424242424242 } },
      'data.number',
    ],
    ['a bad id', { id: 'canary/1', type: 'token', data: 1 }, 'id'],
    ['a bad container', { containers: ['canary'], type: 'token', data: 1 }, 'containers[0]'],
    ['two containers', { containers: ['/a/', '/b/'], type: 'token', data: 1 }, 'containers'],
    [
      'metadata that is not text',
      { metadata: { order: ['canary'] }, type: 'token', data: 1 },
      'metadata.order',
    ],
    // proves H65
    [
      'a card number in metadata',
      { metadata: { a: cardNumber }, type: 'token', data: 1 },
      'metadata.a',
    ],
    [
      'an unknown filter in the mask',
      { mask: '{{ data | canary }}', type: 'token', data: 1 },
      'mask',
    ],
    ['a mask in single braces', { mask: '{ data.canary }', type: 'token', data: 1 }, 'mask'],
    [
      'a fingerprint in single braces',
      { fingerprint_expression: '{ data.canary }', type: 'token', data: 1 },
      'fingerprint_expression',
    ],
    [
      'a card whose code has another name',
      { type: 'card', data: { ...card, cvv: 'canary' } },
      'data.cvc',
    ],
    ['a mask that hides nothing', { mask: '{{ data.number }}', type: 'card', data: card }, 'mask'],
    ['an impossible expiry', { expires_at: '2/30/2031', type: 'token', data: 1 }, 'expires_at'],
    ['an expiry that has passed', { expires_at: '1/1/2029', type: 'token', data: 1 }, 'expires_at'],
    ['an id of another kind', { id: 5, type: 'token', data: 1 }, 'id'],
  ]

  // proves A10.7, C1.19, C2.6, C6.14
  test.each(refused)('refuses %s, says where, and repeats nothing', async (_, body, at) => {
    await expectRefusal('POST', '/tokens', { key: plain, body }, 400, at)
  })

  test('refuses no key, a wrong key, and a key without the permission', async () => {
    const body = { type: 'card', data: card }
    const none = await expectRefusal('POST', '/tokens', { body }, 401)
    const wrong = await expectRefusal('POST', '/tokens', { body, key: 'key_canary' }, 401)
    expect(wrong.body['detail']).toBe(String(none.body['detail']))
    await expectRefusal('POST', '/tokens', { body, key: vault.managementKey }, 403)
  })

  // proves C1.10, C1.15
  test('refuses another content type, and a body that is not strict JSON', async () => {
    const raw = '{"type":"token","data":1}'
    for (const type of ['text/plain', 'application/xml', 'application/json; charset=utf-16']) {
      await expectRefusal('POST', '/tokens', { key: plain, raw, type }, 415)
    }
    for (const bad of ['', '[]', '{"type":"token","type":"card","data":1}', '{"data":1e400}']) {
      await expectRefusal('POST', '/tokens', { key: plain, raw: bad }, 400)
    }
    await expectRefusal(
      'POST',
      '/tokens',
      { key: plain, raw: Uint8Array.of(0x22, 0xff, 0x22) },
      400,
    )
  })

  test('refuses a body over the limit', async () => {
    const raw = JSON.stringify({ type: 'token', data: 'x'.repeat(1024 * 1024) })
    await expectRefusal('POST', '/tokens', { key: plain, raw }, 413)
  })
})

describe('reading a token', () => {
  // proves A10.16, C11.5
  test('masks by plain permission and reveals by rule', async () => {
    const { body } = await create({ type: 'card', data: card })
    const masked = await read(body['id'])
    expect(masked.status).toBe(200)
    expect(masked.text).not.toContain(cardNumber)
    expect((await read(body['id'], revealing)).body['data']).toEqual(card)
  })

  // proves C5.23
  test('gives back numbers and key order as they came', async () => {
    const data = '{"z":1.0,"10":12345678901234567890,"2":-0,"__proto__":{"a":[1e2,"\\u0000"]}}'
    const raw = `{"id":"exact","type":"token","data":${data}}`
    expect((await vault.ask('POST', '/tokens', { key: plain, raw })).status).toBe(201)
    expect((await read('exact', revealing)).text).toContain(`"data":${data}`)
  })

  // proves A7.10, C1.27
  test('redacts a token without a mask under the mask transform', async () => {
    await create({ id: 'maskless', type: 'token', data: 'canary' })
    const answer = await read('maskless')
    expect(answer.status).toBe(200)
    expect(answer.body).not.toHaveProperty('data')
    expect(answer.body).not.toHaveProperty('mask')
    expect(answer.text).not.toContain('canary')
  })

  // proves A7.3, A10.16
  test('answers 404 for an absent id and for a token that no rule covers', async () => {
    await create({ id: 'hidden', type: 'token', data: 'canary' })
    const elsewhere = await vault.application({
      type: 'private',
      rules: [
        { priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:read'] },
      ],
    })
    const absent = await expectRefusal('GET', '/tokens/absent', { key: elsewhere }, 404)
    const hidden = await expectRefusal('GET', '/tokens/hidden', { key: elsewhere }, 404)
    const { instance: _, ...shown } = absent.body
    expect(hidden.body).toMatchObject(shown)
    const other = await openTestVault(2)
    const foreign = await other.ask('GET', '/tokens/hidden', { key: revealing })
    expect(foreign.status).toBe(401)
  })

  // proves C11.6
  test('follows the first rule that covers the token and holds the permission', async () => {
    const rules = [
      { priority: 3, container: '/', transform: 'reveal', permissions: ['token:read'] },
      { priority: 2, container: '/pci/', transform: 'redact', permissions: ['token:read'] },
      { priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:update'] },
    ]
    const key = await vault.application({ type: 'private', rules })
    await create({ id: 'in pci', type: 'card', data: card })
    await create({ id: 'in general', type: 'token', data: 'open' })
    expect((await read('in%20pci', key)).body).not.toHaveProperty('data')
    expect((await read('in%20general', key)).body['data']).toBe('open')
  })
})

describe('deleting a token', () => {
  // proves A9.3, A10.26, C3.6
  test('answers 204 without a body, and then 404', async () => {
    await create({ id: 'del-1', type: 'token', data: 1 })
    const answer = await vault.ask('DELETE', '/tokens/del-1', { key: plain })
    expect([answer.status, answer.text]).toEqual([204, ''])
    await expectRefusal('DELETE', '/tokens/del-1', { key: plain }, 404)
    await expectRefusal('GET', '/tokens/del-1', { key: plain }, 404)
    expect((await create({ id: 'del-1', type: 'token', data: 2 })).status).toBe(201)
  })

  // proves A10.26
  test('is refused without the permission', async () => {
    await create({ id: 'del-2', type: 'token', data: 1 })
    const key = await vault.application({ type: 'private', permissions: ['token:read'] })
    await expectRefusal('DELETE', '/tokens/del-2', { key }, 403)
    expect((await read('del-2')).status).toBe(200)
  })
})

describe('addresses', () => {
  // proves C1.5
  test('are the same with a trailing slash', async () => {
    expect((await vault.ask('GET', '/tokens/', { key: plain })).status).toBe(200)
  })

  test('that are not there are 404, and other methods 405 with what is allowed', async () => {
    await expectRefusal('GET', '/nothing', { key: plain }, 404)
    await expectRefusal('GET', '/tokens/a/b', { key: plain }, 404)
    const answer = await expectRefusal('PUT', '/tokens/upd-1', { key: plain, body: {} }, 405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS')
  })

  test('answer with the trace id that was sent, or with one of their own', async () => {
    const sent = await vault.ask('GET', '/tokens', {
      key: plain,
      headers: { 'SVC-TRACE-ID': 'abc-1' },
    })
    expect(sent.headers.get('svc-trace-id')).toBe('abc-1')
    const made = await expectRefusal('GET', '/tokens', { headers: { 'SVC-TRACE-ID': 'a b' } }, 401)
    expect(made.headers.get('svc-trace-id')).toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/)
    expect(made.body['instance']).toBe(`urn:trace:${made.headers.get('svc-trace-id')}`)
  })
})
