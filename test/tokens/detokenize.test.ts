/**
 * References to tokens, replaced by the data that the caller may use. Source: contract section 15.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { bulkLeavesMax } from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const secret = 'canary-secret'

let vault: TestVault
/** Uses everything: plain `token:use` reveals. */
let plain: string

beforeAll(async () => {
  vault = await openTestVault(101)
  plain = await vault.application({
    type: 'private',
    permissions: ['token:create', 'token:use', 'token:delete'],
  })
  await create({ id: 'card', type: 'card', data: { number: cardNumber, expiration_month: 12 } })
  await create({ id: 'text', type: 'token', data: secret })
  await create({ id: 'masked', type: 'token', data: secret, mask: '{{ data | reveal_last: 6 }}' })
  await create({ id: 'a.b-c "d": e', type: 'token', data: ['x', { y: null }] })
})

const create = (body: object) => vault.ask('POST', '/tokens', { key: plain, body })
const detokenize = (body: unknown, key = plain) => vault.ask('POST', '/detokenize', { key, body })
const using = (transform: string, container = '/') =>
  vault.application({
    type: 'private',
    rules: [{ priority: 1, container, transform, permissions: ['token:use'] }],
  })

describe('detokenizing', () => {
  // proves C15.5
  test('replaces references by data, and keeps all else', async () => {
    const answer = await detokenize({
      '10': '{{ text }}',
      card: ['{{card}}', { number: "{{ card | json: '$.number' }}" }],
      last4: '{{ card | json: "$.number" | last4 }}',
      '{{ text }}': 'no reference, like } } and { {',
      odd: '{{ a.b-c "d": e }}',
      rest: [1.5, true, null, '', [], {}],
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      '10': secret,
      card: [{ number: cardNumber, expiration_month: 12 }, { number: cardNumber }],
      last4: '4242',
      '{{ text }}': 'no reference, like } } and { {',
      odd: ['x', { y: null }],
      rest: [1.5, true, null, '', [], {}],
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('answers a body that is one reference by the data alone', async () => {
    const answer = await vault.ask('POST', '/detokenize', { key: plain, raw: '"{{ text }}"' })
    expect(answer.text).toBe(`"${secret}"`)
  })

  test('gives back numbers and order as they came', async () => {
    const data = '{"z":1.0,"10":12345678901234567890,"2":-0,"__proto__":{"a":1e2}}'
    const raw = `{"id":"exact","type":"token","data":${data}}`
    expect((await vault.ask('POST', '/tokens', { key: plain, raw })).status).toBe(201)
    const body = '{"b":7.0,"a":"{{ exact }}"}'
    const answer = await vault.ask('POST', '/detokenize', { key: plain, raw: body })
    expect(answer.text).toBe(`{"b":7.0,"a":${data}}`)
    const ten = await detokenize(`{{ exact | json: "$['10']" }}`)
    expect(ten.text).toBe('12345678901234567890')
  })

  test('never reads a reference in the data of a token', async () => {
    await create({ id: 'nested', type: 'token', data: '{{ text }}' })
    const answer = await detokenize(['{{ nested }}', '{{ nested | upcase }}'])
    expect(answer.body as unknown).toEqual(['{{ text }}', '{{ TEXT }}'])
    expect(answer.text).not.toContain(secret)
  })

  test('gives back what tokenizing took', async () => {
    const key = plain
    const sent = { name: 'Jane', tags: [1, { deep: false }], none: null }
    const { body } = await vault.ask('POST', '/tokenize', { key, body: sent })
    const text = JSON.stringify(body).replaceAll(/"([0-9a-f-]{36})"/g, '"{{ $1 }}"')
    const answer = await vault.ask('POST', '/detokenize', { key, raw: text })
    expect(answer.body).toEqual(sent)
  })

  test(`takes ${bulkLeavesMax} values, and refuses one more`, async () => {
    const many = Array.from({ length: bulkLeavesMax }, (_, index) =>
      index % 2 === 0 ? '{{ card | json: "$.number" }}' : index,
    )
    const answer = await detokenize(many)
    expect(answer.status).toBe(200)
    expect((answer.body as unknown as unknown[])[998]).toBe(cardNumber)
    expectProblem(await detokenize([...many, 0]), 400, ['body'], [cardNumber])
  })
})

describe('detokenizing goes by the rule that decides', () => {
  const both = ['{{ masked }}', '{{ masked | upcase }}']

  test('reveal gives the data', async () => {
    const { body } = await detokenize(both, await using('reveal'))
    expect(body as unknown).toEqual([secret, secret.toUpperCase()])
  })

  test('mask gives the masked data, to filters too', async () => {
    const answer = await detokenize(both, await using('mask'))
    expect(answer.body as unknown).toEqual(['XXXXXX-secret', 'XXXXXX-SECRET'])
    expect(answer.text).not.toContain('canary')
  })

  const hidden: readonly (readonly [string, string, string, string])[] = [
    ['a token that the rule redacts', 'masked', 'redact', '/'],
    ['a token without a mask that the rule masks', 'text', 'mask', '/'],
    ['a token that no rule covers', 'masked', 'reveal', '/pci/'],
    ['a token that is not there', 'canary-absent', 'reveal', '/'],
  ]

  // proves C15.5
  test.each(hidden)('%s is refused as one that cannot be used', async (_, id, transform, under) => {
    const key = await using(transform, under)
    const answer = await detokenize([0, { a: `{{ ${id} }}`, b: `{{ ${id} | last4 }}` }], key)
    expectProblem(answer, 400, ['[1][0]', '[1][1]'], [secret, id])
    const expected = ['expected a token that you may use']
    expect(answer.body['errors']).toEqual({ '[1][0]': expected, '[1][1]': expected })
  })

  test('an expired token cannot be used', async () => {
    const own = await openTestVault(102)
    const permissions = ['token:create', 'token:use']
    const key = await own.application({ type: 'private', permissions })
    const brief = { id: 'brief', type: 'token', data: 1, expires_at: '2030-01-01T00:01:00Z' }
    await own.ask('POST', '/tokens', { key, body: brief })
    own.clock.advance(59_999)
    const ask = { key, body: ['{{ brief }}'] }
    expect((await own.ask('POST', '/detokenize', ask)).body as unknown).toEqual([1])
    own.clock.advance(1)
    expectProblem(await own.ask('POST', '/detokenize', ask), 400, ['[0]'])
  })

  test('a mask that fails on the data gives nothing', async () => {
    await create({
      id: 'unmaskable',
      type: 'token',
      data: 'canary',
      mask: '{{ data | to_number }}',
    })
    expectProblem(await detokenize('{{ unmaskable }}', await using('mask')), 400, ['body'])
    expect((await detokenize('{{ unmaskable }}')).status).toBe(200)
  })
})

describe('detokenizing is refused', () => {
  test.each([
    'see {{ text }}',
    '{{ text }} {{ text }}',
    '{{ text',
    '{{}}',
    '{{ text | canary }}',
    '{{ text | alias_card }}',
    '{{ text | append: metadata.a }}',
    '{{ text | to_number }}',
    '{{ card | last4 }}',
    '{{ te/xt }}',
  ])('for %j, with its place and nothing of it', async text => {
    const answer = await detokenize({ canary: ['fine', text] })
    expectProblem(answer, 400, ['[0][1]'], [secret, cardNumber])
  })

  test('for a path that meets nothing, but where something stands in for it', async () => {
    const key = await using('reveal')
    await create({ id: 'shallow', type: 'token', data: { a: null, b: 'canary' } })
    const ask = (filters: string) => detokenize([`{{ shallow | ${filters} }}`], key)
    const hint = "put | default: '' behind it"
    for (const filters of ["json: '$.canary'", "json: '$.b.c' | last4", "json: '$.x' | size"]) {
      const answer = await ask(filters)
      expectProblem(answer, 400, ['[0]'])
      expect(answer.text).toContain(hint)
    }
    expect((await ask("json: '$.a'")).body as unknown).toEqual([null])
    expect((await ask("json: '$.x' | default: 'none'")).body as unknown).toEqual(['none'])
  })

  test('for a member that is picked like one of an object, and tells how it is', async () => {
    const answer = await detokenize(['{{ card.number }}'])
    expectProblem(answer, 400, ['[0]'], [cardNumber])
    expect(answer.text).toContain("a member is picked by {{ id | json: '$.member' }}")
  })

  // proves C2.7
  test('with all faults at once, and nothing of what could be used', async () => {
    const answer = await detokenize(['{{ text }}', '{{ nope }}', 'x {{', '{{ card | last4 }}'])
    expectProblem(answer, 400, ['[1]', '[2]', '[3]'], [secret, 'nope'])
  })

  test('when the answer would be far larger than the request', async () => {
    await create({ id: 'large', type: 'token', data: 'x'.repeat(500 * 1024) })
    expect((await detokenize(Array(10).fill('{{ large }}'))).status).toBe(200)
    expectProblem(await detokenize(Array(100).fill('{{ large }}')), 400, ['body'], ['xxxx'])
  })

  test('without the permission, without a key, and for other content', async () => {
    const permissions = ['token:create', 'token:read']
    const key = await vault.application({ type: 'private', permissions })
    expectProblem(await detokenize('{{ text }}', key), 403, undefined, [secret])
    expectProblem(await vault.ask('POST', '/detokenize', { body: '{{ text }}' }), 401)
    const ask = { key: plain, raw: '"{{ text }}"', type: 'text/plain' }
    expectProblem(await vault.ask('POST', '/detokenize', ask), 415, undefined, [secret])
    expectProblem(await vault.ask('POST', '/detokenize', { key: plain, raw: '{{ text }}' }), 400)
  })

  test('across tenants', async () => {
    const foreign = await openTestVault(103)
    const key = await foreign.application({ type: 'private', permissions: ['token:use'] })
    const ask = { key, body: ['{{ text }}'] }
    expectProblem(await foreign.ask('POST', '/detokenize', ask), 400, ['[0]'])
    expectProblem(await vault.ask('POST', '/detokenize', ask), 401)
  })
})
