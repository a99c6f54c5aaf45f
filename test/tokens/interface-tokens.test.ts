/**
 * Tokens as the specification shows them: every field, every type with its defaults and its rules
 * for data. Source: spec, "Token object", "Token create request fields", "Token data validations";
 * contract section 5.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:search']
const cardNumber = '4242424242424242'

let vault: TestVault
/** A rule on `/` that reveals. */
let key: string
let applicationId: string

beforeAll(async () => {
  vault = await openTestVault(121)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  key = await vault.application({ type: 'private', rules })
  applicationId = String((await vault.ask('GET', '/applications/key', { key })).body['id'])
})

const create = (body: object) => vault.ask('POST', '/tokens', { key, body })
const read = async (id: unknown) =>
  (await vault.ask('GET', `/tokens/${encodeURIComponent(String(id))}`, { key })).body

describe('a token', () => {
  // proves A1.3, A2.1, A2.8, A2.9, A2.11, A9.1
  test('comes back with every field that was sent, masked at first', async () => {
    const sent = {
      id: 'whole',
      type: 'token',
      mask: { name: '{{ data.name | reveal_last: 2 }}' },
      containers: ['/people/'],
      metadata: { order: 'A-1', 'Second Key': '' },
      search_indexes: ['{{ data.name }}', '{{ data.name | last4 }}'],
      fingerprint_expression: '{{ data.name | downcase }}',
    }
    const data = { name: 'Ada Lovelace', born: 1815 }
    const expires = { expires_at: '8/26/2036 7:23:57 PM -07:00' }
    const made = await create({ ...sent, ...expires, data })
    const shown = {
      ...sent,
      tenant_id: vault.tenantId,
      fingerprint: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{40,44}$/),
      created_by: applicationId,
      created_at: '2030-01-01T00:00:00.000+00:00',
      expires_at: '2036-08-26T19:23:57.000-07:00',
    }
    expect(made.status).toBe(201)
    expect(made.body).toEqual({ ...shown, data: { name: 'XXXXXXXXXXce' } })
    expect(await read('whole')).toEqual({ ...shown, data })
  })

  // proves A3.7, C1.27
  test('has no member for what it does not have', async () => {
    const made = await create({ type: 'token', data: 'bare' })
    const members = 'containers created_at created_by fingerprint fingerprint_expression id'
    const others = 'search_indexes tenant_id type'
    expect(Object.keys(made.body).toSorted().join(' ')).toBe(`${members} ${others}`)
    expect(made.text).not.toContain('null')
  })

  // proves A2.4, A3.4
  test.each([['{"a":[1]}'], ['[1,{"b":2}]'], ['"text"'], ['12.50'], ['0'], ['true'], ['false']])(
    'may hold %s',
    async data => {
      const raw = `{"type":"token","data":${data}}`
      const made = await vault.ask('POST', '/tokens', { key, raw })
      expect(made.status).toBe(201)
      const path = `/tokens/${String(made.body['id'])}`
      expect((await vault.ask('GET', path, { key })).text).toContain(`"data":${data},`)
    },
  )

  // proves A3.3, A3.4, C5.1
  test('holds something: null and nothing are refused, and so is a type that is none', async () => {
    expectProblem(await create({ type: 'token', data: null }), 400, ['data'])
    expectProblem(await create({ type: 'token' }), 400, ['data'])
    expectProblem(await create({ type: null, data: 1 }), 400, ['type'])
    for (const type of ['Token', 'canary', '', '__proto__']) {
      expectProblem(await create({ type, data: 1 }), 400, ['type'])
    }
  })

  // proves C5.22
  test('without a mask hides its data where it is masked; no mask is the default', async () => {
    const card = { type: 'card_number', data: cardNumber }
    const masked = await create(card)
    expect(masked.body).toMatchObject({ data: 'XXXXXXXXXXXX4242', mask: expect.any(String) })
    const maskless = await create({ ...card, mask: null })
    expect(maskless.status).toBe(201)
    for (const member of ['mask', 'data']) expect(maskless.body).not.toHaveProperty(member)
    expect(await read(maskless.body['id'])).toMatchObject({ data: cardNumber })
  })
})

const last4 = '{{ data | reveal_last: 4 }}'
const undashed = "{{ data | remove: '-' }}"
const national = ['{{ data }}', undashed, '{{ data | last4 }}']

/** Contract section 5: type, data, what is shown of it, container, fingerprint, mask, indexes. */
const types: readonly (readonly [
  string,
  unknown,
  unknown,
  string,
  string,
  unknown,
  readonly string[],
])[] = [
  ['token', 'any', undefined, '/general/high/', '{{ data | stringify }}', undefined, []],
  [
    'card',
    { number: cardNumber, expiration_month: 12, expiration_year: 2030, cvc: '123' },
    { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
    '/pci/high/',
    '{{ data.number }}',
    {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    },
    [],
  ],
  [
    'bank',
    { routing_number: '021000021', account_number: '000123456' },
    { routing_number: '021000021', account_number: 'XXXXX3456' },
    '/bank/high/',
    '{{ data.account_number }}|{{ data.routing_number }}',
    {
      routing_number: '{{ data.routing_number }}',
      account_number: '{{ data.account_number | reveal_last: 4 }}',
    },
    [],
  ],
  ['card_number', cardNumber, 'XXXXXXXXXXXX4242', '/pci/high/', '{{ data }}', last4, []],
  ['us_bank_account_number', '00123', 'X0123', '/bank/high/', '{{ data }}', last4, []],
  ['us_bank_routing_number', '110000000', 'XXXXX0000', '/bank/low/', '{{ data }}', last4, []],
  ['social_security_number', '123-45-6789', 'XXX-XX-6789', '/pii/high/', undashed, last4, national],
  ['employer_id_number', '12-3456789', 'XX-XXX6789', '/pii/high/', undashed, last4, national],
  [
    'email',
    'Ada@Example.com',
    'A***@Example.com',
    '/pii/high/',
    '{{ data | downcase }}',
    "{{ data | slice: 0 }}***@{{ data | split: '@' | last }}",
    ['{{ data }}', "{{ data | split: '@' | last }}"],
  ],
  [
    'phone',
    '+4930123456',
    '+49XXXXXX56',
    '/pii/high/',
    '{{ data }}',
    '{{ data | phone_mask }}',
    ['{{ data }}', '{{ data | last4 }}'],
  ],
  [
    'iban',
    'DE89 3704 0044 0532 0130 00',
    'DEXXXXXXXXXXXXXXXX3000',
    '/pii/high/',
    "{{ data | remove: ' ' | upcase }}",
    "{{ data | remove: ' ' | reveal: 2, 4 }}",
    ["{{ data | remove: ' ' }}", "{{ data | remove: ' ' | last4 }}"],
  ],
  [
    'name',
    'Ada Lovelace',
    'A. L.',
    '/pii/high/',
    '{{ data | stringify }}',
    '{{ data | initials }}',
    [],
  ],
  [
    'address',
    { street: '1 High Street', country: 'GB' },
    { country: 'GB' },
    '/pii/high/',
    '{{ data | stringify }}',
    { country: '{{ data.country }}' },
    [],
  ],
  [
    'date_of_birth',
    '1815-12-10',
    '1815',
    '/pii/high/',
    '{{ data }}',
    '{{ data | slice: 0, 4 }}',
    [],
  ],
]

describe('a type', () => {
  // proves A2.7, A3.5, A3.6, A3.9, C1.28, C5.2, C8.6
  test.each(types)(
    '%s has its own container, fingerprint, mask and search indexes',
    async (type, data, shown, container, fingerprint, mask, indexes) => {
      const made = await create({ type, data })
      expect(made.status).toBe(201)
      const { body } = made
      expect([body['data'], body['mask']]).toEqual([shown, mask])
      expect(body['containers']).toEqual([container])
      expect(body['fingerprint_expression']).toBe(fingerprint)
      expect(body['search_indexes']).toEqual(indexes)
      expect((await read(body['id']))['data']).toEqual(data)
    },
  )

  /** They take any text. */
  const free = ['token', 'name', 'address']
  const others = types.filter(([type]) => !free.includes(type)).map(([type]) => type)

  // proves C5.3
  test.each(others)('%s takes no data of another kind', async type => {
    for (const data of [true, 4242424242424242, [], 'canary', { canary: 1 }]) {
      const answer = await create({ type, data })
      expectProblem(answer, 400, undefined, ['4242'])
      const paths = Object.keys(answer.body['errors'] ?? {})
      expect(paths.length).toBeGreaterThan(0)
      for (const path of paths) expect(path).toStartWith('data')
    }
  })

  // proves C5.21
  test('with two spellings is found by both, and is one by its fingerprint', async () => {
    const plain = await create({ type: 'social_security_number', data: '987-65-4321' })
    const bare = await create({ type: 'social_security_number', data: '987654321' })
    expect(bare.body['fingerprint']).toBe(String(plain.body['fingerprint']))
    const search = async (query: string) => {
      const found = await vault.ask('POST', '/tokens/search', { key, body: { query } })
      return (found.body['data'] as { id: string }[]).map(({ id }) => id)
    }
    const both = [String(bare.body['id']), String(plain.body['id'])]
    expect(await search('data:987654321')).toEqual(both)
    expect(await search('data:987-65-4321')).toEqual(both.slice(1))
    expect(await search('data:4321')).toEqual(both)
  })

  // proves C5.20
  test('of personal data is found by what people know, and is one by its fingerprint', async () => {
    const pairs = [
      ['email', 'Grace@Navy.example', 'grace@navy.EXAMPLE', ['navy.example', 'GRACE@navy.example']],
      ['iban', 'GB82 WEST 1234 5698 7654 32', 'gb82west12345698765432', ['5432']],
      ['phone', '+442071838750', '+442071838750', ['8750', '+442071838750']],
    ] as const
    const masking = await vault.application({
      type: 'private',
      permissions: ['token:read', 'token:search'],
    })
    for (const [type, one, other, queries] of pairs) {
      const [first, second] = [
        await create({ type, data: one }),
        await create({ type, data: other }),
      ]
      expect(second.body['fingerprint']).toBe(String(first.body['fingerprint']))
      for (const text of queries) {
        const body = { query: `data:"${text}"` }
        const found = await vault.ask('POST', '/tokens/search', { key: masking, body })
        expect(found.text).toContain('"total_items":2')
        expect(found.text).not.toContain(one)
      }
    }
  })
})

const card = { number: cardNumber }
const bank = { routing_number: '021000021', account_number: '1' }

/** Type, data, and the data as it is kept. */
const taken: readonly (readonly [string, unknown, unknown?])[] = [
  ['card', card],
  ['card', { ...card, expiration_month: '07', expiration_year: '2001' }, { ...card, ...old() }],
  ['card', { ...card, cvc: 123 }, { ...card, cvc: '123' }],
  ['card', { ...card, cvc: '0123' }],
  ['card', { ...card, holder: { name: 'Ada' }, tags: [1] }],
  ['bank', bank],
  ['bank', { ...bank, account_number: '00000000000000001' }],
  ['bank', { routing_number: '110000000', account_number: '007' }],
  ['us_bank_account_number', '001'],
  ['us_bank_account_number', '12345678901234567'],
  ['social_security_number', '123456789'],
  ['employer_id_number', '123456789'],
  ...[cardNumber, '5555555555554444', '378282246310005', '36227206271667'].map(
    number => ['card_number', number] as const,
  ),
  ...['3566002020360505', '620000000000000', '5589092000000000006'].map(
    number => ['card_number', number] as const,
  ),
]

function old() {
  return { expiration_month: 7, expiration_year: 2001 }
}

/** Type, data, and where the fault is. */
const refused: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['card', { number: '4242-4242-4242-4242' }, ['data.number']],
  ['card', { number: '4242424242424241' }, ['data.number']],
  ['card', { ...card, expiration_month: 13 }, ['data.expiration_month']],
  ['card', { ...card, expiration_month: 'canary' }, ['data.expiration_month']],
  ['card', { ...card, expiration_year: 30 }, ['data.expiration_year']],
  ['card', { ...card, cvc: '12' }, ['data.cvc']],
  ['card', { ...card, cvc: '12345' }, ['data.cvc']],
  ['card', { cvc: '123', expiration_month: 0 }, ['data.expiration_month', 'data.number']],
  ['bank', { account_number: '1' }, ['data.routing_number']],
  ['bank', { routing_number: '021000021' }, ['data.account_number']],
  ['bank', { ...bank, routing_number: '021000020' }, ['data.routing_number']],
  ['bank', { ...bank, routing_number: '02100002' }, ['data.routing_number']],
  ['bank', { ...bank, account_number: '123456789012345678' }, ['data.account_number']],
  ['bank', { ...bank, account_number: '' }, ['data.account_number']],
  ['bank', { ...bank, account_number: 123 }, ['data.account_number']],
  ['card_number', '3622720627165567', ['data']],
  ['card_number', '4242424242424241', ['data']],
  ['card_number', '424242424242', ['data']],
  ['us_bank_account_number', '12', ['data']],
  ['us_bank_routing_number', '021000020', ['data']],
  ['social_security_number', '12-345-6789', ['data']],
  ['employer_id_number', '123-456789', ['data']],
]

describe('data', () => {
  // proves A5.1, A5.2, A5.4, A5.5, C5.5, C5.7, C5.11, C5.13, C5.24
  test.each(taken)('of a %s: %j is taken', async (type, data, kept = data) => {
    const made = await create({ type, data })
    expect(made.status).toBe(201)
    expect((await read(made.body['id']))['data']).toEqual(kept)
  })

  // proves A5.1, A5.2, A5.3, A5.4, A5.5, A13.9, C5.15, C5.18
  test.each(refused)('of a %s: %j is refused', async (type, data, paths) => {
    expectProblem(await create({ type, data }), 400, paths, [cardNumber, '4242424242424241'])
  })
})
