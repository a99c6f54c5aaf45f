/**
 * Several keys of one application: made, listed, revoked and expired, and what ends with a key.
 *
 * Source: contract sections 11, 12, 13 and 15.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { applicationKeysMax } from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { addApplication, openSessionKit, type Application } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

const minuteMs = 60_000
const manages = ['application:read', 'key:read', 'key:rotate']

let vault: TestVault
let key: string
beforeAll(async () => {
  vault = await openTestVault(640)
  key = vault.managementKey
})

const backend = () => addApplication(vault, { type: 'private', permissions: ['token:read'] })

interface Made {
  readonly id: string
  readonly key: string
}

async function addKey({ id }: Pick<Application, 'id'>, ask: Ask = {}): Promise<Made> {
  const { status, body } = await vault.ask('POST', `/applications/${id}/keys`, { key, ...ask })
  expect(status).toBe(201)
  return { id: String(body['id']), key: String(body['key']) }
}

const statusOf = async (by: string): Promise<number> =>
  (await vault.ask('GET', '/applications/key', { key: by })).status

async function listed({ id }: Pick<Application, 'id'>): Promise<readonly object[]> {
  const { status, body } = await vault.ask('GET', `/applications/${id}/keys`, { key })
  expect(status).toBe(200)
  return body as unknown as readonly object[]
}

describe('one more key of an application', () => {
  // proves C15.8, C15.9
  test('works beside the first one, and is shown in clear once', async () => {
    const app = await backend()
    const path = `/applications/${app.id}/keys`
    const made = await vault.ask('POST', path, { key })
    const { id, key: second, ...rest } = made.body
    expect(made.status).toBe(201)
    expect(second).toMatch(/^key_[1-9A-HJ-NP-Za-km-z]{20,22}$/)
    expect(made.headers.get('location')).toBe(`${path}/${String(id)}`)
    expect(rest).toEqual({
      version: '2',
      created_by: expect.any(String) as string,
      created_at: expect.stringMatching(/^2030-01-01T00:0/) as string,
    })
    for (const each of [app.key, String(second)]) {
      const own = await vault.ask('GET', '/applications/key', { key: each })
      expect([own.status, own.body['id']]).toEqual([200, app.id])
      expect((await vault.ask('GET', '/tokens', { key: each })).status).toBe(200)
    }
    const one = await vault.ask('GET', `${path}/${String(id).toUpperCase()}`, { key })
    expect([one.status, one.body]).toEqual([200, { id, ...rest }])
    const all = await vault.ask('GET', path, { key })
    expect(all.body).toMatchObject([{ id, ...rest }, { version: '1' }])
    expect(all.text).not.toContain('key_')
    const some = await vault.ask('GET', `${path}?id=${String(id)}&type=any`, { key })
    expect(some.body as unknown).toEqual([{ id, ...rest }])
    const none = await vault.ask('GET', `${path}?id=${app.id}`, { key })
    expect(none.body as unknown).toEqual([])
  })

  // proves C15.10
  test('takes an expiry, and a body that is neither too much nor needed', async () => {
    const app = await backend()
    const path = `/applications/${app.id}/keys`
    const body = { expires_at: '2030-01-02T00:00:00+02:00' }
    const made = await vault.ask('POST', path, { key, body })
    expect(made.body['expires_at']).toBe('2030-01-02T00:00:00.000+02:00')
    for (const lasting of [{ expires_at: null }, {}]) {
      const { status, body: shown } = await vault.ask('POST', path, { key, body: lasting })
      expect([status, Object.hasOwn(shown, 'expires_at')]).toEqual([201, false])
    }
    expect((await vault.ask('POST', path, { key, raw: 'null' })).status).toBe(201)
    const before = await listed(app)
    for (const wrong of ['2029-01-01T00:00:00Z', 'canary', '']) {
      const answer = await vault.ask('POST', path, { key, body: { expires_at: wrong } })
      expectProblem(answer, 400, ['expires_at'], ['canary'])
    }
    expectProblem(await vault.ask('POST', path, { key, body: { expires_in: 5 } }), 400)
    expectProblem(await vault.ask('POST', path, { key, raw: '[]' }), 400)
    const asText = { key, raw: '{}', type: 'text/plain' }
    expectProblem(await vault.ask('POST', path, asText), 415)
    expect(await listed(app)).toEqual(before)
  })

  // proves C15.12
  test('is one of at most so many, of which none that has ended counts', async () => {
    const app = await backend()
    const path = `/applications/${app.id}/keys`
    const body = { expires_at: new Date(vault.clock.now() + minuteMs).toISOString() }
    for (let count = 2; count <= applicationKeysMax; count += 1) await addKey(app, { body })
    expectProblem(await vault.ask('POST', path, { key }), 409, undefined, ['key_'])
    vault.clock.advance(minuteMs)
    expect(await listed(app)).toHaveLength(1)
    await addKey(app)
    expect(await listed(app)).toMatchObject([{ version: '11' }, { version: '1' }])
  })

  // proves C15.19
  test('is made once under an idempotency key, and not told again', async () => {
    const app = await backend()
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'one-key' }
    await addKey(app, { headers })
    const again = await vault.ask('POST', `/applications/${app.id}/keys`, { key, headers })
    expectProblem(again, 409, undefined, ['key_'])
    expect(await listed(app)).toHaveLength(2)
  })

  // proves C15.19
  test('shares what the application has done under idempotency keys', async () => {
    const app = await addApplication(vault, { type: 'private', permissions: ['token:create'] })
    const second = await addKey(app)
    const ask = {
      headers: { 'SVC-IDEMPOTENCY-KEY': 'shared' },
      body: { type: 'token', data: 'a' },
    }
    const first = await vault.ask('POST', '/tokens', { ...ask, key: app.key })
    const again = await vault.ask('POST', '/tokens', { ...ask, key: second.key })
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect(again.headers.get('svc-idempotent-replay')).toBe('true')
  })
})

describe('a key that is deleted', () => {
  // proves C15.14
  test('is refused at once, and no other one is', async () => {
    const app = await backend()
    const second = await addKey(app)
    const [, first] = await listed(app)
    const path = `/applications/${app.id}/keys`
    const firstId = String((first as { readonly id: string }).id)
    expect([await statusOf(app.key), await statusOf(second.key)]).toEqual([200, 200])
    const removed = await vault.ask('DELETE', `${path}/${firstId}`, { key })
    expect([removed.status, removed.text]).toEqual([204, ''])
    expect([await statusOf(app.key), await statusOf(second.key)]).toEqual([401, 200])
    expectProblem(await vault.ask('DELETE', `${path}/${firstId}`, { key }), 404)
    expectProblem(await vault.ask('GET', `${path}/${firstId}`, { key }), 404)
    expect(await listed(app)).toMatchObject([{ id: second.id }])
  })

  // proves C15.14, S48
  test('is refused in every process, and what it has under way is not written', async () => {
    const app = await addApplication(vault, { type: 'private', permissions: ['token:create'] })
    const second = await addKey(app)
    const elsewhere = buildApp(vault.deps)
    const create = async (by: string, id: string) => {
      const ask = { key: by, body: { id, type: 'token', data: 'a' } }
      return (await elsewhere.handle(requestOf('POST', '/tokens', ask))).status
    }
    expect(await create(second.key, 'before')).toBe(201)
    const path = `/applications/${app.id}/keys/${second.id}`
    const [removed, ...under] = await Promise.all([
      vault.ask('DELETE', path, { key }),
      ...Array.from({ length: 20 }, (_, index) => create(second.key, `under-way-${index}`)),
    ])
    expect(removed.status).toBe(204)
    for (const status of under) expect([201, 401]).toContain(status)
    expect([await create(second.key, 'after'), await create(app.key, 'other')]).toEqual([401, 201])
  })

  // proves C15.15
  test('may be the last one: the application then has none until one is made', async () => {
    const app = await backend()
    const [only] = (await listed(app)) as readonly { readonly id: string }[]
    const path = `/applications/${app.id}`
    expect((await vault.ask('DELETE', `${path}/keys/${only?.id}`, { key })).status).toBe(204)
    expect([await statusOf(app.key), await listed(app)]).toEqual([401, []])
    expect((await vault.ask('GET', path, { key })).status).toBe(200)
    const made = await addKey(app)
    expect(await statusOf(made.key)).toBe(200)
  })

  // proves C15.14
  test('is not found in another application, or in another tenant', async () => {
    const [app, other] = [await backend(), await backend()]
    const made = await addKey(app)
    expectProblem(
      await vault.ask('DELETE', `/applications/${other.id}/keys/${made.id}`, { key }),
      404,
    )
    const { managementKey: foreign } = await addTenant(vault)
    const path = `/applications/${app.id}/keys`
    for (const [method, at] of [
      ['GET', path],
      ['POST', path],
      ['GET', `${path}/${made.id}`],
      ['DELETE', `${path}/${made.id}`],
    ] as const) {
      expectProblem(await vault.ask(method, at, { key: foreign }), 404, undefined, [made.id])
    }
    expect(await statusOf(made.key)).toBe(200)
  })
})

describe('regenerating', () => {
  // proves C15.17, S49
  test('ends every other key of the application at once', async () => {
    const app = await backend()
    const second = await addKey(app)
    const path = `/applications/${app.id}/regenerate`
    const { body } = await vault.ask('POST', path, { key })
    expect([await statusOf(app.key), await statusOf(second.key)]).toEqual([401, 401])
    expect(await statusOf(String(body['key']))).toBe(200)
    expect(await listed(app)).toMatchObject([{ version: '3' }])
  })
})

describe('a key that expires', () => {
  // proves C15.10, S48
  test('is refused from its instant on, with the sessions that rest on it', async () => {
    const kit = await openSessionKit(vault)
    const body = { expires_at: new Date(vault.clock.now() + minuteMs).toISOString() }
    const brief = await addKey(kit.authorizer, { body })
    const { key: session, nonce } = await kit.create()
    expect((await kit.authorize(nonce, { permissions: ['token:read'] }, brief.key)).status).toBe(
      200,
    )
    const reads = async (by: string) => (await vault.ask('GET', '/tokens', { key: by })).status
    vault.clock.advance(minuteMs - 1)
    expect([await reads(brief.key), await reads(session)]).toEqual([200, 200])
    vault.clock.advance(1)
    expect([await reads(brief.key), await reads(session)]).toEqual([401, 401])
    expect(await reads(kit.authorizer.key)).toBe(200)
    expect(await listed(kit.authorizer)).toMatchObject([{ version: '1' }])
  })
})

describe('a session', () => {
  // proves S48
  test.each(['creator', 'authorizer'] as const)('ends with the key of its %s', async role => {
    const kit = await openSessionKit(vault)
    const second = await addKey(kit[role])
    const opened = async (by: string) => {
      const { key: session, nonce } = await kit.create(role === 'creator' ? by : undefined)
      const grants = { permissions: ['token:read'] }
      await kit.authorize(nonce, grants, role === 'authorizer' ? by : undefined)
      return session
    }
    const [ofFirst, ofSecond] = [await opened(kit[role].key), await opened(second.key)]
    const reads = async (by: string) => (await vault.ask('GET', '/tokens', { key: by })).status
    expect([await reads(ofFirst), await reads(ofSecond)]).toEqual([200, 200])
    const path = `/applications/${kit[role].id}/keys/${second.id}`
    expect((await vault.ask('DELETE', path, { key })).status).toBe(204)
    expect([await reads(ofFirst), await reads(ofSecond)]).toEqual([200, 401])
  })
})

describe('the right to', () => {
  const add = async (permissions: readonly string[]) =>
    vault.application({ type: 'management', permissions })

  // proves C15.18, S50
  test('make a key needs what creating the application would', async () => {
    const app = await backend()
    const path = `/applications/${app.id}/keys`
    const before = await listed(app)
    const lacking = [
      ['application:read', 'application:create', 'application:update', 'key:read'],
      ['key:rotate', 'application:update'],
      manages,
    ]
    for (const permissions of lacking) {
      const answer = await vault.ask('POST', path, { key: await add(permissions) })
      expectProblem(answer, 403, undefined, ['key_'])
    }
    for (const by of [
      app.key,
      await vault.application({ type: 'public', permissions: ['token:create'] }),
    ]) {
      expectProblem(await vault.ask('POST', path, { key: by }), 403)
    }
    expect(await listed(app)).toEqual(before)
    const maker = await add(['key:rotate', 'application:create'])
    expect((await vault.ask('POST', path, { key: maker })).status).toBe(201)
  })

  // proves C15.18, S50
  test('make a key of a manager needs what that holds', async () => {
    const strong = await addApplication(vault, {
      type: 'management',
      permissions: ['application:delete', 'tenant:read'],
    })
    const path = `/applications/${strong.id}/keys`
    const weak = await add(['key:rotate', 'tenant:read', 'application:create'])
    expectProblem(await vault.ask('POST', path, { key: weak }), 403, undefined, ['key_'])
    const equal = await add(['key:rotate', 'tenant:read', 'application:delete'])
    expect((await vault.ask('POST', path, { key: equal })).status).toBe(201)
  })

  // proves C15.18
  test('see keys needs key:read, also of itself; revoke them key:rotate', async () => {
    const app = await backend()
    const made = await addKey(app)
    const path = `/applications/${app.id}/keys`
    const [reader, rotator] = [await add(['key:read']), await add(['key:rotate'])]
    for (const by of [rotator, app.key]) {
      expectProblem(await vault.ask('GET', path, { key: by }), 403, undefined, [made.id])
      expectProblem(await vault.ask('GET', `${path}/${made.id}`, { key: by }), 403)
    }
    expect((await vault.ask('GET', path, { key: reader })).status).toBe(200)
    expectProblem(await vault.ask('DELETE', `${path}/${made.id}`, { key: reader }), 403)
    expect(await statusOf(made.key)).toBe(200)
    expect((await vault.ask('DELETE', `${path}/${made.id}`, { key: rotator })).status).toBe(204)
  })
})

describe('the last manager that can create applications', () => {
  // proves C15.16
  test('keeps a key that lasts, against everybody', async () => {
    const own = await openTestVault(641)
    const { managementKey } = own
    const { body } = await own.ask('GET', '/applications/key', { key: managementKey })
    const path = `/applications/${String(body['id'])}/keys`
    const ids = async () => {
      const answer = await own.ask('GET', path, { key: managementKey })
      return (answer.body as unknown as { id: string }[]).map(({ id }) => id)
    }
    const remove = async (id = '', by = managementKey) =>
      (await own.ask('DELETE', `${path}/${id}`, { key: by })).status
    const [first] = await ids()
    expect(await remove(first)).toBe(409)
    const expiry = { expires_at: new Date(own.clock.now() + minuteMs).toISOString() }
    const brief = await own.ask('POST', path, { key: managementKey, body: expiry })
    expect(await remove(first)).toBe(409)
    expect(await remove(String(brief.body['id']))).toBe(204)
    const lasting = await own.ask('POST', path, { key: managementKey })
    const second = String(lasting.body['key'])
    expect(await remove(first, second)).toBe(204)
    expect((await own.ask('GET', '/applications', { key: managementKey })).status).toBe(401)
    expect((await own.ask('GET', '/applications', { key: second })).status).toBe(200)
    expect(await remove(String(lasting.body['id']), second)).toBe(409)
    const permissions = ['application:create', 'key:rotate']
    const other = { type: 'management', permissions, name: 'other' }
    expect((await own.ask('POST', '/applications', { key: second, body: other })).status).toBe(201)
    expect(await remove(String(lasting.body['id']), second)).toBe(204)
    expect((await own.ask('GET', '/applications', { key: second })).status).toBe(401)
  })
})
