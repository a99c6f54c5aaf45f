/**
 * Ids that callers choose, by a text or by an expression. Source: contract section 7.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const card = { number: cardNumber, expiration_month: 12, expiration_year: 2030 }
const bank = { routing_number: '021000021', account_number: '000123456789' }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(31)
  const permissions = ['token:create', 'token:read', 'token:update', 'token:use']
  key = await vault.application({ type: 'private', permissions })
})

const create = (body: unknown) => vault.ask('POST', '/tokens', { key, body })
const idsOf = async (count: number, body: unknown): Promise<string[]> => {
  const answers = []
  for (let made = 0; made < count; made += 1) answers.push(await create(body))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  return answers.map(({ body: token }) => String(token['id']))
}

describe('an id expression', () => {
  // proves A3.1, C7.2
  test.each([
    ['order-{{ data.order }}', { type: 'token', data: { order: 'A 17' } }, 'order-A 17'],
    ['{{ data.n }}', { type: 'token', data: { n: 12345 } }, '12345'],
    ['x{{ data | slice: 0, 6 }}', { type: 'card_number', data: cardNumber }, 'x424242'],
    ['m-{{ data.expiration_month }}', { type: 'card', data: { ...card } }, 'm-12'],
  ])('%s gives the id', async (id, request, expected) => {
    const answer = await create({ ...request, id })
    expect([answer.status, answer.body['id']]).toEqual([201, expected])
    expect(answer.headers.get('location')).toBe(`/tokens/${encodeURIComponent(expected)}`)
    const read = await vault.ask('GET', `/tokens/${encodeURIComponent(expected)}`, { key })
    expect(read.status).toBe(200)
  })

  test('sees the data as the type keeps it', async () => {
    const data = { ...card, expiration_month: '07' }
    const answer = await create({ type: 'card', data, id: 'month {{ data.expiration_month }}' })
    expect(answer.body['id']).toBe('month 7')
  })

  // proves H100
  test('that gives the id of a live token is a conflict', async () => {
    const body = { type: 'token', data: { a: 'twice' }, id: '{{ data.a }}' }
    expect((await create(body)).status).toBe(201)
    expectProblem(await create(body), 409, undefined, ['twice'])
    const last4 = { type: 'card_number', data: cardNumber, id: 'n-{{ data | last4 }}' }
    expect((await create(last4)).status).toBe(201)
    expectProblem(await create(last4), 409)
  })

  const refused: readonly (readonly [string, unknown])[] = [
    ['nothing', { data: {}, id: '{{ data.canary }}' }],
    ['nothing, as an empty text', { data: '', id: '{{ data }}' }],
    ['an object', { data: { a: { canary: 1 } }, id: '{{ data.a }}' }],
    ['an array', { data: ['canary'], id: '{{ data }}' }],
    ['two characters', { data: 'ab', id: '{{ data }}' }],
    ['401 characters', { data: 'a'.repeat(401), id: '{{ data }}' }],
    ['a slash', { data: 'canary/1', id: '{{ data }}' }],
    ['a control character', { data: 'canary\n', id: '{{ data }}' }],
    ['a fault, for it has a tag', { data: 'abc', id: '{{ data }}{% canary %}' }],
    ['a fault, for its filter is unknown', { data: 'abc', id: '{{ data | canary }}' }],
    ['a fault, for it names metadata', { data: 'abc', id: '{{ metadata.canary }}' }],
    ['a fault, for it is too long', { data: 'abc', id: `{{ data }}${'a'.repeat(400)}` }],
  ]

  // proves A3.1
  test.each(refused)('that yields %s is refused', async (_, request) => {
    expectProblem(await create({ type: 'token', ...(request as object) }), 400, ['id'])
  })
})

describe('an id expression that gives a protected number away is refused', () => {
  const refused: readonly (readonly [string, string, unknown])[] = [
    ['{{ data.number }}', 'card', card],
    ['a-{{ data.number | append: "-b" }}', 'card', card],
    ['{{ data.number | slice: 0, 8 }}.{{ data.number | slice: 8, 8 }}', 'card', card],
    ['{{ data.number | reverse }}{{ data.number | alias_card }}{{ data.number }}', 'card', card],
    ['{{ data }}', 'card_number', cardNumber],
    ['acct {{ data.account_number }}', 'bank', bank],
    ['{{ data }}', 'us_bank_account_number', '0123456'],
    ['{{ data }}', 'social_security_number', '123-45-6789'],
    ["{{ data | remove: '-' }}", 'social_security_number', '123-45-6789'],
    ['ein{{ data }}', 'employer_id_number', '12-3456789'],
    ['{{ data.card.pan }}', 'token', { card: { pan: cardNumber } }],
    ["{{ data.number | split: '' | reverse | join: '' }}", 'card', card],
    ["{{ data.number | split: '' | join: 'x' }}", 'card', card],
    ['{{ data.number | to_base64 }}', 'card', card],
    ["{{ data.number | hmac: 'sha-256', 'known' | to_base16 }}", 'card', card],
    ['{{ data.number | times: 3 }}', 'card', card],
    ['x{{ data.number | slice: 0, 15 }}', 'card', card],
    ["{{ data | replace: '4', 'd' }}", 'card_number', cardNumber],
    ["{{ data.account_number | replace: '1', 'one' }}", 'bank', bank],
    ["{{ data | split: '-' | reverse | join: '-' }}", 'social_security_number', '123-45-6789'],
    ['{{ data.number | alias_card: true, true }}{{ data.number | slice: 4, 9 }}', 'card', card],
  ]

  // proves C7.9, H99
  test.each(refused)('%s on a %s', async (id, type, data) => {
    const numbers = [cardNumber, bank.account_number, '0123456', '123-45-6789', '12-3456789']
    expectProblem(await create({ type, data, id }), 400, ['id'], numbers)
  })

  test('while its last four digits and a routing number are not protected', async () => {
    const answers = [
      await create({ type: 'card', data: card, id: 'c-{{ data.number | last4 }}' }),
      await create({ type: 'bank', data: bank, id: 'b-{{ data.routing_number }}' }),
      await create({ type: 'us_bank_routing_number', data: '021000021', id: '{{ data }}' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
  })

  const withCode = { ...card, cvc: '123' }

  test.each([
    'code {{ data.cvc }}',
    'code {{ data.cvc | slice: 0, 1 }}',
    "code {{ data.cvc | replace: '3', 'three' }}",
    'code {{ data.cvc | times: 7 }}',
    '{{ data.number | alias_card }}-{{ data.cvc | alias_preserve_format: 1 }}',
  ])('%s, for no part of the code of a card belongs there', async id => {
    expectProblem(await create({ type: 'card', data: withCode, id }), 400, ['id'], ['"123"'])
  })

  test('while what hides enough of it is taken', async () => {
    const taken = [
      { type: 'card', data: withCode, id: 'code-{{ data.number | last4 }}' },
      { type: 'card', data: withCode, id: 'bin-{{ data.number | card_bin }}' },
      { type: 'card', data: withCode, id: '{{ data.number | alias_card: true, true }}' },
      { type: 'card', data: withCode, id: '{{ data.number | alias_preserve_length: 4, 4 }}' },
      { type: 'card', data: withCode, id: 'sizes {{ data.number | size }} {{ data.cvc | size }}' },
      { type: 'social_security_number', data: '123-45-6789', id: 'ssn-{{ data | last4 }}' },
      { type: 'us_bank_account_number', data: '12345', id: '{{ data | alias_preserve_format }}' },
      // A number of one digit has no two digits to hide.
      { type: 'bank', data: { ...bank, account_number: '7' }, id: 'r-{{ data.routing_number }}' },
    ]
    for (const body of taken) expect([body.id, (await create(body)).status]).toEqual([body.id, 201])
  })

  test('and what a text holds that is no expression is the choice of the caller', async () => {
    expect((await create({ type: 'card', data: card, id: 'my 4242' })).status).toBe(201)
  })
})

describe('a random alias', () => {
  test('keeps the shape and never the number', async () => {
    const ids = await idsOf(20, {
      type: 'card',
      data: card,
      id: '{{ data.number | alias_card: false, true }}',
    })
    expect(new Set(ids).size).toBe(20)
    for (const id of ids) expect(id).toMatch(/^[0-9]{12}4242$/)
    expect(ids).not.toContain(cardNumber)
  })

  // proves C7.7
  test('that is taken is drawn again, and gives way to a UUID when all are', async () => {
    const ids = await idsOf(40, {
      type: 'token',
      data: { digit: '5' },
      id: 'digit-{{ data.digit | alias_preserve_format }}',
    })
    expect(new Set(ids).size).toBe(40)
    const aliases = ids.filter(id => /^digit-[0-46-9]$/.test(id))
    expect(aliases.length).toBeGreaterThanOrEqual(5)
    const others = ids.filter(id => !id.startsWith('digit-'))
    expect(others.length).toBe(40 - aliases.length)
    for (const id of others) expect(id).toMatch(uuid)
  })

  test('is drawn again also when two of one request collide', async () => {
    const request = { type: 'token', data: 'a', id: 'letter-{{ data | alias_preserve_format }}' }
    const body = Array.from({ length: 60 }, () => request)
    const answer = await vault.ask('POST', '/tokenize', { key, body })
    expect(answer.status).toBe(200)
    const ids = (answer.body as unknown as { id: string }[]).map(({ id }) => id)
    expect(new Set(ids).size).toBe(60)
    const aliases = ids.filter(id => /^letter-[b-z]$/.test(id))
    expect(aliases.length).toBeGreaterThanOrEqual(15)
    for (const id of ids.filter(each => !aliases.includes(each))) expect(id).toMatch(uuid)
  })

  // proves C6.29
  test('that is too short to hide anything is refused', async () => {
    const body = { type: 'token', data: { a: '-' }, id: 'abc{{ data.a | alias_preserve_format }}' }
    expectProblem(await create(body), 400, ['id'])
  })
})

// proves H84
test('50 creates of one id at the same time give one token and 49 conflicts', async () => {
  const body = { type: 'token', data: { a: 'raced' }, id: '{{ data.a }}' }
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(body)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
})
