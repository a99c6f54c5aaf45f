/**
 * Lists of tokens over HTTP: order, pages, filters, and what rules leave out.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const tokenPermissions = ['token:create', 'token:read', 'token:update', 'token:delete']

describe('listing tokens', () => {
  let lister: TestVault
  let key: string
  let scoped: string
  const list = async (query: string, as = key) => lister.ask('GET', `/tokens${query}`, { key: as })
  const idsOf = (answer: { body: Readonly<Record<string, unknown>> }) =>
    (answer.body['data'] as { id: string }[]).map(({ id }) => id)

  beforeAll(async () => {
    lister = await openTestVault(3)
    key = await lister.application({ type: 'private', permissions: tokenPermissions })
    scoped = await lister.application({
      type: 'private',
      rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] }],
    })
    for (let count = 0; count < 25; count += 1) {
      const body =
        count % 5 === 0
          ? { id: `t-${count}`, type: 'card_number', data: cardNumber }
          : {
              id: `t-${count}`,
              type: 'token',
              data: count,
              metadata: { Colour: 'Blue', n: `${count}` },
            }
      expect((await lister.ask('POST', '/tokens', { key, body })).status).toBe(201)
    }
  })

  // proves A8.4, A10.13, C4.1, C4.3, C4.5
  test('is newest first, in pages with an exact total', async () => {
    const first = await list('')
    expect(first.body['pagination']).toEqual({
      total_items: 25,
      page_number: 1,
      page_size: 20,
      total_pages: 2,
    })
    expect(idsOf(first).slice(0, 3)).toEqual(['t-24', 't-23', 't-22'])
    expect(idsOf(await list('?page=2'))).toEqual(['t-4', 't-3', 't-2', 't-1', 't-0'])
    expect(idsOf(await list('?page=9'))).toEqual([])
    expect(idsOf(await list('?page=3&size=7'))).toEqual([
      't-10',
      't-9',
      't-8',
      't-7',
      't-6',
      't-5',
      't-4',
    ])
  })

  const filters: readonly (readonly [string, readonly string[]])[] = [
    ['?id=t-3&id=t-7&id=absent', ['t-7', 't-3']],
    ['?type=card_number', ['t-20', 't-15', 't-10', 't-5', 't-0']],
    ['?type=card_number&type=token&id=t-1&id=t-5', ['t-5', 't-1']],
    ['?metadata.colour=bLuE&metadata.n=3', ['t-3']],
    ['?metadata[n]=3', ['t-3']],
    ['?metadata=%7B%22n%22%3A%224%22%7D', ['t-4']],
    ['?metadata.n=3&metadata.n=4', ['t-3']],
    ['?metadata.n=3&metadata.Colour=red', []],
    ['?container=/pci/&id=t-5&id=t-6', ['t-5']],
    ['?container=/pci/hig/', []],
  ]

  // proves A10.8, A10.9, A10.10, A10.11, A10.14, C14.1, C14.2, P35
  test.each(filters)('%s finds exactly what it names', async (query, expected) => {
    const answer = await list(query)
    expect(idsOf(answer)).toEqual([...expected])
    expect(answer.body['pagination']).toMatchObject({ total_items: expected.length })
  })

  // proves C14.1
  test('finds by fingerprint', async () => {
    const fingerprint = (await lister.ask('GET', '/tokens/t-0', { key })).body['fingerprint']
    expect(idsOf(await list(`?fingerprint=${String(fingerprint)}`)).length).toBe(5)
  })

  // proves C4.6, C11.19
  test('leaves out, and does not count, what no rule covers', async () => {
    const answer = await list('', scoped)
    expect(idsOf(answer)).toEqual(['t-20', 't-15', 't-10', 't-5', 't-0'])
    expect(answer.body['pagination']).toMatchObject({ total_items: 5, total_pages: 1 })
    expect(answer.text).not.toContain(cardNumber)
    expect(idsOf(await list('?id=t-1', scoped))).toEqual([])
  })

  // proves A10.13, C4.2
  test.each(['page=0', 'page=-1', 'page=1.5', 'page=x', 'size=0', 'size=101', 'page=01'])(
    'refuses %s',
    async query => {
      const answer = await list(`?${query}`)
      expect(answer.status).toBe(400)
      expect(Object.keys(answer.body['errors'] ?? {})).toEqual([`query.${query.split('=')[0]}`])
    },
  )

  test('refuses a bad percent code, and a caller without the permission', async () => {
    expect((await list('?id=%zz')).status).toBe(400)
    expect((await list('', lister.managementKey)).status).toBe(403)
  })
})
