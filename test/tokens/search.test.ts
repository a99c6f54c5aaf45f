/**
 * Searching tokens over HTTP: finds by each field, and refusals, which echo nothing.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { canary } from '../support/refusal.ts'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const hourMs = 3_600_000

let vault: TestVault
let key: string
let owner: string

const search = (body: unknown, as = key) => vault.ask('POST', '/tokens/search', { key: as, body })
const found = async (query: string) => search({ query })
const idsOf = (answer: Answer): string[] =>
  (answer.body['data'] as { id: string }[]).map(({ id }) => id)

async function create(body: Readonly<Record<string, unknown>>): Promise<void> {
  expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
}

/** One token at noon of 2030-01-01, one at midnight, one at noon of the next day, and so on. */
async function fill(): Promise<void> {
  vault.clock.advance(12 * hourMs)
  await create({ id: 'ssn', type: 'social_security_number', data: '111-22-3333' })
  vault.clock.advance(12 * hourMs)
  await create({ id: 'a b', type: 'token', data: 1, metadata: { Colour: 'Dark Blue', n: '' } })
  vault.clock.advance(12 * hourMs)
  await create({
    id: 'deep',
    type: 'token',
    data: 'Straße',
    containers: ['/Pci/High/x/'],
    mask: '{{ data | last4 }}',
    search_indexes: ['{{ data }}'],
  })
  vault.clock.advance(200 * 24 * hourMs)
  await create({ id: 'card', type: 'card_number', data: '4242424242424242' })
  const patch = { key, body: { metadata: { done: 'yes' } } }
  vault.clock.advance(hourMs)
  expect((await vault.ask('PATCH', '/tokens/ssn', patch)).status).toBe(200)
}

beforeAll(async () => {
  vault = await openTestVault(33)
  const permissions = ['token:create', 'token:search', 'token:update', 'token:read']
  key = await vault.application({ type: 'private', permissions })
  owner = String((await vault.ask('GET', '/applications/key', { key })).body['id'])
  await fill()
})

const all = ['card', 'deep', 'a b', 'ssn']

const finds: readonly (readonly [string, readonly string[]])[] = [
  ['*', all],
  ['  * ', all],
  ['id:ssn', ['ssn']],
  ['id:"a b"', ['a b']],
  ['id:SSN', []],
  ['type:token', ['deep', 'a b']],
  ['type:Token', []],
  ['type:no_such_type', []],
  ['data:111-22-3333', ['ssn']],
  ['data:111223333', ['ssn']],
  ['data:3333', ['ssn']],
  ['data:333', []],
  ['data:"STRAßE"', ['deep']],
  ['data:strasse', []],
  ['data:4242424242424242', []],
  ['container:/pci/high/', ['card']],
  ['container:/pci/', []],
  ['container:/PCI/*', ['card', 'deep']],
  ['container:/pci/high/x*', ['deep']],
  ['container:/p*', ['card', 'deep', 'ssn']],
  ['container:*', all],
  ['metadata.colour:"dark blue"', ['a b']],
  ['metadata."COLOUR":"DARK BLUE"', ['a b']],
  ['metadata.colour:dark', []],
  ['metadata.n:""', ['a b']],
  ['metadata.__proto__:x', []],
  ['metadata.done:yes', ['ssn']],
  ['created_at:2030-01-02', ['deep', 'a b']],
  ['created_at:"2030-01-01T12:00:00.000+00:00"', ['ssn']],
  ['created_at:2030-01-01T12:00:00.001Z', []],
  ['created_at:[2030-01-01T12:00Z TO 2030-01-02T00:00Z]', ['a b', 'ssn']],
  ['created_at:{2030-01-01T12:00Z TO 2030-01-02T00:00Z}', []],
  ['created_at:{2030-01-01T11:00Z TO 2030-01-01T12:00Z}', []],
  ['created_at:[2030-01-01T11:00Z TO 2030-01-01T12:00Z]', ['ssn']],
  ['created_at:[2030-01-02 TO *]', ['card', 'deep', 'a b']],
  ['created_at:{2030-01-02 TO *}', ['card']],
  ['created_at:[* TO 2030-01-01]', ['ssn']],
  ['created_at:[2030-07-01 TO 2030-01-01]', []],
  ['modified_at:[* TO *]', ['ssn']],
  ['NOT modified_at:[* TO *]', ['card', 'deep', 'a b']],
  ['type:token AND NOT id:deep OR data:3333', ['a b', 'ssn']],
  ['type:token AND (NOT id:deep OR data:3333)', ['a b']],
  ['-(type:token OR type:card_number)', ['ssn']],
  ['NOT id:absent', all],
]

describe('a search', () => {
  // proves A3.8, A10.27, C14.8, C14.9, C14.10, C14.12, C14.15
  test.each(finds)(
    'for %s finds exactly that, newest first, with its total',
    async (query, ids) => {
      const answer = await found(query)
      expect(answer.status).toBe(200)
      expect(idsOf(answer)).toEqual([...ids])
      expect(answer.body['pagination']).toMatchObject({ total_items: ids.length, page_number: 1 })
    },
  )

  // proves C14.14
  test('finds by the application that created or changed, in any case of its id', async () => {
    expect(idsOf(await found(`created_by:${owner}`))).toEqual(all)
    expect(idsOf(await found(`modified_by:${owner.toUpperCase()}`))).toEqual(['ssn'])
    expect(idsOf(await found('created_by:00000000-0000-4000-8000-000000000000'))).toEqual([])
  })

  // proves C14.13
  test('finds by fingerprint, exactly', async () => {
    const fingerprint = String(
      (await vault.ask('GET', '/tokens/card', { key })).body['fingerprint'],
    )
    expect(idsOf(await found(`fingerprint:${fingerprint}`))).toEqual(['card'])
    expect(idsOf(await found(`fingerprint:${fingerprint.toLowerCase()}`))).toEqual([])
  })

  // proves C14.7
  test('for * finds all, in pages', async () => {
    expect(idsOf(await search({ query: '*' }))).toEqual(all)
    expect(idsOf(await search({ query: ' * ' }))).toEqual(all)
    const nulls = { query: '*', page: null, size: null, start: null }
    expect((await search(nulls)).body['pagination']).toEqual({
      total_items: 4,
      page_number: 1,
      page_size: 20,
      total_pages: 1,
    })
    const second = await search({ query: 'NOT id:x', page: 2, size: 3 })
    expect(idsOf(second)).toEqual(['ssn'])
    expect(second.body['pagination']).toMatchObject({ total_items: 4, total_pages: 2 })
    expect(idsOf(await search({ query: '*', page: 3, size: 3 }))).toEqual([])
  })

  // proves C11.5
  test('shows data masked under plain permissions, never more', async () => {
    const answer = await found('id:card')
    expect(answer.text).toContain('"data":"XXXXXXXXXXXX4242"')
    expect(answer.text).not.toContain('4242424242424242')
  })

  // proves C14.17
  test('finds what was answered a moment ago, and not what was deleted or expired', async () => {
    const other = await openTestVault(34)
    const permissions = ['token:create', 'token:search', 'token:delete']
    const own = await other.application({ type: 'private', permissions })
    const ask = (method: string, path: string, body?: unknown) =>
      other.ask(method, path, body === undefined ? { key: own } : { key: own, body })
    const total = async () =>
      (await ask('POST', '/tokens/search', { query: 'metadata.run:1' })).body['pagination']
    const metadata = { run: '1' }
    for (let count = 1; count <= 5; count += 1) {
      const body = { id: `fresh-${count}`, type: 'token', data: count, metadata }
      expect((await ask('POST', '/tokens', body)).status).toBe(201)
      expect(await total()).toMatchObject({ total_items: count })
    }
    expect((await ask('DELETE', '/tokens/fresh-1')).status).toBe(204)
    expect(await total()).toMatchObject({ total_items: 4 })
    const brief = { type: 'token', data: 1, metadata, expires_at: '2030-01-01T00:00:01Z' }
    expect((await ask('POST', '/tokens', brief)).status).toBe(201)
    expect(await total()).toMatchObject({ total_items: 5 })
    other.clock.advance(1_000)
    expect(await total()).toMatchObject({ total_items: 4 })
  })
})

describe('a session', () => {
  test('lists and finds what its conditions name, whatever else there is', async () => {
    const own = await openTestVault(40)
    const { authorizer, open } = await openSessionKit(own)
    for (const id of ['user-1-a', 'user-1-b', 'user-10-a', 'user-2-a', 'fade-1']) {
      const indexes = { mask: '{{ data | last4 }}', search_indexes: ['{{ data }}'] }
      const body = { id, type: 'token', data: id, ...indexes }
      expect((await own.ask('POST', '/tokens', { key: authorizer.key, body })).status).toBe(201)
    }
    const none = await own.ask('POST', '/tokens', {
      key: authorizer.key,
      body: { type: 'token', data: 1 },
    })
    expect(none.status).toBe(201)
    const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'user-1-' }]
    const permissions = ['token:read', 'token:search']
    const key = await open({ rules: [{ priority: 1, conditions, transform: 'mask', permissions }] })
    const ask = async (query: string) => own.ask('POST', '/tokens/search', { key, body: { query } })
    const listed = await own.ask('GET', '/tokens?size=1', { key })
    expect(idsOf(listed)).toEqual(['user-1-b'])
    expect(listed.body['pagination']).toMatchObject({ total_items: 2, total_pages: 2 })
    expect(idsOf(await ask('*'))).toEqual(['user-1-b', 'user-1-a'])
    expect(idsOf(await ask('data:user-1-a'))).toEqual(['user-1-a'])
    expect(idsOf(await ask('data:user-2-a OR data:fade-1'))).toEqual([])
    expect(idsOf(await ask('NOT id:user-1-a'))).toEqual(['user-1-b'])
  })
})

const joined = (count: number, clause: string) => Array(count).fill(clause).join(' OR ')

const tooLong = 'created_at:[2/2/2020 TO 2/2/2069]'

const refusals: readonly (readonly [string, unknown, string, string?])[] = [
  ['an unknown field', { query: `${canary}:1` }, 'query', 'position 0: '],
  ['an unbalanced quote', { query: `data:"${canary}` }, 'query', 'position 5: '],
  ['two clauses side by side', { query: `id:${canary} id:b` }, 'query', 'position 15: '],
  ['a foreign operator', { query: `id:a XOR id:${canary}` }, 'query', 'position 5: '],
  ['an instant that is none', { query: `created_at:${canary}` }, 'query', 'position 11: '],
  ['a range of texts', { query: `id:[${canary} TO b]` }, 'query', 'position 3: '],
  ['a star in data', { query: `data:${canary}*` }, 'query', 'position 16: '],
  ['a container that is none', { query: `container:/${canary}` }, 'query', 'position 10: '],
  ['2,001 characters', { query: `id:${'x'.repeat(1_998)}` }, 'query'],
  ['101 clauses', { query: joined(101, 'id:a') }, 'query', 'position 800: '],
  ['1,900 parentheses', { query: '('.repeat(1_900) }, 'query', 'position 17: '],
  ['10,000 parentheses', { query: '('.repeat(10_000) }, 'query'],
  ['deep negation', { query: 'NOT '.repeat(490) + 'id:a' }, 'query', 'position 68: '],
  ['ranges of too many days', { query: joined(40, tooLong) }, 'query', 'expected fewer'],
  ['a query that is no text', { query: 1 }, 'query'],
  ['no query', {}, 'query', 'expected a query such as type:card; * alone finds all tokens'],
  ['a query of null', { query: null }, 'query', 'expected a query such as'],
  ['an empty query', { query: '' }, 'query', 'expected a query such as'],
  ['a blank query', { query: ' \t' }, 'query', 'position 2: expected a query such as'],
  ['a star beside something', { query: '* AND id:a' }, 'query', 'position 0: '],
  ['a member that is none', { query: '*', [canary]: 1 }, 'body', 'unknown member: expected only'],
  ['a limit', { query: '*', limit: 1 }, 'size', 'unknown member: did you mean `size`?'],
  ['page 0', { query: '*', page: 0 }, 'page'],
  ['half a page', { query: '*', page: 1.5 }, 'page'],
  ['size 101', { query: '*', size: 101 }, 'size'],
  ['a size in quotes', { query: '*', size: '5' }, 'size'],
  ['a page and a start', { query: '*', page: 1, start: '' }, 'page'],
  ['a start that is no text', { query: '*', start: 1 }, 'start'],
  ['a forged start', { query: '*', start: canary }, 'start'],
]

describe('a search is refused', () => {
  // proves C1.18, C2.6, C14.7, C14.10, C14.16
  test.each(refusals)('for %s', async (_, body, path, begins = '') => {
    const answer = await search(body)
    expect(answer.status).toBe(400)
    const errors = answer.body['errors'] as Record<string, string[]>
    expect(Object.keys(errors)).toEqual([path])
    expect(errors[path]?.[0]).toStartWith(begins)
    expect(answer.text).not.toContain(canary)
    expect(vault.logged.join('\n')).not.toContain(canary)
  })

  test('without a body, with another type, and as a list', async () => {
    expect((await vault.ask('POST', '/tokens/search', { key })).status).toBe(415)
    const text = { key, raw: 'query=id:a', type: 'text/plain' }
    expect((await vault.ask('POST', '/tokens/search', text)).status).toBe(415)
    expect((await search([])).status).toBe(400)
  })

  // proves C14.6
  test('to a caller who lacks token:search, also with token:read', async () => {
    const reader = await vault.application({ type: 'private', permissions: ['token:read'] })
    expect((await search({ query: `${canary}:1` }, reader)).status).toBe(403)
    expect((await search({}, vault.managementKey)).status).toBe(403)
    expect((await search({}, 'key_none')).status).toBe(401)
  })
})
