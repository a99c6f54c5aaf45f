/**
 * No oracle: what a caller may not see changes nothing in any answer.
 *
 * Two vaults of equal keys and equal visible tokens; one has hidden tokens between them. Every
 * answer is compared as a whole, but for the trace and the text of cursors.
 * Source: hardening T18, T21.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const card = '4242424242424242'
const readings = ['token:read', 'token:search', 'token:update', 'token:delete']

interface Side {
  readonly vault: TestVault
  readonly scoped: string
  readonly writer: string
}

const visible = [
  { id: 'seen-1', type: 'card_number', data: card, metadata: { k: 'v' } },
  { id: 'seen-2', type: 'token', data: 1, containers: ['/pci/low/'] },
  { id: 'seen-3', type: 'token', data: 'x', containers: ['/pci/'], search_indexes: ['{{ data }}'] },
]

const hidden = [
  { id: 'hidden-1', type: 'card_number', data: '5555555555554444', containers: ['/pci-dev/'] },
  { id: 'hidden-2', type: 'token', data: 'x', metadata: { k: 'v' } },
  { id: 'hidden-3', type: 'social_security_number', data: '111-22-3333' },
  { id: 'hidden-4', type: 'card_number', data: card, containers: ['/bank/'] },
]

async function openSide(hasHidden: boolean): Promise<Side> {
  const vault = await openTestVault(37)
  const writer = await vault.application({ type: 'private', permissions: ['token:create'] })
  const scoped = await vault.application({
    type: 'private',
    rules: [{ priority: 1, container: '/pci/', transform: 'reveal', permissions: readings }],
  })
  const add = async (body: unknown) =>
    expect((await vault.ask('POST', '/tokens', { key: writer, body })).status).toBe(201)
  for (const [index, token] of visible.entries()) {
    if (hasHidden) await add(hidden[index])
    await add(token)
    vault.clock.advance(1_000)
  }
  if (hasHidden) await add(hidden[3])
  return { vault, writer, scoped }
}

/** Returns the answer, without what is new in each. */
function told({ status, text, headers }: Answer): unknown {
  const known = text.replace(/urn:[^"]*/, 'urn').replace(/"next":"[^"]*"/, '"next":""')
  const { 'svc-trace-id': _, ...rest } = Object.fromEntries(headers)
  return { status, known, rest }
}

let without: Side
let withHidden: Side
beforeAll(async () => {
  without = await openSide(false)
  withHidden = await openSide(true)
})

async function expectEqual(
  method: string,
  path: string,
  body?: unknown,
  keyOf: (side: Side) => string = side => side.scoped,
): Promise<Answer> {
  const ask = (side: Side) =>
    side.vault.ask(method, path, { key: keyOf(side), ...(body === undefined ? {} : { body }) })
  const answer = await ask(withHidden)
  expect(told(answer)).toEqual(told(await ask(without)))
  return answer
}

const lists = [
  '',
  '?size=1',
  '?page=2&size=2',
  '?page=4&size=1',
  '?page=9',
  '?start=',
  '?start=&size=1',
  '?start=&size=2',
  '?start=&size=3',
  '?id=hidden-1',
  '?id=hidden-1&id=seen-1',
  '?type=social_security_number',
  '?type=token',
  '?container=/',
  '?container=/pci-dev/',
  '?container=/bank/',
  '?container=/pci/',
  '?metadata.k=v',
  '?metadata.k=V&type=token',
  '?page=0',
  '?start=x',
]

const queries = [
  '',
  'id:hidden-1',
  'NOT id:hidden-1',
  'type:token',
  'NOT type:token',
  'data:x',
  'NOT data:x',
  `data:${card}`,
  'data:3333',
  'data:3333 OR id:seen-1',
  'metadata.k:v',
  'NOT metadata.k:v',
  'container:/*',
  'container:/pci*',
  'container:/pci-dev/',
  'container:/b*',
  '!container:/p*',
  'created_at:[2030-01-01T00:00:01Z TO *]',
  'created_at:2030-01-01',
  'modified_at:[* TO *]',
  'NOT created_at:{* TO 2030-01-01T00:00:01Z}',
  'id:',
  'hidden-1',
  'data:x type:token',
]

describe('hidden tokens change no answer', () => {
  // proves S44
  test.each(lists)('of GET /tokens%s', async query => {
    await expectEqual('GET', `/tokens${query}`)
  })

  // proves C11.19, C14.18
  test.each(queries)('of a search for %s', async query => {
    await expectEqual('POST', '/tokens/search', { query })
    await expectEqual('POST', '/tokens/search', { query, page: 2, size: 1 })
    const walked = await expectEqual('POST', '/tokens/search', { query, start: '', size: 1 })
    expect(walked.text).not.toContain('hidden-')
  })

  test('of a filter by a fingerprint that only a hidden token has, or also one', async () => {
    const { vault } = withHidden
    const all = await vault.application({ type: 'private', permissions: ['token:read'] })
    for (const id of ['hidden-1', 'hidden-4']) {
      const token = await vault.ask('GET', `/tokens/${id}`, { key: all })
      const fingerprint = String(token.body['fingerprint'])
      await expectEqual('GET', `/tokens?fingerprint=${fingerprint}`)
      await expectEqual('POST', '/tokens/search', { query: `fingerprint:${fingerprint}` })
    }
  })

  test('of a walk through all stretches', async () => {
    const stretches = async ({ vault, scoped }: Side) => {
      const seen: unknown[] = []
      for (let start: string | undefined = ''; start !== undefined;) {
        const answer: Answer = await vault.ask('GET', `/tokens?size=1&start=${start}`, {
          key: scoped,
        })
        seen.push(told(answer))
        start = (answer.body['pagination'] as { next?: string }).next
      }
      return seen
    }
    const seen = await stretches(withHidden)
    expect(seen).toHaveLength(3)
    expect(seen).toEqual(await stretches(without))
  })

  // proves C2.13
  test.each(hidden.map(({ id }) => id))('of a read, a change or a removal of %s', async id => {
    expect((await expectEqual('GET', `/tokens/${id}`)).status).toBe(404)
    await expectEqual('PATCH', `/tokens/${id}`, { metadata: { k: 'w' } })
    await expectEqual('DELETE', `/tokens/${id}`)
  })
})

describe('a rule that redacts', () => {
  const openRedacted = async (data: string) => {
    const vault = await openTestVault(38)
    const permissions = ['token:create', 'token:read']
    const writer = await vault.application({ type: 'private', permissions })
    const searcher = await vault.application({
      type: 'private',
      permissions: ['token:search'],
      rules: [
        { priority: 5, container: '/', transform: 'reveal', permissions: ['token:read'] },
        { priority: 2, container: '/pii/', transform: 'redact', permissions: ['token:search'] },
        { priority: 1, container: '/pii/open/', transform: 'mask', permissions: ['token:search'] },
      ],
    })
    for (const container of ['/pii/', '/pii/open/', '/general/']) {
      const id = `in${container.replaceAll('/', '-')}`
      const body = { id, type: 'social_security_number', data, containers: [container] }
      expect((await vault.ask('POST', '/tokens', { key: writer, body })).status).toBe(201)
    }
    return async (query: string) =>
      (
        (await vault.ask('POST', '/tokens/search', { key: searcher, body: { query } })).body[
          'data'
        ] as { id: string; data?: string }[]
      ).map(({ id, data: shown }) => `${id}${shown ?? '(none)'}`)
  }

  // proves C14.26, S46
  test('lets nothing be found by its data, whatever is asked around it', async () => {
    const search = await openRedacted('111-22-3333')
    expect(await search('type:social_security_number')).toEqual([
      'in-general-XXX-XX-3333',
      'in-pii-open-XXX-XX-3333',
      'in-pii-(none)',
    ])
    const shown = ['in-general-XXX-XX-3333', 'in-pii-open-XXX-XX-3333']
    expect(await search('data:111223333')).toEqual(shown)
    expect(await search('container:/pii/ AND data:111223333')).toEqual([])
    expect(await search('container:/pii/* AND data:3333')).toEqual(shown.slice(1))
  })

  // proves C14.26
  test('answers alike for any two data, also where they are negated', async () => {
    const first = await openRedacted('111-22-3333')
    const second = await openRedacted('999-88-7777')
    for (const asked of [
      'data:3333',
      'NOT data:3333',
      '!(data:3333 AND type:token)',
      '!!data:7777',
    ]) {
      const query = `container:/pii/ AND (${asked})`
      expect(await first(query)).toEqual(await second(query))
    }
    expect(await first('container:/pii/ AND NOT data:3333')).toEqual(['in-pii-(none)'])
    expect(await first('container:/general/ AND NOT data:3333')).toEqual([])
  })
})
