/**
 * A caller asks to be shown less than its rules give: of one token, in lists and in searches.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
const keys: Record<string, string> = {}
const planted = '4242424242424242'

beforeAll(async () => {
  vault = await openTestVault(312)
  const permissions = ['token:create', 'token:read', 'token:search']
  for (const transform of ['reveal', 'mask', 'redact']) {
    const rules = [{ priority: 1, container: '/pci/', transform, permissions }]
    keys[transform] = await vault.application({ type: 'private', rules })
  }
  keys['plain'] = await vault.application({ type: 'private', permissions })
  const search_indexes = ['{{ data }}']
  const body = { id: 'card-1', type: 'card_number', data: planted, search_indexes }
  expect((await vault.ask('POST', '/tokens', { key: keys['plain'] ?? '', body })).status).toBe(201)
  const other = { id: 'far-1', type: 'token', data: 'far', containers: ['/elsewhere/'] }
  await vault.ask('POST', '/tokens', { key: keys['plain'] ?? '', body: other })
})

const masked = 'XXXXXXXXXXXX4242'

type Asking = readonly [
  method: string,
  path: (transform: string) => string,
  body: (transform: string) => object | undefined,
]

const one: Asking = ['GET', asked => `/tokens/card-1?transform=${asked}`, () => undefined]
const ways: readonly (readonly [string, ...Asking])[] = [
  ['a read', ...one],
  ['a list', 'GET', asked => `/tokens?transform=${asked}&type=card_number`, () => undefined],
  ['a walk', 'GET', asked => `/v2/tokens?transform=${asked}&type=card_number`, () => undefined],
  [
    'a search',
    'POST',
    () => '/tokens/search',
    transform => ({ query: 'type:card_number', transform }),
  ],
  [
    'a search as a walk',
    'POST',
    () => '/v2/tokens/search',
    transform => ({ query: 'type:card_number', transform }),
  ],
]

async function shown(by: string, asked: string, [method, path, body]: Asking) {
  const ask = { key: keys[by] ?? '', body: body(asked) }
  const answer = await vault.ask(method, path(asked), ask)
  const { data } = answer.body
  const token = Array.isArray(data) ? data[0] : answer.body
  const [last] = (await entriesOf(vault)).slice(-1)
  return { answer, token, entry: JSON.parse(last?.line ?? '{}') }
}

describe.each(ways)('%s', (_, ...asking) => {
  // proves C11.28
  test.each([
    ['reveal', 'mask', 'mask', masked],
    ['reveal', 'redact', 'redact', undefined],
    ['mask', 'mask', 'mask', masked],
    ['mask', 'redact', 'redact', undefined],
    ['redact', 'mask', 'redact', undefined],
    ['redact', 'redact', 'redact', undefined],
    ['plain', 'mask', 'mask', masked],
    ['plain', 'redact', 'redact', undefined],
  ])('by rules that %s, asked for %s, gives %s', async (by, asked, given, data) => {
    const { token, answer, entry } = await shown(by, asked, asking)
    expect([answer.status, token.data]).toEqual([200, data])
    expect('fingerprint' in token).toBe(given !== 'redact')
    expect(answer.text).not.toContain(planted)
    const rule = by === 'plain' ? /^token:(?:read|search)$/ : /^rule 0$/
    expect(entry).toMatchObject({ transform: given, rule: expect.stringMatching(rule) })
  })

  test.each(['reveal', 'Mask', '', 'none', planted])('refuses %p', async asked => {
    const { answer } = await shown('reveal', asked, asking)
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body['errors'] ?? {})).toEqual([
      asking[0] === 'GET' ? 'query.transform' : 'transform',
    ])
    expect(answer.text).not.toContain(planted)
  })
})

// proves C11.28
test('what the rules hide stays hidden', async () => {
  for (const asked of ['mask', 'redact']) {
    const path = `/tokens/far-1?transform=${asked}`
    expect((await vault.ask('GET', path, { key: keys['reveal'] ?? '' })).status).toBe(404)
  }
})

test('a transform that is asked for twice is refused', async () => {
  const path = '/tokens/card-1?transform=mask&transform=mask'
  expect((await vault.ask('GET', path, { key: keys['reveal'] ?? '' })).status).toBe(400)
})

// proves C11.28
test('a search for data finds nothing by what it would not show', async () => {
  const search = async (transform?: string) => {
    const body = { query: `data:${planted}`, transform }
    return vault.ask('POST', '/tokens/search', { key: keys['reveal'] ?? '', body })
  }
  expect((await search()).text).toContain('card-1')
  expect((await search('mask')).text).toContain('card-1')
  expect((await search('redact')).text).not.toContain('card-1')
})

test('a walk goes on only as it was asked', async () => {
  const key = keys['plain'] ?? ''
  const walk = (query: string) => vault.ask('GET', `/v2/tokens?size=1&${query}`, { key })
  const first = await walk('transform=mask')
  const { next } = first.body['pagination'] as { next: string }
  const start = `start=${encodeURIComponent(next)}`
  expect((await walk(`transform=mask&${start}`)).status).toBe(200)
  expect((await walk(start)).status).toBe(400)
})

test('an explanation tells what the rules give', async () => {
  const path = '/tokens/card-1?transform=mask&explain=true'
  const { body } = await vault.ask('GET', path, { key: keys['reveal'] ?? '' })
  expect(body).toMatchObject({ data: masked, _extras: { access: { decision: 'reveal' } } })
})
