/**
 * Tokenization by the frame: against a vault, over a wire that loses answers, and with the message
 * for each answer.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Form } from '../../src/elements/frame/form.ts'
import { failureOf, idOf, maskedOf } from '../../src/elements/frame/outcome.ts'
import { elapsedMs, random, randomHex, sleep } from '../../src/elements/frame/platform.ts'
import { makeTokens, type TokenMaker } from '../../src/elements/frame/tokens.ts'
import type { Failure } from '../../src/elements/protocol.ts'
import { afterwards, openServed, openWire, type Fate } from '../client/served.ts'

const { keys, port, vault, clientOf } = await openServed(211)
const digits = { number: '4242424242424242', expiry: '1131', cvc: '739' }

/** A form with a card in it. */
const formOf = (what = digits): Form => ({
  digits: () => what,
  focus() {},
  clear() {},
  check: () => [],
  isTyped: () => false,
  spend() {},
})

const tokensAt = (address: string, form = formOf()): TokenMaker =>
  makeTokens(form, { fetch, elapsedMs, random, randomHex, sleep, url: `${address}/tokens` })

const ask = (more: object = {}) => ({
  key: keys.public,
  request: {},
  timeoutMs: 120_000,
  ...more,
})

const count = async (): Promise<number> =>
  (await clientOf('private').tokens.listPage()).pagination.total_items

const lost = (times: number): Fate[] => Array<Fate>(times).fill('answer lost')

describe('a token', () => {
  // proves F8
  test('is made once, however often its answer is lost on the way', async () => {
    const before = await count()
    const tokens = tokensAt(await openWire(port, lost(2)))
    const made = await tokens.make(ask())
    expect(made).toMatchObject({ brand: 'visa', data: { number: 'XXXXXXXXXXXX4242' } })
    expect(await count()).toBe(before + 1)
  })

  // proves F8
  test('is made once by a second attempt, when the first was given up', async () => {
    const before = await count()
    const tokens = tokensAt(await openWire(port, lost(4)))
    expect(await tokens.make(ask())).toMatchObject({ code: 'unavailable' })
    expect(await tokens.make(ask())).toMatchObject({ brand: 'visa' })
    expect(await count()).toBe(before + 1)
  })

  // proves F7
  test('is one for one filling, and another once it was cleared', async () => {
    const before = await count()
    const tokens = tokensAt(await openWire(port, []))
    const made = await tokens.make(ask())
    expect(made).toMatchObject({ brand: 'visa' })
    expect(await tokens.make(ask())).toEqual(made)
    const other = await tokens.make(ask({ request: { metadata: { a: 'b' } } }))
    expect(other).toMatchObject({ code: 'invalid_request' })
    expect(await count()).toBe(before + 1)
    tokens.forget()
    expect(await tokens.make(ask())).not.toEqual(made)
    expect(await count()).toBe(before + 2)
  })

  test('is of no number that is still being typed, and of one that is left at once', async () => {
    let isTyped = true
    const spent: boolean[] = []
    const form: Form = {
      ...formOf(),
      isTyped: () => isTyped,
      check: () => (isTyped ? ['number'] : []),
      spend: isSpent => void spent.push(isSpent),
    }
    const tokens = tokensAt(await openWire(port, []), form)
    expect(await tokens.make(ask())).toMatchObject({ code: 'invalid_card', fields: ['number'] })
    expect(spent).toEqual([])
    const asked = tokens.make(ask())
    isTyped = false
    expect(await asked).toMatchObject({ brand: 'visa' })
    expect(spent).toEqual([true])
  })

  test('that was refused leaves the number as it is, to be corrected', async () => {
    const spent: boolean[] = []
    const form = { ...formOf(), spend: (isSpent: boolean) => void spent.push(isSpent) }
    const tokens = tokensAt(await openWire(port, []), form)
    const refused = await tokens.make(ask({ key: 'key_2222222222222222222222' }))
    expect(refused).toMatchObject({ code: 'key_refused' })
    expect(spent).toEqual([true, false])
  })

  test('is another one where the card was cleared, or something else is said of it', async () => {
    for (const change of ['clear', 'request'] as const) {
      const before = await count()
      const tokens = tokensAt(await openWire(port, lost(4)))
      await tokens.make(ask())
      if (change === 'clear') tokens.forget()
      await tokens.make(ask(change === 'clear' ? {} : { request: { metadata: { a: 'b' } } }))
      expect([change, await count()]).toEqual([change, before + 2])
    }
  })

  test('is made one at a time', async () => {
    const tokens = tokensAt(await openWire(port, []))
    const [first, second] = await Promise.all([tokens.make(ask()), tokens.make(ask())])
    expect(first).toMatchObject({ brand: 'visa' })
    expect(second).toMatchObject({ code: 'invalid_request' })
  })

  test('is not waited for longer than was said', async () => {
    const silent = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Promise<Response>(() => {}),
    })
    afterwards(() => silent.stop(true))
    const made = await tokensAt(silent.url.origin).make(ask({ timeoutMs: 300 }))
    expect(made).toMatchObject({ code: 'unavailable' })
  })

  test('may say what the vault takes beside a card', async () => {
    const request = { metadata: { a: 'b' }, containers: ['/pci/elements/'] }
    const made = await tokensAt(await openWire(port, [])).make(ask({ request }))
    const { id } = made as { id: string }
    const { metadata, containers } = await clientOf('private').tokens.get(id)
    expect({ metadata, containers }).toEqual(request)
  })
})

describe('a failure says', () => {
  const failing = async (form: Form, more = {}): Promise<Failure> =>
    (await tokensAt(await openWire(port, []), form).make(ask(more))) as Failure

  test('the fields that the vault refuses', async () => {
    const wrong = { number: '4242424242424241', expiry: '1331', cvc: '12' }
    expect(await failing(formOf(wrong))).toMatchObject({
      code: 'invalid_card',
      fields: ['number', 'expiry', 'cvc'],
      status: 400,
      traceId: expect.any(String),
    })
  })

  test('that the key was refused, and not which it was', async () => {
    const key = 'key_2222222222222222222222'
    const refused = await failing(formOf(), { key })
    expect(refused).toMatchObject({ code: 'key_refused', status: 401 })
    const forbidden = await failing(formOf(), { key: keys.management })
    expect(forbidden).toMatchObject({ code: 'key_refused', status: 403 })
    expect(JSON.stringify([refused, forbidden])).not.toMatch(/key_2|\d{12}/)
  })

  test('the mistakes of the shop beside the card', async () => {
    const request = { expires_at: 'yesterday' }
    expect(await failing(formOf(), { request })).toMatchObject({ code: 'invalid_request' })
  })

  test.each([
    [500, 'unavailable'],
    [503, 'unavailable'],
    [429, 'unavailable'],
    [404, 'unavailable'],
    [302, 'unavailable'],
    [409, 'invalid_request'],
    [413, 'invalid_request'],
  ])('of an answer %i that it is %s', (status, code) => {
    const facts = { traceId: undefined, body: undefined, retryAfter: 0 }
    expect(failureOf({ ...facts, status })).toMatchObject({ code, status })
  })
})

describe('the report on a token', () => {
  const number = '4242424242424242'
  const told = (data: unknown) => maskedOf({ id: 'a', data }, number)

  test('is its masked number and its date', () => {
    const data = { number: '42424242XXXX4242', expiration_month: 1, expiration_year: 2031 }
    expect(told(data)).toEqual(data)
  })

  // proves E17.10, S86
  test.each([
    ['the number', { number }],
    ['the number in groups', { number: '4242 4242 4242 4242' }],
    ['one digit of it hidden', { number: '424242424242424X' }],
    ['a number that is none', { number: 4242424242424242 }],
    ['more than the number', { number: `XXXX4242${'a'.repeat(20)}` }],
    ['the code', { cvc: '739', other: '739' }],
    ['a month that is none', { expiration_month: 739 }],
    ['a year that is none', { expiration_year: '739' }],
    ['no object', '739'],
    ['nothing', undefined],
  ])('is nothing where the mask shows %s', (_, data) => {
    expect(told(data)).toEqual({})
  })

  test('has an id, or is none', () => {
    expect([{ id: 'a' }, { id: 1 }, {}, undefined, null, 'a'].map(idOf)).toEqual([
      'a',
      ...Array<undefined>(5),
    ])
  })

  // proves E17.10
  test('that was there before, with another mask, is no digit more', async () => {
    const { tokens } = clientOf('private')
    const mask = {
      number: '{{ data.number | reveal_last: 4 }}',
      extra: '{{ data.number | last4 }}',
    }
    await tokens.create({
      type: 'card',
      data: { number: '5555555555554444' },
      mask,
      metadata: {},
      deduplicate_token: true,
    })
    const form = formOf({ ...digits, number: '5555555555554444' })
    const request = { deduplicate_token: true }
    const made = await tokensAt(await openWire(port, []), form).make(ask({ request }))
    expect(made).toMatchObject({ brand: 'mastercard', data: expect.any(Object) })
    expect(JSON.stringify(made)).not.toMatch(/extra|5555/)
    expect(vault.logged.join()).not.toContain('5555')
  })
})
