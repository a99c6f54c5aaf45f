/**
 * Walks by cursor over HTTP: GET /tokens?start= and POST /tokens/search with start.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { canary } from '../support/refusal.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:search', 'token:delete']

const idsOf = (answer: Answer): string[] =>
  (answer.body['data'] as { id: string }[]).map(({ id }) => id)
const nextOf = (answer: Answer): string =>
  String((answer.body['pagination'] as { next?: string }).next)

/** Makes a tenant with the tokens walk-1 to walk-7, and a caller that walks. */
async function openWalk(tenant: TestVault) {
  const key = await tenant.application({ type: 'private', permissions })
  const create = async (id: string): Promise<void> => {
    const body = { id, type: 'token', data: 1, metadata: { kind: 'walked' } }
    expect((await tenant.ask('POST', '/tokens', { key, body })).status).toBe(201)
  }
  for (let count = 1; count <= 7; count += 1) await create(`walk-${count}`)
  return {
    create,
    remove: (id: string) => tenant.ask('DELETE', `/tokens/${id}`, { key }),
    list: (query: string, as = key) => tenant.ask('GET', `/tokens?${query}`, { key: as }),
    search: (body: unknown) => tenant.ask('POST', '/tokens/search', { key, body }),
  }
}

let vault: TestVault
let list: Awaited<ReturnType<typeof openWalk>>['list']
let search: Awaited<ReturnType<typeof openWalk>>['search']

beforeAll(async () => {
  vault = await openTestVault(35)
  ;({ list, search } = await openWalk(vault))
})

describe('a walk', () => {
  // proves C4.7, C14.11
  test('has stretches of the size, then a last one without next, and no totals', async () => {
    const first = await list('start=&size=3')
    expect(first.status).toBe(200)
    expect(idsOf(first)).toEqual(['walk-7', 'walk-6', 'walk-5'])
    expect(first.body['pagination']).toEqual({ next: nextOf(first), page_size: 3 })
    const second = await list(`start=${nextOf(first)}&size=3`)
    expect(idsOf(second)).toEqual(['walk-4', 'walk-3', 'walk-2'])
    const third = await list(`start=${nextOf(second)}&size=3`)
    expect(idsOf(third)).toEqual(['walk-1'])
    expect(third.body['pagination']).toEqual({ page_size: 3 })
  })

  // proves C4.7
  test('that ends with a full stretch has no empty one after it', async () => {
    const whole = await list('start=&size=7')
    expect(idsOf(whole)).toHaveLength(7)
    expect(whole.body['pagination']).toEqual({ page_size: 7 })
    expect((await list('start')).body['pagination']).toEqual({ page_size: 20 })
  })

  test('goes on with another size, and by another key of the tenant', async () => {
    const start = nextOf(await list('start=&size=2'))
    const other = await vault.application({ type: 'private', permissions })
    expect(idsOf(await list(`start=${start}&size=4`, other))).toHaveLength(4)
    const blind = await vault.application({
      type: 'private',
      rules: [{ priority: 1, container: '/b/', transform: 'mask', permissions: ['token:read'] }],
    })
    const answer = await list(`start=${start}`, blind)
    expect([answer.status, answer.text]).toEqual([200, '{"pagination":{"page_size":20},"data":[]}'])
  })

  // proves C14.7
  test('of a search has its own cursors', async () => {
    const query = 'metadata.kind:walked'
    const first = await search({ query, start: '', size: 5 })
    expect(idsOf(first)).toHaveLength(5)
    const second = await search({ query, start: nextOf(first), size: 5 })
    expect(idsOf(second)).toEqual(['walk-2', 'walk-1'])
    expect(second.body['pagination']).toEqual({ page_size: 5 })
  })

  // proves C4.11
  test('is not shaken by tokens that come and go', async () => {
    const other = await openWalk(await addTenant(vault))
    const start = nextOf(await other.list('start=&size=2'))
    await other.create('walk-8')
    for (const id of ['walk-6', 'walk-4']) expect((await other.remove(id)).status).toBe(204)
    const rest = await other.list(`start=${start}`)
    expect(idsOf(rest)).toEqual(['walk-5', 'walk-3', 'walk-2', 'walk-1'])
  })

  // proves C4.9
  test('says nothing in its cursor: each is new, of one length, and tells no number', async () => {
    const cursors = await Promise.all(
      [1, 1, 2, 3].map(async n => nextOf(await list(`start=&size=${n}`))),
    )
    expect(new Set(cursors).size).toBe(4)
    expect(new Set(cursors.map(({ length }) => length)).size).toBe(1)
    for (const cursor of cursors) expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
  })
})

describe('a cursor is refused', () => {
  const refused = async (answer: Answer, at: string) => {
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body['errors'] ?? {})).toEqual([at])
    expect(answer.body['data']).toBeUndefined()
  }

  // proves C4.9
  test('with any character changed, cut, longer, or in another alphabet', async () => {
    const cursor = nextOf(await list('start=&size=2'))
    for (let at = 0; at < cursor.length; at += 1) {
      const changed = cursor[at] === 'A' ? 'B' : 'A'
      const forged = cursor.slice(0, at) + changed + cursor.slice(at + 1)
      await refused(await list(`start=${forged}`), 'query.start')
    }
    const others = [cursor.slice(1), `${cursor}A`, `${cursor}==`, ` ${cursor}`, canary, '0', '%00']
    for (const other of others) {
      const answer = await list(`start=${other}`)
      await refused(answer, 'query.start')
      expect(answer.text).not.toContain(canary)
    }
  })

  // proves C4.10
  test('of another list, another search, or the other of the two', async () => {
    const listed = nextOf(await list('start=&size=2'))
    const filtered = nextOf(await list('type=token&start=&size=2'))
    const searched = nextOf(await search({ query: 'type:token', start: '', size: 2 }))
    await refused(await list(`type=token&start=${listed}`), 'query.start')
    await refused(await list(`type=card&start=${filtered}`), 'query.start')
    await refused(await list(`metadata.kind=walked&start=${listed}`), 'query.start')
    await refused(await list(`start=${filtered}`), 'query.start')
    await refused(await list(`start=${searched}`), 'query.start')
    await refused(await search({ query: '*', start: listed }), 'start')
    await refused(await search({ query: 'type:card', start: searched }), 'start')
    expect((await list(`type=token&start=${filtered}`)).status).toBe(200)
    expect((await search({ query: 'type:token', start: searched })).status).toBe(200)
  })

  // proves C4.10
  test('of another tenant or vault', async () => {
    for (const tenant of [await addTenant(vault), await openTestVault(36)]) {
      const other = await openWalk(tenant)
      const cursor = nextOf(await other.list('start=&size=1'))
      await refused(await list(`start=${cursor}`), 'query.start')
      expect((await other.list(`start=${cursor}`)).status).toBe(200)
    }
  })

  test('beside a page number, and with a size out of bounds', async () => {
    await refused(await list('start=&page=1'), 'query.page')
    await refused(await list('start=&size=101'), 'query.size')
  })
})
