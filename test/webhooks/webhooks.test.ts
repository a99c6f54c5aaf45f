/**
 * Operations on webhooks: what is kept, shown and refused.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { eventTypes } from '../../src/webhooks/event-types.ts'
import { entriesOf } from '../support/audit-log.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

let vault: TestVault
let manage: (method: string, path: string, body?: unknown) => Promise<Answer>
const hook = {
  name: 'Orders',
  url: 'https://hooks.example/coffer?key=planted',
  events: ['token.created', 'token.deleted'],
}

beforeEach(async () => {
  vault = await openTestVault(300, { egressAllow: ['10.1.0.0/16'] })
  manage = (method, path, body) =>
    vault.ask(method, path, {
      key: vault.managementKey,
      ...(body === undefined ? {} : { body }),
    })
})

const make = async (more: object = {}): Promise<Answer> =>
  manage('POST', '/webhooks', { ...hook, ...more })

describe('a webhook', () => {
  // proves C18.1, C18.2
  test('is made with its secret, which is shown once', async () => {
    const made = await make({ notify_email: 'ops@shop.example' })
    expect(made.status).toBe(201)
    const { id, secret, ...shown } = made.body
    expect(String(secret)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made.headers.get('location')).toBe(`/webhooks/${String(id)}`)
    expect(shown).toMatchObject({
      ...hook,
      tenant_id: vault.tenantId,
      status: 'enabled',
      notify_email: 'ops@shop.example',
    })
    const got = await manage('GET', `/webhooks/${String(id)}`)
    expect(got.body).toEqual({ id, ...shown })
    const list = await manage('GET', '/webhooks')
    expect(list.body).toEqual({ pagination: { page_size: 20 }, data: [got.body] })
  })

  test('is replaced, disabled and deleted', async () => {
    const { id } = (await make({ notify_email: 'ops@shop.example' })).body
    const path = `/webhooks/${String(id)}`
    const other = { name: 'Others', url: 'https://other.example/', events: ['token.read'] }
    const { status, body } = await manage('PUT', path, { ...other, status: 'disabled' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ ...other, status: 'disabled', modified_by: body['created_by'] })
    expect(body['notify_email']).toBeUndefined()
    expect((await manage('DELETE', path)).status).toBe(204)
    for (const [method, rest, sent] of [
      ['GET', ''],
      ['PUT', '', other],
      ['DELETE', ''],
      ['POST', '/rotate', {}],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/0/retry'],
      ['POST', '/replay', { from: 0 }],
    ] as const) {
      expect((await manage(method, path + rest, sent)).status).toBe(404)
    }
  })

  // proves C18.1
  test('is one of at most five, also of creates that come together', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => make()))
    expect(made.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      201, 201, 201, 201, 201, 409, 409, 409,
    ])
    const one = made.find(({ status }) => status === 201)?.body['id']
    expect((await make()).status).toBe(409)
    expect((await manage('DELETE', `/webhooks/${String(one)}`)).status).toBe(204)
    expect((await make()).status).toBe(201)
  })

  test('of another tenant is absent, and takes no place', async () => {
    const { id } = (await make()).body
    const other = await addTenant(vault)
    const key = other.managementKey
    expect((await vault.ask('GET', `/webhooks/${String(id)}`, { key })).status).toBe(404)
    expect((await vault.ask('DELETE', `/webhooks/${String(id)}`, { key })).status).toBe(404)
    for (let count = 0; count < 5; count += 1) {
      expect((await vault.ask('POST', '/webhooks', { key, body: hook })).status).toBe(201)
    }
    expect((await vault.ask('GET', '/webhooks', { key })).body['data']).toHaveLength(5)
    expect((await manage('GET', '/webhooks')).body['data']).toHaveLength(1)
  })

  // proves C18.9
  test.each([
    'http://hooks.example/',
    'https://user:pass@hooks.example/',
    'https://hooks.example/#part',
    'https://2130706433/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://169.254.169.254/latest',
    'https://10.2.0.1/',
    'hooks.example',
  ])('does not lead to %s', async url => {
    const { status, body } = await make({ url })
    expect([status, Object.keys(body['errors'] as object)]).toEqual([400, ['url']])
    const { id } = (await make()).body
    expect((await manage('PUT', `/webhooks/${String(id)}`, { ...hook, url })).status).toBe(400)
  })

  test('may lead to an address that the operator allows', async () => {
    expect((await make({ url: 'https://10.1.2.3/' })).status).toBe(201)
  })

  test.each([
    ['no events', { events: [] }],
    ['an unknown event', { events: ['token.sold'] }],
    ['an event twice', { events: ['token.read', 'token.read'] }],
    ['no name', { name: '' }],
  ])('with %s is refused', async (_says, more) => {
    expect((await make(more)).status).toBe(400)
  })

  // proves C18.11
  test('is not to be told apart by who may not read it', async () => {
    const { id } = (await make()).body
    const reader = await vault.application({ type: 'management', permissions: ['webhook:read'] })
    const path = `/webhooks/${String(id)}`
    const read = await vault.ask('GET', path, { key: reader })
    expect([read.status, read.body['url']]).toEqual([200, 'https://hooks.example/'])
    expect((await vault.ask('GET', '/webhooks', { key: reader })).text).not.toContain('planted')
    for (const [method, at, body] of [
      ['POST', '/webhooks', hook],
      ['PUT', path, hook],
      ['DELETE', path, undefined],
      ['POST', `${path}/rotate`, {}],
      ['POST', `${path}/test`, undefined],
      ['POST', `${path}/replay`, { from: 0 }],
      ['POST', `${path}/deliveries/0/retry`, undefined],
      ['GET', '/events', undefined],
    ] as const) {
      const ask = { key: reader, ...(body === undefined ? {} : { body }) }
      expect((await vault.ask(method, at, ask)).status).toBe(403)
    }
    const none = await vault.application({ type: 'management', permissions: ['tenant:read'] })
    for (const at of [path, '/webhooks', '/webhooks/event-types', `${path}/deliveries`]) {
      expect((await vault.ask('GET', at, { key: none })).status).toBe(403)
    }
  })
})

test('the types of events are listed', async () => {
  const { status, body } = await manage('GET', '/webhooks/event-types')
  expect([status, body]).toEqual([200, eventTypes as never])
})

// proves C18.3
test('the public key is told', async () => {
  const { status, body } = await manage('GET', '/webhooks/public-key')
  expect([status, body]).toEqual([200, { key: expect.stringMatching(/^whpk_[\w+/]{43}=$/) }])
})

test('neither secrets nor addresses are in the audit log, or in clear in the store', async () => {
  const { secret } = (await make()).body
  const lines = (await entriesOf(vault)).map(({ line }) => line).join('\n')
  expect(lines).not.toContain('planted')
  expect(lines).not.toContain(String(secret))
  const rows = await vault.deps.store.rowsFrom(0, 100)
  const bytes = Buffer.concat(rows.flatMap(({ clear, parts }) => [clear, ...parts]))
  for (const text of ['planted', String(secret), 'hooks.example']) {
    expect(bytes.includes(text)).toBe(false)
  }
})

// proves C18.2
test('a secret of a rotation is shown once, and its key is not replayed', async () => {
  const { id, secret } = (await make()).body
  const headers = { 'svc-idempotency-key': 'once' }
  const ask = { key: vault.managementKey, body: {}, headers }
  const first = await vault.ask('POST', `/webhooks/${String(id)}/rotate`, ask)
  expect(first.status).toBe(200)
  expect(first.body['secret']).not.toBe(secret)
  expect((await vault.ask('POST', `/webhooks/${String(id)}/rotate`, ask)).status).toBe(409)
  for (const overlap_hours of [-1, 169, 1.5, '1']) {
    const refused = await manage('POST', `/webhooks/${String(id)}/rotate`, { overlap_hours })
    expect(refused.status).toBe(400)
  }
})
