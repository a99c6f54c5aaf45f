/**
 * Expressions evaluated on sample data: as a create would, and without storing anything.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let maker: string
beforeAll(async () => {
  vault = await openTestVault(313)
  const permissions = ['token:create', 'token:read', 'token:search']
  maker = await vault.application({ type: 'private', permissions })
})

const preview = (body: object, key = vault.managementKey) =>
  vault.ask('POST', '/expressions/preview', { key, body })

const create = (body: object) => vault.ask('POST', '/tokens', { key: maker, body })

const number = '4242424242424242'
const card = { number, expiration_month: 12, expiration_year: 2030, cvc: '123' }

const samples: readonly (readonly [string, object])[] = [
  ['a card by its defaults', { type: 'card', data: card }],
  ['a text that is shown by no mask', { type: 'token', data: 'plain' }],
  ['no mask', { type: 'card', data: card, mask: null }],
  [
    'expressions everywhere',
    {
      id: 'order-{{ data.n }}',
      type: 'token',
      data: { n: 17, mail: 'Ada@Example.com' },
      mask: { mail: '{{ data.mail | slice: 0 }}***', n: '{{ data.n }}' },
      metadata: { shop: 'one' },
      containers: ['/pii/HIGH/'],
      search_indexes: ['{{ data.mail | downcase }}', '{{ data.n }}', '{{ data.none }}'],
      fingerprint_expression: '{{ data.mail | downcase }}/{{ data.n }}',
      expires_at: '2036-08-26T19:23:57.000-07:00',
    },
  ],
]

const shared = ['type', 'data', 'mask', 'containers', 'metadata', 'search_indexes', 'expires_at']

describe('a preview', () => {
  // proves C11.29
  test.each(samples)('is what a create then makes: %s', async (_, body) => {
    const told = await preview(body)
    const made = await create(body)
    expect([told.status, made.status]).toEqual([200, 201])
    for (const name of [...shared, 'fingerprint_expression']) {
      expect([name, told.body[name]]).toEqual([name, made.body[name]])
    }
    if ('id' in body) expect(told.body['id']).toBe(made.body['id'])
    else expect(told.body['id']).toBeUndefined()
    expect(told.text).not.toContain(String(made.body['fingerprint']))
  })

  // proves C11.29
  test('tells the texts that are fingerprinted and searched for', async () => {
    const sample = { ...samples[3]?.[1], id: 'found-{{ data.n }}' }
    const { body } = await preview(sample)
    expect(body['fingerprint_text']).toBe('ada@example.com/17')
    expect(body['search_texts']).toEqual(['ada@example.com', '17'])
    await create(sample)
    const found = await vault.ask('POST', '/tokens/search', {
      key: maker,
      body: { query: 'id:found-17 AND data:ada@example.com AND data:17' },
    })
    expect(found.body['data']).toEqual([expect.objectContaining({ id: 'found-17' })])
  })

  test('leaves the code of a card out of both', async () => {
    const expressions = { search_indexes: ['{{ data.cvc }}'], fingerprint_expression: '{{ data }}' }
    const { body, status } = await preview({ type: 'card', data: card, ...expressions })
    expect(status).toBe(200)
    expect(body['fingerprint_text']).not.toContain('123')
    expect(body['search_texts']).toEqual([])
  })

  test('draws an id by chance as a create does', async () => {
    const id = '{{ data | alias_preserve_format }}'
    const drawn = async () => (await preview({ type: 'card_number', data: number, id })).body['id']
    const [one, other] = [await drawn(), await drawn()]
    expect(one).toMatch(/^[0-9]{16}$/)
    expect(one).not.toBe(other)
    expect([one, other]).not.toContain(number)
  })

  // proves C11.29
  test('stores and finds nothing', async () => {
    const total = async () => (await vault.ask('GET', '/tokens', { key: maker })).text
    const before = await total()
    const body = { id: 'card-taken', type: 'card', data: card, deduplicate_token: true }
    await create({ ...body, deduplicate_token: false })
    const after = await total()
    expect(after).not.toBe(before)
    const told = await preview(body)
    expect([told.status, told.body['id'], told.body['_extras']]).toEqual([
      200,
      'card-taken',
      undefined,
    ])
    expect(await total()).toBe(after)
  })

  // proves C11.29
  test.each<[string, object]>([
    ['an unknown name in a mask', { type: 'token', data: 'x', mask: '{{ number }}' }],
    ['a mask that hides nothing', { type: 'card', data: card, mask: '{{ data.number }}' }],
    ['a wrong check digit', { type: 'card', data: { ...card, number: '4242424242424241' } }],
    [
      'an unknown filter in an index',
      { type: 'token', data: 'x', search_indexes: ['a', '{{ data | nofilter }}'] },
    ],
    ['an id with the number', { type: 'card', data: card, id: '{{ data.number }}' }],
    [
      'a constant to deduplicate by',
      { type: 'token', data: 'x', deduplicate_token: true, fingerprint_expression: 'a' },
    ],
    ['a card number in metadata', { type: 'token', data: 'x', metadata: { a: number } }],
    ['no data', { type: 'token' }],
    ['an unknown type', { type: 'tokens', data: 1 }],
    ['a misspelled member', { type: 'token', data: 1, maks: 'x' }],
  ])('is refused as a create is: %s', async (_, body) => {
    const [told, made] = [await preview(body), await create(body)]
    expect([told.status, told.body['errors']]).toEqual([400, made.body['errors']])
    expect(told.text).not.toContain(number)
  })

  // proves C11.29
  test('has one entry in the log, without a value', async () => {
    const before = (await entriesOf(vault)).length
    await preview({ id: 'planted-{{ data }}', type: 'token', data: 'planted', mask: '{{ data }}' })
    const added = (await entriesOf(vault)).slice(before)
    expect(added.map(({ line }) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        operation: 'previewExpressions',
        entity_type: 'expression',
        rule: 'expression:preview',
        result: 200,
      }),
    ])
    expect(added.map(({ line }) => line).join('\n')).not.toContain('planted')
    expect(vault.logged.join('\n')).not.toContain('planted')
  })

  // proves C11.29
  test('is for managers that hold the permission', async () => {
    const body = { type: 'token', data: 1 }
    expect((await preview(body, maker)).status).toBe(403)
    const without = await vault.application({ type: 'management', permissions: ['log:read'] })
    const { status, body: refusal } = await preview(body, without)
    expect([status, refusal['detail']]).toEqual([
      403,
      'expected a credential with the permission expression:preview',
    ])
  })
})
