/**
 * An older published client of this interface family, unchanged, against a listening server. It
 * speaks HTTP to `localhost` alone, and pages by number.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BasisTheory } from '@basis-theory/basis-theory-js'
import { BasisTheoryApiError } from '@basis-theory/basis-theory-js/common/index.js'
import { until } from '../support/until.ts'
import { startVault, type KeyKind, type TestVault } from '../../src/testing/index.ts'

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 }
const masked = 'XXXXXXXXXXXX4242'

let vault: TestVault
let backend: Awaited<ReturnType<typeof clientOf>>
let page: typeof backend
let manager: typeof backend

const clientOf = (key: string) =>
  new BasisTheory().init(key, {
    apiBaseUrl: vault.address.replace('127.0.0.1', 'localhost'),
    disableTelemetry: true,
  })

async function statusOf(call: Promise<unknown>): Promise<number> {
  try {
    await call
    return 200
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(BasisTheoryApiError)
    return (thrown as BasisTheoryApiError).status
  }
}

beforeAll(async () => {
  vault = await startVault({ settings: { headerPrefix: ['bt'] } })
  const of = (kind: KeyKind) => clientOf(vault.keys[kind])
  ;[backend, page, manager] = [await of('private'), await of('public'), await of('management')]
})
afterAll(() => vault.stop())

describe('@basis-theory/basis-theory-js 4.30.2', () => {
  // proves P10
  test('creates, reads, changes and deletes tokens', async () => {
    const made = await page.tokens.create({
      type: 'card',
      data: card,
      metadata: { orderId: '17' },
      expiresAt: '2031-01-01T00:00:00Z',
    })
    expect(made).toMatchObject({ data: { number: masked }, containers: ['/pci/high/'] })
    expect((await backend.tokens.retrieve(made.id)).data).toEqual(card)
    const changed = await backend.tokens.update(made.id, { metadata: { orderId: '18' } })
    expect(changed.metadata).toEqual({ orderId: '18' })
    await backend.tokens.delete(made.id)
    expect(await statusOf(backend.tokens.retrieve(made.id))).toBe(404)
  })

  // proves P11
  test('is refused with problems that it understands', async () => {
    expect(await statusOf(backend.tokens.create({ type: 'card', data: { number: '1' } }))).toBe(400)
    const nobody = await clientOf('key_nobody')
    expect(await statusOf(nobody.tokens.retrieve('some-id'))).toBe(401)
    expect(await statusOf(manager.tokens.retrieve('some-id'))).toBe(403)
    await backend.tokens.create({ id: 'twice', type: 'token', data: 1 })
    expect(await statusOf(backend.tokens.create({ id: 'twice', type: 'token', data: 2 }))).toBe(409)
  })

  // proves P40
  test('is shown the names of faulty members in camel case', async () => {
    try {
      await backend.tokens.create({ type: 'card', data: { number: '1' } })
    } catch (thrown) {
      expect((thrown as BasisTheoryApiError).data).toMatchObject({ errors: { dataNumber: {} } })
    }
    expect.assertions(1)
  })

  // proves P12
  test('lists and searches by page', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `listed-${at}`)
    for (const id of ids) {
      await backend.tokens.create({ id, type: 'token', data: id, metadata: { orderKind: 'a' } })
    }
    const listed: string[] = []
    const found: string[] = []
    for (const number of [1, 2]) {
      const filter = { metadata: { orderKind: 'a' }, page: number, size: 10 }
      const { data, pagination } = await backend.tokens.list(filter)
      expect(pagination).toMatchObject({ totalItems: 12, totalPages: 2, pageNumber: number })
      listed.push(...data.map(({ id }) => id))
      const search = { query: 'metadata.orderKind:a', page: number, size: 10 }
      found.push(...(await backend.tokens.search(search)).data.map(({ id }) => id))
    }
    expect([listed, found]).toEqual([ids.toReversed(), ids.toReversed()])
    const none = await backend.tokens.list({ metadata: { orderKind: 'b' } })
    expect(none.data).toEqual([])
  })

  // proves P13
  test('makes tokens in bulk, and once under an idempotency key', async () => {
    const made = await backend.tokenize({ first: { type: 'token', data: 'one' }, second: 'two' })
    expect(Object.keys(made as object)).toEqual(['first', 'second'])
    const make = () =>
      backend.tokens.create({ type: 'token', data: 1 }, { idempotencyKey: 'older-1' })
    expect((await make()).id).toBe((await make()).id)
  })

  // proves P14
  test('manages applications and their keys', async () => {
    const permissions = ['token:read']
    const made = await manager.applications.create({ name: 'r', type: 'private', permissions })
    expect((await manager.applications.retrieve(made.id)).key).toBeUndefined()
    const { data } = await manager.applications.list({ size: 50 })
    expect(data.map(({ id }) => id)).toContain(made.id)
    const changed = await manager.applications.update(made.id, { name: 's', permissions })
    expect(changed.name).toBe('s')
    const { key = '' } = await manager.applications.regenerateKey(made.id)
    const before = await clientOf(made.key ?? '')
    expect(await statusOf(before.applications.retrieveByKey())).toBe(401)
    expect((await (await clientOf(key)).applications.retrieveByKey()).id).toBe(made.id)
    await manager.applicationKeys.create(made.id)
    expect(await manager.applicationKeys.get(made.id)).toHaveLength(2)
    await manager.applications.delete(made.id)
    expect(await statusOf(manager.applications.retrieve(made.id))).toBe(404)
  })

  // proves P15
  test('reads permissions, and reads and changes the tenant', async () => {
    const known = await manager.permissions.list({ applicationType: 'public' })
    expect(known.map(({ type }) => type)).toEqual(['token:create', 'token:update'])
    expect((await manager.tenants.retrieve()).id).toBe(vault.tenantId)
    expect((await manager.tenants.update({ name: 'Shop' })).name).toBe('Shop')
  })

  // proves P16
  test('starts a session, and authorizes it', async () => {
    const session = await page.sessions.create()
    const visitor = await clientOf(session.sessionKey)
    const { id } = await backend.tokens.create({ type: 'card', data: card })
    expect(await statusOf(visitor.tokens.retrieve(id))).toBe(403)
    await backend.sessions.authorize({ nonce: session.nonce, permissions: ['token:read'] })
    expect((await visitor.tokens.retrieve(id)).data).toMatchObject({ number: masked })
  })

  // proves C17.7, P55
  test('reads the audit log by pages', async () => {
    const { id } = await page.tokens.create({ type: 'token', data: 'x' })
    const asked = { entityType: 'token', entityId: id }
    await until(async () => (await manager.logs.list(asked)).data.length > 0)
    const { data, pagination } = await manager.logs.list({ ...asked, page: 1, size: 1 })
    expect(pagination).toEqual({ totalItems: 1, pageNumber: 1, pageSize: 1, totalPages: 1 })
    expect(data).toMatchObject([{ entityType: 'token', entityId: id, operation: 'createToken' }])
    expect((await manager.logs.list({ ...asked, page: 2, size: 1 })).data).toEqual([])
  })

  // proves P38
  test('is told 404 of what the vault has not', async () => {
    const calls = [
      manager.proxies.list(),
      manager.reactors.list(),
      page.tokenIntents.create({ type: 'card', data: card }),
    ]
    expect(await Promise.all(calls.map(statusOf))).toEqual([404, 404, 404])
  })

  // proves P39
  test('asks another host than localhost over HTTPS alone', async () => {
    const client = await new BasisTheory().init(vault.keys.private, {
      apiBaseUrl: vault.address,
      disableTelemetry: true,
    })
    expect(await statusOf(client.tokens.retrieve('some-id'))).toBe(-1)
  })
})
