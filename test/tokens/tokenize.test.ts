/**
 * Many tokens at once. Source: contract section 15.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { bulkLeavesMax } from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const badNumber = '4242424242424241'
const card = { type: 'card', data: { number: cardNumber } }
const badCard = { type: 'card', data: { number: badNumber } }
const permissions = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use']
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const anId = expect.stringMatching(uuid)

let vault: TestVault
let plain: string
let revealing: string

beforeAll(async () => {
  vault = await openTestVault(91)
  plain = await vault.application({ type: 'private', permissions })
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  revealing = await vault.application({ type: 'private', rules })
})

const tokenize = (body: unknown, key = plain) => vault.ask('POST', '/tokenize', { key, body })
const partly = (body: unknown, key = plain) =>
  vault.ask('POST', '/tokenize?mode=partial', { key, body })
const dataOf = async (id: unknown): Promise<unknown> =>
  (await vault.ask('GET', `/tokens/${String(id)}`, { key: revealing })).body['data']
const totalOf = async (): Promise<number> => {
  const { body } = await vault.ask('GET', '/tokens', { key: plain })
  return (body['pagination'] as { total_items: number }).total_items
}

/** A refusal of the whole that left nothing behind. */
async function expectNothing(
  body: unknown,
  status: number,
  paths?: readonly string[],
  key = plain,
) {
  const before = await totalOf()
  expectProblem(await tokenize(body, key), status, paths, [cardNumber, badNumber])
  expect(await totalOf()).toBe(before)
}

describe('tokenizing', () => {
  // proves C15.1
  test('mirrors the shape: requests become tokens, values their ids', async () => {
    const answer = await tokenize({
      first_name: 'John',
      '10': [true, { n: 1.5 }],
      primary: card,
      tags: ['a', { type: 'token', data: { deep: ['vip'] }, mask: '{{ data.deep }}' }],
      empty: [{}, []],
      nothing: null,
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      first_name: anId,
      '10': [anId, { n: anId }],
      primary: expect.objectContaining({
        id: anId,
        type: 'card',
        data: { number: 'XXXXXXXXXXXX4242', expiration_month: null, expiration_year: null },
        containers: ['/pci/high/'],
      }),
      tags: [anId, expect.objectContaining({ id: anId, type: 'token', data: ['vip'] })],
      empty: [{}, []],
      nothing: null,
    })
    expect(Object.keys(answer.body)[1]).toBe('first_name')
    for (const secret of ['John', 'vip"]}', cardNumber]) expect(answer.text).not.toContain(secret)
    const [, n] = answer.body['10'] as [string, { n: string }]
    expect(await dataOf(answer.body['first_name'])).toBe('John')
    expect(await dataOf(n.n)).toBe(1.5)
    expect(answer.body['primary'] as object).not.toHaveProperty('_extras')
  })

  test('answers a body that is one request, or one value, as such', async () => {
    const request = await tokenize(card)
    expect(request.body).toMatchObject({ type: 'card', data: { number: 'XXXXXXXXXXXX4242' } })
    const value = await vault.ask('POST', '/tokenize', { key: plain, raw: '"secret"' })
    expect([value.status, value.body as unknown]).toEqual([200, anId])
    expect(await dataOf(value.body)).toBe('secret')
    const nothing = await vault.ask('POST', '/tokenize', { key: plain, raw: 'null' })
    expect([nothing.status, nothing.text]).toEqual([200, 'null'])
  })

  test('keeps digits and names as they came', async () => {
    const raw = '{"z":12345678901234567890,"__proto__":{"a":"x"},"1":[1.0]}'
    const answer = await vault.ask('POST', '/tokenize', { key: plain, raw })
    const id = '"[0-9a-f-]{36}"'
    expect(answer.text).toMatch(
      new RegExp(`^\\{"z":${id},"__proto__":\\{"a":${id}\\},"1":\\[${id}\\]\\}$`),
    )
    const [first] = /[0-9a-f-]{36}/.exec(answer.text) ?? []
    const read = await vault.ask('GET', `/tokens/${first}`, { key: revealing })
    expect(read.text).toContain('"data":12345678901234567890')
  })

  // proves C15.1
  test('takes an object for a frame unless it has data and a type that is known', async () => {
    const frames = [
      { type: 'home', data: 'a' },
      { type: 'card' },
      { data: 'b' },
      { type: 5, data: 'c' },
    ]
    expect((await tokenize(frames)).body as unknown).toEqual([
      { type: anId, data: anId },
      { type: anId },
      { data: anId },
      { type: anId, data: anId },
    ])
  })

  test('follows every member of a request', async () => {
    const request = {
      id: 'bulk-{{ data | last4 }}',
      type: 'social_security_number',
      data: '123-45-6789',
      mask: null,
      metadata: { a: '1' },
      containers: ['/X/'],
      search_indexes: [],
      fingerprint_expression: '{{ data | last4 }}',
      expires_at: '1/1/2031',
    }
    const [token] = (await tokenize([request])).body as unknown as [Record<string, unknown>]
    expect(token).toMatchObject({
      id: 'bulk-6789',
      metadata: { a: '1' },
      containers: ['/x/'],
      search_indexes: [],
      expires_at: '2031-01-01T00:00:00.000+00:00',
    })
    expect(token).not.toHaveProperty('data')
  })

  // proves C15.4
  test(`takes ${bulkLeavesMax} values in one write, and refuses one more`, async () => {
    const many = Array.from({ length: bulkLeavesMax }, (_, index) =>
      index % 2 === 0 ? card : { a: `value ${index}` },
    )
    const before = await totalOf()
    const answer = await tokenize(many)
    expect(answer.status).toBe(200)
    expect(await totalOf()).toBe(before + bulkLeavesMax)
    await expectNothing([...many, 'canary'], 400, ['body'])
  })
})

describe('tokenizing the whole stores nothing', () => {
  // proves A10.7, C15.2
  test('when items are faulty, and tells all faults by their places', async () => {
    const body = {
      canary: 'fine',
      list: ['fine', badCard, { canary: { ...card, metadata: { order: 5 } } }],
      bank: { type: 'bank', data: { routing_number: '1', account_number: 'canary' } },
    }
    await expectNothing(body, 400, [
      '[1][1].data.number',
      '[1][2][0].metadata.order',
      '[2].data.routing_number',
      '[2].data.account_number',
    ])
  })

  test('when a request has the wrong shape', async () => {
    await expectNothing(
      [
        { ...card, id: 5 },
        { ...card, containers: 'canary' },
      ],
      400,
      ['[0].id', '[1].containers'],
    )
    await expectNothing({ ...badCard }, 400, ['data.number'])
    await expectNothing([{ type: 'token', data: null }], 400, ['[0].data'])
  })

  // proves C15.2
  test('when a container is not covered by the rules', async () => {
    const rules = [
      { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create'] },
    ]
    const key = await vault.application({ type: 'private', rules })
    expect((await tokenize([card, card], key)).status).toBe(200)
    await expectNothing([card, 'canary', card], 403, ['[1]'], key)
    await expectNothing([badCard, 'canary'], 400, ['[0].data.number'], key)
  })

  test('when an id is taken, by a token or by another item', async () => {
    await tokenize({ ...card, id: 'taken' })
    await expectNothing(['a', [{ ...card, id: 'taken' }]], 409, ['[1][0]'])
    await expectNothing(
      [
        { ...card, id: 'two of it' },
        { ...card, id: 'two of it' },
      ],
      409,
      ['[1]'],
    )
  })

  test('when the body is not JSON, not declared as such, or too large', async () => {
    expectProblem(await vault.ask('POST', '/tokenize', { key: plain, raw: '{"a":canary}' }), 400)
    expectProblem(await vault.ask('POST', '/tokenize', { key: plain, raw: '{"a":1,"a":2}' }), 400)
    const ask = { key: plain, raw: '"a"', type: 'text/plain' }
    expectProblem(await vault.ask('POST', '/tokenize', ask), 415)
    const large = { key: plain, raw: JSON.stringify('x'.repeat(1024 * 1024)) }
    expectProblem(await vault.ask('POST', '/tokenize', large), 413)
    await expectNothing('x'.repeat(600 * 1024), 400, ['body'])
  })

  test('when the answer would be far larger than the request', async () => {
    const mask = `{{ data | replace: 'x', '${'yy'.repeat(150)}' }}`
    const request = { type: 'token', data: 'x'.repeat(1_000), mask }
    await expectNothing(Array(100).fill(request), 400, ['body'])
    expect((await tokenize(Array(10).fill(request))).status).toBe(200)
  })

  test('without the permission to create', async () => {
    const key = await vault.application({ type: 'private', permissions: ['token:read'] })
    await expectNothing(['canary'], 403, undefined, key)
    expectProblem(await vault.ask('POST', '/tokenize', { body: ['canary'] }), 401)
    expectProblem(await vault.ask('POST', '/tokenize?mode=canary', { key: plain, body: 1 }), 400, [
      'query.mode',
    ])
  })
})

describe('deduplication in bulk', () => {
  const once = (data: unknown, more: object = {}) => ({
    type: 'token',
    data,
    deduplicate_token: true,
    ...more,
  })
  const listOf = (body: unknown) => body as { id: string; _extras?: { deduplicated: boolean } }[]

  test('gives one token to equal items of one body', async () => {
    const { body } = await tokenize([once('d1'), once('d1'), once('d2'), once('d1')])
    const tokens = listOf(body)
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(2)
    expect(tokens.map(({ _extras }) => _extras?.deduplicated)).toEqual([false, true, false, true])
  })

  test('finds tokens of earlier requests, and earlier items that did not ask for it', async () => {
    const stored = await tokenize(once('d3'))
    const { body } = await tokenize([once('d3'), { type: 'token', data: 'd4' }, once('d4'), 'd4'])
    const [third, fourth, again] = listOf(body)
    expect(third?.id).toBe(String(stored.body['id']))
    expect(again?.id).toBe(String(fourth?.id))
    expect(again?._extras).toEqual({ deduplicated: true })
    expect(listOf(body)[3]).not.toBe(fourth?.id)
  })

  test('shows id, type and fingerprint alone to a caller who may not read', async () => {
    const key = await vault.application({ type: 'public', permissions: ['token:create'] })
    const item = once('d5', { mask: '{{ data }}', metadata: { a: 'canary' } })
    const { body } = await tokenize([item, item], key)
    const [first, second] = listOf(body)
    expect(first).toMatchObject({ data: 'd5', metadata: { a: 'canary' } })
    const { id, ...rest } = second ?? { id: '' }
    expect(id).toBe(String(first?.id))
    expect(Object.keys(rest).toSorted()).toEqual(['_extras', 'fingerprint', 'type'])
  })

  // proves E15.5
  test('comes before the conflict of an id that the same body has taken', async () => {
    const item = once('d7', { id: 'same-id' })
    const { status, body } = await tokenize([item, item])
    expect(status).toBe(200)
    const [first, second] = listOf(body)
    expect([first?.id, second?.id]).toEqual(['same-id', 'same-id'])
    expect(second?._extras).toEqual({ deduplicated: true })
  })

  test('holds between bodies that come at the same time', async () => {
    const body = Array.from({ length: 10 }, (_, index) => once(`d6 ${index}`))
    const answers = await Promise.all(Array.from({ length: 10 }, () => tokenize(body)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const ids = answers.flatMap(answer => listOf(answer.body).map(({ id }) => id))
    expect(new Set(ids).size).toBe(10)
  })

  test('takes the place of expired tokens, of an id and of a value', async () => {
    const own = await openTestVault(92)
    const key = await own.application({ type: 'private', permissions })
    const ask = (body: unknown) => own.ask('POST', '/tokenize', { key, body })
    const brief = { expires_at: '2030-01-01T00:01:00Z' }
    await ask([once('d7', { id: 'brief', ...brief }), once('d8', brief)])
    own.clock.advance(60_000)
    const items = [once('d7'), once('d8'), { type: 'token', data: 'd9', id: 'brief' }]
    const answer = await ask(items)
    expect(answer.status).toBe(200)
    const extras = listOf(answer.body).map(({ _extras }) => _extras?.deduplicated)
    expect(extras).toEqual([false, false, undefined])
  })
})

describe('tokenizing in part', () => {
  type Result = { index: number; path: string; status: number; token?: unknown; error?: object }
  const resultsOf = (body: unknown) => (body as { results: Result[] }).results

  // proves C15.3
  test('stores what can be stored, and gives back the rest to be sent again', async () => {
    const before = await totalOf()
    const failing = { ...badCard, metadata: { mine: '1' } }
    const answer = await partly({ a: 'x', b: [failing, card, null], c: { d: badCard } })
    expect(answer.status).toBe(200)
    const error = {
      title: 'One or more validation errors occurred.',
      status: 400,
      detail: expect.any(String),
      errors: { 'data.number': [expect.any(String)] },
    }
    expect(answer.body).toEqual({
      results: [
        { index: 0, path: '[0]', status: 201, token: anId },
        { index: 1, path: '[1][0]', status: 400, error },
        { index: 2, path: '[1][1]', status: 201, token: expect.objectContaining({ id: anId }) },
        { index: 3, path: '[2][0]', status: 400, error },
      ],
      retry: [failing, badCard],
    })
    expect(JSON.stringify(resultsOf(answer.body))).not.toContain(badNumber)
    expect(await totalOf()).toBe(before + 2)
  })

  test('gives a retry that is a body itself, and none when nothing failed', async () => {
    const first = await partly([badCard, 'x', { type: 'bank', data: {} }])
    const retry = first.body['retry'] as unknown[]
    const second = await partly(retry)
    expect(resultsOf(second.body).map(({ index, status }) => [index, status])).toEqual([
      [0, 400],
      [1, 400],
    ])
    expect(second.body['retry']).toEqual(retry)
    const third = await partly([card, ...retry.slice(2)])
    expect(third.body).not.toHaveProperty('retry')
    expect((await partly([])).body).toEqual({ results: [] })
  })

  test('tells each item what stands against it: its faults, the rules, its id', async () => {
    const rules = [
      { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create'] },
    ]
    const key = await vault.application({ type: 'private', rules })
    await partly({ ...card, id: 'in part' })
    const items = [
      badCard,
      'canary',
      { ...card, id: 'in part' },
      { ...card, id: 'fresh' },
      { ...card, id: 'fresh' },
      card,
    ]
    const { body, text } = await partly(items, key)
    expect(resultsOf(body).map(({ status }) => status)).toEqual([400, 403, 409, 201, 409, 201])
    expect(body['retry']).toEqual([badCard, 'canary', items[2], items[4]])
    expect(text.slice(0, text.indexOf('"retry"'))).not.toContain('canary')
  })

  test('gives equal items to the next one when the first cannot be stored', async () => {
    const once = { type: 'token', data: 'p1', deduplicate_token: true }
    await tokenize({ type: 'token', data: 'other', id: 'p1 taken' })
    const { body } = await partly([{ ...once, id: 'p1 taken' }, once, once])
    const [first, second, third] = resultsOf(body)
    expect(first?.status).toBe(409)
    expect(second?.token).toMatchObject({ _extras: { deduplicated: false } })
    expect(third?.token).toMatchObject({ _extras: { deduplicated: true } })
  })

  test('keeps the numbers of what it gives back as they came', async () => {
    const raw = '[{"type":"card","data":{"number":"1","z":1.0,"y":12345678901234567890}}]'
    const path = '/tokenize?mode=partial'
    const answer = await vault.ask('POST', path, { key: plain, raw })
    expect(answer.text).toContain(`"retry":${raw}}`)
  })

  test('is refused as a whole when the body is', async () => {
    const many = Array.from({ length: bulkLeavesMax + 1 }, () => 'canary')
    expectProblem(await partly(many), 400, ['body'])
    const key = await vault.application({ type: 'private', permissions: ['token:read'] })
    expectProblem(await partly(['canary'], key), 403)
  })
})
