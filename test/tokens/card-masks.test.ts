/**
 * Masks of cards by a caller who may not reveal: the part of a number that one key may show, in one
 * token or in several steps. Source: contract section 6; PCI DSS 3.4.1.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const number = '4242424242424242'
const amex = '378282246310005'
const card = { number, expiration_month: 12, expiration_year: 2030, cvc: '987', holder: 'canary' }
const writing = ['token:create', 'token:update']
const all = [...writing, 'token:read']

let vault: TestVault
/** Key of a browser: it may create and update. */
let open: string
/** Sees tokens masked. */
let reader: string
/** Sees everything. */
let owner: string
let made = 0

beforeAll(async () => {
  vault = await openTestVault(272)
  open = await vault.application({ type: 'public', permissions: writing })
  reader = await vault.application({ type: 'private', permissions: ['token:read'] })
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: all }]
  owner = await vault.application({ type: 'private', rules })
})

const create = (key: string, mask?: unknown, data: unknown = card, type = 'card') => {
  made += 1
  const body = { id: `card-${made}`, type, data, ...(mask === undefined ? {} : { mask }) }
  return vault.ask('POST', '/tokens', { key, body })
}
/** A card that the owner made, with that mask. */
const stored = async (mask?: unknown, data: unknown = card): Promise<string> => {
  const answer = await create(owner, mask, data)
  expect(answer.status).toBe(201)
  return String(answer.body['id'])
}
const patch = (key: string, id: string, body: unknown) =>
  vault.ask('PATCH', `/tokens/${id}`, { key, body })
const read = (id: string, key = owner) => vault.ask('GET', `/tokens/${id}`, { key })

const honest: readonly unknown[] = [
  '{{ data.number | reveal_last: 4 }}',
  "{{ data.number | card_mask: 'true', 'true' }}",
  "{{ data.number | card_mask: 'true','true','#','-' }}",
  '{{ data.number | slice: 0, 6 }}',
  '{{ data.number | slice: 0, 8 }}****{{ data.number | last4 }}',
  '{{ data.number | reveal: 6, 4 }}',
  '{{ data.number | card_bin }}',
  "{{ data | card_exp: 'MM/YY' }}",
  'constant',
  { number: "{{ data.number | reveal_last: 4, '*' }}", cvc: 'XXX', holder: '{{ data.holder }}' },
  ['{{ data.expiration_month }}', { year: '{{ data.expiration_year | modulo: 100 }}' }],
  null,
]

const wide: readonly unknown[] = [
  '{{ data.number | slice: 0, 9 }}',
  '{{ data.number | slice: 8, 8 }}',
  ['{{ data.number | card_bin }}', '{{ data.number | slice: 8, 2 }}'],
  '{{ data.number | divided_by: 2 | slice: 0, 6 }}',
  '{{ data.number | slice: 8, 4 | divided_by: 2 }}',
  '{{ data.number | prepend: data.pad | slice: 16, 8 }}',
  '{{ data.number | slice: data.from, 4 }}',
  '{{ data | size }}',
  "{{ data | json: '$.cvc' }}",
  '{{ data.cvc }}',
  '{{ data.cvc | slice: 0 }}',
  '{{ data.cvc | divided_by: 1000 }}',
  { cvc: "{{ data.cvc | default: 'none' | size }}" },
  "{{ data.holder | append: data.cvc | truncate: 3, '' }}",
]

/** Masks whose output depends on each digit, some of them for one other value alone. */
const ofEveryDigit: readonly unknown[] = [
  "{{ data.number | split: '' | sort | first }}",
  `{{ data.number | split: '' | json: "$[?@ > '4']" }}`,
  '{{ data.number | at_least: 4242424242420000 | minus: 4242424242420000 | divided_by: 10000 }}',
  "{{ data.number | reveal: 0, 0, 'X', '7' }}",
  "{{ data.number | replace: '4', '' | size }}",
  '{{ data.number | divided_by: 2 }}',
  ['{{ data.number | slice: 0, 8 | divided_by: 2 }}', '{{ data.number | slice: 8, 8 }}'],
]

describe('at create, a caller who may not reveal', () => {
  // proves C6.41
  test.each(honest.map(mask => [mask]))('may show the ends of a number: %j', async mask => {
    expect((await create(open, mask)).status).toBe(201)
  })

  // proves C6.41, E3.2, E3.3, S58
  test.each(wide.map(mask => [mask]))('may not show more, nor the code: %j', async mask => {
    const refused = await create(open, mask)
    expectProblem(refused, 403, [], [number, card.cvc])
    expectProblem(await read(`card-${made}`), 404)
    expect((await create(owner, mask)).status).toBe(201)
  })

  // proves C6.40, E3.2
  test.each(ofEveryDigit.map(mask => [mask]))('may show no more than others: %j', async mask => {
    for (const key of [open, owner]) {
      expectProblem(await create(key, mask), 400, ['mask'], [number])
    }
  })

  // proves C6.41
  test('may show six digits of a BIN, eight where the number has 16 or more', async () => {
    const ask = (data: string, mask: string) => create(open, mask, data, 'card_number')
    expect((await ask(number, '{{ data | reveal: 8, 4 }}')).status).toBe(201)
    expectProblem(await ask(amex, '{{ data | reveal: 8, 4 }}'), 403, [], [amex])
    expect((await ask(amex, '{{ data | reveal: 6, 4 }}')).status).toBe(201)
    expect((await ask(amex, '{{ data | last4 }}')).body['data']).toBe('0005')
  })

  // proves E3.8
  test('is refused so in a bulk too, of which nothing is made', async () => {
    const good = { id: 'bulk-good', type: 'card', data: card }
    const bad = { ...good, id: 'bulk-bad', mask: '{{ data.cvc }}' }
    expectProblem(await vault.ask('POST', '/tokenize', { key: open, body: [good, bad] }), 403)
    for (const id of ['bulk-good', 'bulk-bad']) expectProblem(await read(id), 404)
  })

  test('and a caller who sees nothing, has the same bounds', async () => {
    const rules = [{ priority: 1, container: '/', transform: 'redact', permissions: writing }]
    const key = await vault.application({ type: 'public', rules })
    expectProblem(await create(key, '{{ data.cvc }}'), 403, [], [card.cvc])
    expect((await create(key, '{{ data.number | last4 }}')).status).toBe(201)
  })
})

describe('a mask that stands', () => {
  // proves C6.42, E3.1, S57
  test('is not widened by halves, in whatever steps', async () => {
    const id = await stored('{{ data.number | slice: 0, 8 }}')
    for (const mask of [
      '{{ data.number | slice: 8, 8 }}',
      '{{ data.number | slice: 8, 1 }}',
      '{{ data.number | last4 }}',
      '{{ data.cvc }}',
      '{{ data.holder }}',
      '{{ data.expiration_month }}',
    ]) {
      expectProblem(await patch(open, id, { mask }), 403, [], [number, card.cvc])
    }
    expect((await read(id, reader)).body['data']).toBe('42424242')
  })

  // proves C6.42, E3.1
  test('may be narrowed, step by step, and never back', async () => {
    const id = await stored()
    const last4 = { mask: null, number: '{{ data.number | last4 }}' }
    const narrower = { ...last4, expiration_month: null, expiration_year: null }
    expect((await patch(open, id, { mask: narrower })).body['data']).toEqual({ number: '4242' })
    expectProblem(await patch(open, id, { mask: { month: '{{ data.expiration_month }}' } }), 403)
    expect((await patch(open, id, { mask: '{{ data.number | slice: 15 }}' })).body['data']).toBe(
      '2',
    )
    expectProblem(await patch(open, id, { mask: '{{ data.number | last4 }}' }), 403)
    const cleared = await patch(open, id, { mask: null })
    expect(cleared.status).toBe(200)
    expect(cleared.body).not.toHaveProperty('mask')
    expectProblem(await patch(open, id, { mask: '{{ data.number | slice: 15 }}' }), 403)
  })

  // proves E3.6
  test('that fails on the data shows nothing, nor does what comes in its place', async () => {
    const id = await stored({ n: '{{ data.number | last4 }}', h: '{{ data.holder | to_number }}' })
    expect((await read(id, reader)).body).not.toHaveProperty('data')
    expectProblem(await patch(open, id, { mask: { h: null } }), 403)
    expect((await patch(open, id, { mask: { n: null, h: 'hidden' } })).status).toBe(200)
  })

  // proves E3.5
  test('is judged anew where the number gets another length', async () => {
    const short = '4222222222222'
    const id = await stored('{{ data.number | slice: 9, 4 }}', { number: short })
    expectProblem(await patch(open, id, { data: { number } }), 403, [], [number])
    const other = '4000000000006'
    expect((await patch(open, id, { data: { number: other } })).status).toBe(200)
    const usual = await stored()
    expect((await patch(open, usual, { data: { number: short } })).status).toBe(200)
    const ends = await stored('{{ data.number | reveal: 6, 4 }}')
    expect((await patch(open, ends, { data: { number: amex } })).status).toBe(200)
    for (const none of [null, 4, '4', 'x'.repeat(400_000), '4'.repeat(400_000)]) {
      expectProblem(await patch(open, id, { data: { number: none } }), 400, ['data.number'])
    }
  })

  test('stays beside other changes, also where it shows more than may be set today', async () => {
    const id = await stored({ cvc: '{{ data.cvc }}', number: '{{ data.number | slice: 0, 12 }}' })
    const body = { metadata: { a: '1' }, data: { holder: 'x' }, containers: ['/elsewhere/'] }
    expect((await patch(open, id, body)).status).toBe(200)
    expect((await patch(open, id, { mask: { cvc: '{{ data.cvc }}' } })).status).toBe(200)
    expect((await patch(open, id, { mask: { number: null } })).body['data']).toEqual({ cvc: '987' })
  })

  // proves E3.7
  test('leaves search indexes and fingerprint to a caller who reveals', async () => {
    const id = await stored()
    for (const body of [
      { search_indexes: ['{{ data.number | slice: 0, 12 }}'] },
      { fingerprint_expression: '{{ data.cvc }}' },
    ]) {
      expectProblem(await patch(open, id, body), 403)
      expect((await patch(owner, id, body)).status).toBe(200)
    }
  })

  test('is free for a caller who reveals, but for the whole number', async () => {
    const id = await stored()
    const mask = { cvc: '{{ data.cvc }}', number: '{{ data.number | slice: 0, 12 }}' }
    expect((await patch(owner, id, { mask })).status).toBe(200)
    expectProblem(await patch(owner, id, { mask: '{{ data.number }}' }), 400, ['mask'], [number])
    const halves = { mask: '{{ data.number | slice: 0, 8 }} {{ data.number | slice: 8, 7 }}' }
    expectProblem(await patch(owner, id, halves), 400, ['mask'], [number])
  })
})

// proves C6.43
test('without strict masks a card takes any mask that hides something of its number', async () => {
  const loose = await openTestVault(273, { strictMasks: false })
  const key = await loose.application({ type: 'public', permissions: writing })
  const body = { id: 'loose', type: 'card', data: card, mask: '{{ data.cvc }}' }
  expect((await loose.ask('POST', '/tokens', { key, body })).status).toBe(201)
  const widened = { mask: '{{ data.number | slice: 0, 12 }}' }
  expect((await loose.ask('PATCH', '/tokens/loose', { key, body: widened })).status).toBe(200)
  const halves = { mask: ['{{ data.number | divided_by: 2 }}', '{{ data.number | modulo: 2 }}'] }
  expectProblem(await loose.ask('PATCH', '/tokens/loose', { key, body: halves }), 400, ['mask'])
})
