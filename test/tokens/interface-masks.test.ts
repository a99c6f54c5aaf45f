/**
 * Masks and fingerprints over HTTP: when a mask is evaluated, masks that fail, and the content that
 * a fingerprint goes by. Source: contract sections 6 and 8.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, reopenTestVault, type Answer, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:search']
const secret = 'canary secret'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(122)
  key = await vault.application({ type: 'private', permissions })
})

const create = (body: object) => vault.ask('POST', '/tokens', { key, body })
const patch = (id: string, body: object) => vault.ask('PATCH', `/tokens/${id}`, { key, body })
const read = (id: string) => vault.ask('GET', `/tokens/${id}`, { key })

describe('a mask', () => {
  // proves A2.5, C6.11
  test('is kept as written and evaluated at each read', async () => {
    const raw =
      '{"id":"lens","type":"token","data":{"a":"first","b":[1.0]},' +
      '"mask":{ "z":"{{data.b}}", "10":["{{ data.a|last4 }}","fixed",null] }}'
    expect((await vault.ask('POST', '/tokens', { key, raw })).status).toBe(201)
    const written = '"mask":{"z":"{{data.b}}","10":["{{ data.a|last4 }}","fixed",null]}'
    const before = await read('lens')
    expect(before.text).toContain(written)
    expect(before.text).toContain('"data":{"z":[1.0],"10":["irst","fixed",null]}')
    await patch('lens', { data: { a: 'second' } })
    const after = await read('lens')
    expect(after.text).toContain(written)
    expect(after.text).toContain('"data":{"z":[1.0],"10":["cond","fixed",null]}')
    expect(after.text).not.toContain('second')
  })

  // proves C6.6
  test('shows null for what is missing, and nothing that it does not name', async () => {
    const mask = { there: '{{ data.a }}', missing: '{{ data.b.c }}', mixed: 'x{{ data.b }}y' }
    const made = await create({ type: 'token', data: { a: 1, hidden: secret }, mask })
    expect(made.body['data']).toEqual({ there: 1, missing: null, mixed: 'xy' })
    expect(made.text).not.toContain('canary')
  })

  // proves C6.12, P36
  test('with a comma for its first bar masks, and never shows the bare value', async () => {
    const mask = { number: '{{ data.number, reveal_last: 4 }}' }
    const number = '4242-4242-4242-4242'
    const made = await create({ type: 'token', data: { number }, mask })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ data: { number: 'XXXX-XXXX-XXXX-4242' }, mask })
    const seen = await read(String(made.body['id']))
    expect(seen.body['data']).toEqual({ number: 'XXXX-XXXX-XXXX-4242' })
    expect(made.text + seen.text).not.toContain(number)
    const whole = { number: '{{ data.number, append: "" }}' }
    const card = { number: '4242424242424242', expiration_month: 1, expiration_year: 2040 }
    expectProblem(await create({ type: 'card', data: card, mask: whole }), 400)
  })

  // proves C6.16, S56
  test('that fails on the data redacts it: in every answer, and never with an error', async () => {
    const mask = { shown: '{{ data.a }}', failing: '{{ data.b | to_number }}' }
    const data = { a: 'canary shown', b: secret }
    const made = await create({ id: 'failing', type: 'token', data, mask })
    expect(made.status).toBe(201)
    const body = { query: 'id:failing' }
    const answers: Answer[] = [
      made,
      await read('failing'),
      await patch('failing', { metadata: { a: '1' } }),
      await vault.ask('GET', '/tokens?id=failing', { key }),
      await vault.ask('POST', '/tokens/search', { key, body }),
    ]
    for (const { status, text } of answers) {
      expect(status).toBeLessThan(300)
      expect(text).toContain('"id":"failing"')
      for (const hidden of ['canary', '"data":{']) expect(text).not.toContain(hidden)
    }
    await patch('failing', { data: { b: '12' } })
    expect((await read('failing')).body['data']).toEqual({ shown: 'canary shown', failing: 12 })
  })

  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['a comma behind a filter', '{{ data | upcase, reveal_last: 4 }}', 'mask'],
    ['an unknown filter', { a: '{{ data | canary }}' }, 'mask.*'],
    ['a tag', ['{% canary %}'], 'mask[0]'],
    ['an output that does not end', '{{ data', 'mask'],
    ['401 characters', 'x'.repeat(401), 'mask'],
    ['17 filters', `{{ data${' | upcase'.repeat(17)} }}`, 'mask'],
    ['metadata', '{{ metadata.a }}', 'mask'],
    ['a number', 5, 'mask'],
  ]

  // proves C6.1, C6.13, C6.15
  test.each(wrong)('with %s is refused, at create and at update', async (_, mask, path) => {
    const token = { type: 'token', data: secret }
    expectProblem(await create({ ...token, mask }), 400, [path])
    const made = await create(token)
    const id = String(made.body['id'])
    expectProblem(await patch(id, { mask }), 400, [path])
    expect((await read(id)).body).toEqual(made.body)
  })
})

const fingerprintOf = ({ status, body }: Answer): string => {
  expect(status).toBe(201)
  return String(body['fingerprint'])
}

describe('a fingerprint', () => {
  const token = { type: 'token', data: { b: 1, a: [secret] } }

  // proves A2.6, A3.9, C8.2
  test('is equal for equal content, however it is written, and for no other', async () => {
    const own = fingerprintOf(await create(token))
    const raw = `{"data":{"a":["${secret}"],"b":1},"type":"token","metadata":{"x":"y"}}`
    expect(fingerprintOf(await vault.ask('POST', '/tokens', { key, raw }))).toBe(own)
    expect(fingerprintOf(await create({ ...token, data: { b: 2, a: [secret] } }))).not.toBe(own)
    const text = '4242424242424242'
    const asText = fingerprintOf(await create({ type: 'token', data: text }))
    expect(fingerprintOf(await create({ type: 'card_number', data: text }))).not.toBe(asText)
  })

  // proves C8.1, S40
  test('is 32 bytes in base58, and no plain hash of what it is of', async () => {
    const digits = '4242424242424242'
    const own = fingerprintOf(await create({ type: 'card_number', data: digits }))
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
    const number = [...own].reduce((sum, char) => sum * 58n + BigInt(alphabet.indexOf(char)), 0n)
    const hex = number.toString(16).padStart(64, '0')
    expect(hex).toMatch(/^[0-9a-f]{64}$/)
    for (const text of [digits, `card_number${digits}`, `"${digits}"`]) {
      const plain = new Bun.CryptoHasher('sha256').update(text).digest('hex')
      expect(hex).not.toBe(plain)
    }
  })

  // proves A2.12, C6.7
  test('goes by its expression, which may speak of metadata', async () => {
    const by = { ...token, fingerprint_expression: '{{ metadata.k }}', metadata: { k: 'v' } }
    const made = await create(by)
    expect(made.body['fingerprint_expression']).toBe('{{ metadata.k }}')
    expect(fingerprintOf(await create({ ...by, data: 'other' }))).toBe(fingerprintOf(made))
    const other = await create({ ...by, metadata: { k: 'w' } })
    expect(fingerprintOf(other)).not.toBe(fingerprintOf(made))
    const expression = 'x'.repeat(401)
    const refused = await create({ ...token, fingerprint_expression: expression })
    expectProblem(refused, 400, ['fingerprint_expression'])
  })

  // proves C8.2, C8.3, C8.4, S40
  test('stays over a restart, and is another for each tenant and installation', async () => {
    const first = await openTestVault(123)
    const ask = async (tenant: TestVault) => {
      const own = await tenant.application({ type: 'private', permissions })
      return tenant.ask('POST', '/tokens', { key: own, body: token })
    }
    const own = fingerprintOf(await ask(first))
    const foreign = fingerprintOf(await ask(await addTenant(first)))
    const restarted = await reopenTestVault(first, 123)
    expect(fingerprintOf(await ask(restarted))).toBe(own)
    const elsewhere = fingerprintOf(await ask(await openTestVault(124)))
    expect(new Set([own, foreign, elsewhere]).size).toBe(3)
  })
})
