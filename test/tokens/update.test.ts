/**
 * Updates of tokens over HTTP, with the refusal beside each success.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type Ask, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const card = { number: cardNumber, expiration_month: 12, expiration_year: 2030, cvc: '123' }
const tokenPermissions = ['token:create', 'token:read', 'token:update', 'token:delete']

let vault: TestVault
/** Plain permissions: masks. */
let plain: string
/** A rule on `/` that reveals. */
let revealing: string

beforeAll(async () => {
  vault = await openTestVault()
  plain = await vault.application({ type: 'private', permissions: tokenPermissions })
  revealing = await vault.application({
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }],
  })
})

const create = (body: unknown, key = plain) => vault.ask('POST', '/tokens', { key, body })
const read = (id: unknown, key = plain) => vault.ask('GET', `/tokens/${String(id)}`, { key })

/** Expects a refusal: a problem document that repeats nothing of the request. */
async function expectRefusal(method: string, path: string, ask: Ask, status: number, at?: string) {
  const answer = await vault.ask(method, path, ask)
  expect([answer.status, answer.body['status']]).toEqual([status, status])
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  if (at !== undefined) expect(Object.keys(answer.body['errors'] ?? {})).toEqual([at])
  for (const sent of [cardNumber, '4242424242424241', 'canary']) {
    expect(answer.text).not.toContain(sent)
  }
  return answer
}

describe('updating a token', () => {
  const patch = (id: string, body: unknown, key = plain) =>
    vault.ask('PATCH', `/tokens/${id}`, { key, body })

  test('merges data and metadata, replaces the rest, and says who and when', async () => {
    await create({ id: 'upd-1', type: 'card', data: card, metadata: { a: '1', b: '2' } })
    vault.clock.advance(1_000)
    const answer = await patch('upd-1', {
      data: { expiration_month: 1, cvc: null },
      metadata: { a: null, c: '3' },
      containers: ['/PCI/low/'],
      expires_at: '2031-01-01T00:00:00+02:00',
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      data: { number: 'XXXXXXXXXXXX4242', expiration_month: 1 },
      metadata: { b: '2', c: '3' },
      containers: ['/pci/low/'],
      modified_at: '2030-01-01T00:00:01.000+00:00',
      expires_at: '2031-01-01T00:00:00.000+02:00',
    })
    const { number, expiration_year } = card
    const stored = { number, expiration_month: 1, expiration_year }
    expect((await read('upd-1', revealing)).body['data']).toEqual(stored)
    expect(
      (await vault.ask('GET', '/tokens?metadata.a=1&id=upd-1', { key: plain })).text,
    ).toContain('"total_items":0')
  })

  test('clears what null clears', async () => {
    await create({ id: 'upd-2', type: 'card', data: card, metadata: { a: '1' } })
    const answer = await patch('upd-2', { mask: null, metadata: null })
    expect(answer.status).toBe(200)
    for (const member of ['mask', 'metadata', 'data'])
      expect(answer.body).not.toHaveProperty(member)
  })

  test('refuses null data, null containers and bad data, and changes nothing', async () => {
    await create({ id: 'upd-3', type: 'card', data: card })
    const path = '/tokens/upd-3'
    await expectRefusal('PATCH', path, { key: plain, body: { data: null } }, 400, 'data')
    await expectRefusal(
      'PATCH',
      path,
      { key: plain, body: { containers: null } },
      400,
      'containers',
    )
    const bad = { data: { number: '4242424242424241' } }
    await expectRefusal('PATCH', path, { key: plain, body: bad }, 400, 'data.number')
    const after = await read('upd-3', revealing)
    expect(after.body['data']).toEqual(card)
    expect(after.body).not.toHaveProperty('modified_at')
  })

  // proves A10.17
  test('refuses any other content type with 415', async () => {
    await create({ id: 'upd-6', type: 'token', data: 1 })
    const path = '/tokens/upd-6'
    for (const type of ['application/json', 'application/json-patch+json', 'text/plain']) {
      await expectRefusal('PATCH', path, { key: plain, body: {}, type }, 415)
    }
    const type = 'Application/Merge-Patch+JSON ; charset=UTF-8'
    const taken = await vault.ask('PATCH', path, { key: plain, body: {}, type })
    expect(taken.status).toBe(200)
  })

  // proves C2.16, C9.8
  test('needs the permission on the container that it leaves and enters', async () => {
    await create({ id: 'upd-4', type: 'token', data: 1, containers: ['/a/'] })
    const rules = [
      { priority: 1, container: '/a/', transform: 'mask', permissions: ['token:update'] },
    ]
    const key = await vault.application({ type: 'private', rules })
    const out = { key, body: { containers: ['/b/'] } }
    await expectRefusal('PATCH', '/tokens/upd-4', out, 403)
    await patch('upd-4', { containers: ['/b/'] })
    const back = { key, body: { containers: ['/a/'] } }
    await expectRefusal('PATCH', '/tokens/upd-4', back, 404)
  })

  test('loses none of many concurrent patches', async () => {
    await create({ id: 'upd-5', type: 'token', data: {} })
    const names = Array.from({ length: 15 }, (_, index) => `k${index}`)
    const answers = await Promise.all(names.map(name => patch('upd-5', { data: { [name]: 1 } })))
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
    const { body } = await read('upd-5', revealing)
    expect(Object.keys(body['data'] ?? {}).toSorted()).toEqual(names.toSorted())
  })
})
