/**
 * Steps of one request count together, over all of its expressions and tokens. Contract sections 6
 * and 16.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  bulkLeavesMax,
  evaluationStepsMax,
  maskNumberOutputsMax,
  pageSizeMax,
  requestStepsMax,
} from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let key: string
let masking: string

beforeAll(async () => {
  vault = await openTestVault(181)
  key = await vault.application({
    type: 'private',
    permissions: ['token:create', 'token:read', 'token:use'],
  })
  const permissions = ['token:read', 'token:use', 'token:search']
  const rules = [{ priority: 1, container: '/', transform: 'mask', permissions }]
  masking = await vault.application({ type: 'private', rules })
})

/** Takes between a half and all of the steps that one expression may do. */
const grown = "replace: 'a', 'bbbbbbbb' | replace: 'b', 'cccccccc' | replace: 'c', 'dddd' | upcase"
const costly = `{{ data | ${grown} | size }}`
const data = 'a'.repeat(400)
const enough = 2 * (requestStepsMax / evaluationStepsMax)

/** Ten of one item; white space makes each its own. */
const indexes = Array.from({ length: 10 }, (_, index) =>
  costly.replace('}', `${' '.repeat(index)}}`),
)

const bulk = (length: number, item: object) => Array.from({ length }, () => item)

const tokenize = (body: unknown, query = '') =>
  vault.ask('POST', `/tokenize${query}`, { key, body })

const tokensTotal = async () =>
  (await vault.ask('GET', '/tokens?size=1', { key })).body['pagination'] as object

const message = 'expected expressions and masks that do less work together'

describe('a request that evaluates more than it may', () => {
  // proves C16.8, E10.10
  test.each<[string, object, number]>([
    ['search indexes', { search_indexes: indexes }, enough / 10],
    ['masks', { mask: costly }, enough],
    ['fingerprint expressions', { fingerprint_expression: costly }, enough],
    [
      'id expressions',
      { id: `{{ data | ${grown} | slice: 0, 9 | alias_preserve_length }}` },
      enough,
    ],
  ])('E10.10: of %s, is 400 as a whole, and nothing is made', async (_, more, count) => {
    const before = await tokensTotal()
    const body = bulk(count, { type: 'token', data, ...more })
    for (const query of ['', '?mode=partial']) {
      const refused = await tokenize(body, query)
      expectProblem(refused, 400)
      expect(refused.body['detail']).toBe(message)
      expect(await tokensTotal()).toEqual(before)
    }
    expect((await tokenize(bulk(3, { type: 'token', data, ...more }))).status).toBe(200)
  })

  // proves E10.10
  test('E10.10: of what masks show of a card by their form, is 400 as a whole', async () => {
    // Every output picks by place alone, after nearly all the work that one such look may take.
    const output = "{{ data | pad_left: 200, 'a' | replace: 'a', 'bb' | last4 }}"
    const mask = Array.from({ length: maskNumberOutputsMax }, () => output)
    const item = { type: 'card_number', data: '4000056655665556', mask }
    expect((await tokenize([item])).status).toBe(200)
    const refused = await tokenize(bulk(60, item))
    expectProblem(refused, 400)
    expect(refused.body['detail']).toBe(message)
  })

  // proves C16.8, E10.10
  test('E10.10: by filters of references, is 400 and shows nothing', async () => {
    const created = await vault.ask('POST', '/tokens', { key, body: { type: 'token', data } })
    const reference = `{{ ${String(created.body['id'])} | ${grown} }}`
    const body = bulk(enough, {}).map(() => reference)
    const refused = await vault.ask('POST', '/detokenize', { key, body })
    expectProblem(refused, 400)
    expect(refused.body['detail']).toBe(message)
    const few = await vault.ask('POST', '/detokenize', { key, body: body.slice(0, 3) })
    expect(few.status).toBe(200)
  })
})

/** Objects in objects: printing one sorts the names of each. */
const nested = (depth: number): object | number =>
  depth === 0 ? 1 : { a: nested(depth - 1), b: nested(depth - 1) }

describe('a request that prints data of many small members', () => {
  const printed = async (count: number, filters: string) => {
    const body = { type: 'token', data: [nested(13)], fingerprint_expression: '{{ data | size }}' }
    const created = await vault.ask('POST', '/tokens', { key, body })
    const reference = `{{ ${String(created.body['id'])} | ${filters} | size }}`
    return vault.ask('POST', '/detokenize', { key, body: Array(count).fill(reference) })
  }

  // proves E10.10
  test('E10.10: made anew for each reference, is 400 and pays what printing costs', async () => {
    const refused = await printed(40, 'reverse | stringify')
    expectProblem(refused, 400)
    expect(refused.body['detail']).toBe(message)
    expect((await printed(3, 'reverse | stringify')).status).toBe(200)
  })

  // proves E10.10
  test('E10.10: as the answer itself, is 400 and pays for it too', async () => {
    const body = { type: 'token', data: [nested(13)], fingerprint_expression: '{{ data | size }}' }
    const created = await vault.ask('POST', '/tokens', { key, body })
    const reference = `{{ ${String(created.body['id'])} | reverse }}`
    const refused = await vault.ask('POST', '/detokenize', { key, body: Array(40).fill(reference) })
    expectProblem(refused, 400)
    expect(refused.body['detail']).toBe(message)
  })

  test('of one token, prints it once', async () => {
    expect((await printed(40, 'stringify')).status).toBe(200)
  })
})

describe('a request whose filters cost more for each character than most', () => {
  // proves E10.10
  test.each<[filters: string, data: string | readonly string[], count: number]>([
    ['sort_natural', ['İ'.repeat(100_000)], 80],
    ['upcase', 'ΐ'.repeat(40_000), 120],
    ['upcase', 'ΐ'.repeat(80_000), 100],
    ['initials', '\n'.repeat(200_000), 100],
    ["json: '$[?@<$[0]]' | default: ''", Array<string>(400).fill('a'.repeat(1_000)), 120],
  ])('E10.10: %s, is 400 and pays what they cost', async (filters, each, count) => {
    const body = { type: 'token', data: each, fingerprint_expression: '{{ data | size }}' }
    const created = await vault.ask('POST', '/tokens', { key, body })
    const reference = `{{ ${String(created.body['id'])} | ${filters} | size }}`
    const ask = (length: number) =>
      vault.ask('POST', '/detokenize', { key, body: Array(length).fill(reference) })
    const refused = await ask(count)
    expectProblem(refused, 400)
    expect(refused.body['detail']).toBe(message)
    expect((await ask(3)).body['detail']).not.toBe(message)
  })
})

// proves E10.10
test('E10.10: a thousand cards with ten search indexes each, all HMACs, pass', async () => {
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2032 }
  const digests = Array.from(
    { length: 10 },
    (_, index) => `{{data.number|slice:0,${index + 4}|hmac:'sha-256','k'|to_base64}}`,
  )
  const item = { type: 'card', data: card, search_indexes: digests }
  const answer = await tokenize(bulk(bulkLeavesMax, item))
  expect(answer.status).toBe(200)
})

// proves C16.9, E10.11
test('E10.11: a page of tokens with costly masks of others is shown', async () => {
  const body = { type: 'token', data, mask: costly }
  const made = await Promise.all(
    Array.from({ length: pageSizeMax }, () => vault.ask('POST', '/tokens', { key, body })),
  )
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  const page = await vault.ask('GET', `/tokens?size=${pageSizeMax}`, { key: masking })
  expect(page.status).toBe(200)
  const shown = page.body['data'] as readonly { readonly data: unknown }[]
  expect(shown).toHaveLength(pageSizeMax)
  expect(shown.map(token => token.data)).toEqual(shown.map(() => data.length * 256))
})
