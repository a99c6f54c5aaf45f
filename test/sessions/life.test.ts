/**
 * Lifetime of a session, and the events that end it. Source: contract sections 10, 12 and 13.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { findLiveApplication } from '../../src/applications/find-key-caller.ts'
import type { Caller } from '../../src/rules/caller.ts'
import { sweep } from '../../src/vault/sweep.ts'
import { CredentialChanged } from '../../src/records/write-rows.ts'
import { authorizeSession } from '../../src/sessions/session-service.ts'
import { addApplication, openSessionKit, type SessionKit } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const reading = { permissions: ['token:read'] }

async function vaultWithSessions(seed: number) {
  const vault = await openTestVault(seed)
  return { vault, kit: await openSessionKit(vault) }
}

const read = async (vault: TestVault, key: string) =>
  (await vault.ask('GET', '/tokens', { key })).status

const instantIn = (vault: TestVault, ms: number) => new Date(vault.clock.now() + ms).toISOString()

describe('a session lives', () => {
  // proves A8.3, A11.7
  test('3 minutes from its creation where nothing else was asked', async () => {
    const { vault, kit } = await vaultWithSessions(51)
    const { key, nonce } = await kit.create()
    vault.clock.advance(2 * minuteMs)
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
    vault.clock.advance(minuteMs - 1)
    expect(await read(vault, key)).toBe(200)
    vault.clock.advance(1)
    expect(await read(vault, key)).toBe(401)
  })

  // proves A9.8, A11.7, C10.5
  test('until the instant that was asked for, also a shorter one', async () => {
    const { vault, kit } = await vaultWithSessions(52)
    const keys: string[] = []
    for (const ms of [minuteMs, dayMs]) {
      const { key, nonce } = await kit.create()
      const asked = { ...reading, expires_at: instantIn(vault, ms) }
      expect((await kit.authorize(nonce, asked)).status).toBe(200)
      keys.push(key)
    }
    const [short = '', long = ''] = keys
    vault.clock.advance(minuteMs - 1)
    expect([await read(vault, short), await read(vault, long)]).toEqual([200, 200])
    vault.clock.advance(1)
    expect([await read(vault, short), await read(vault, long)]).toEqual([401, 200])
    await sweep(vault.deps)
    vault.clock.advance(dayMs - minuteMs - 1)
    expect(await read(vault, long)).toBe(200)
    vault.clock.advance(1)
    expect(await read(vault, long)).toBe(401)
  })

  // proves C12.12, H116
  test('at most 24 hours: the instant after is refused, as the present one is', async () => {
    const { vault, kit } = await vaultWithSessions(53)
    const { key, nonce } = await kit.create()
    for (const ms of [dayMs + 1, 365 * dayMs, 0, -1]) {
      const asked = { ...reading, expires_at: instantIn(vault, ms) }
      const answer = await kit.authorize(nonce, asked)
      expect([answer.status, Object.keys(answer.body['errors'] ?? {})]).toEqual([
        400,
        ['expires_at'],
      ])
    }
    expect(await read(vault, key)).toBe(403)
    expect(
      (await kit.authorize(nonce, { ...reading, expires_at: '1/1/2030 5:01:00 AM +05:00' })).status,
    ).toBe(200)
    vault.clock.advance(minuteMs)
    expect(await read(vault, key)).toBe(401)
  })
})

describe('a session that nobody authorized', () => {
  // proves A1.8, H123
  test('is known until 3 minutes are over, and may do nothing', async () => {
    const { vault, kit } = await vaultWithSessions(54)
    const { key } = await kit.create()
    vault.clock.advance(3 * minuteMs - 1)
    expect(await read(vault, key)).toBe(403)
    vault.clock.advance(1)
    expect(await read(vault, key)).toBe(401)
  })

  // proves A9.8, C3.5, H155
  test('cannot be authorized from then on, before or after the sweep', async () => {
    const { vault, kit } = await vaultWithSessions(55)
    const { nonce } = await kit.create()
    const late = await kit.create()
    vault.clock.advance(3 * minuteMs - 1)
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
    vault.clock.advance(1)
    expect((await kit.authorize(late.nonce, reading)).status).toBe(404)
    expect((await kit.authorize(nonce, reading)).status).toBe(404)
    expect(await sweep(vault.deps)).toBe(2)
    expect((await kit.authorize(late.nonce, reading)).status).toBe(404)
    expect(await sweep(vault.deps)).toBe(0)
  })
})

describe('the public application of a session', () => {
  const deleteCreator = (vault: TestVault, kit: SessionKit) =>
    vault.ask('DELETE', `/applications/${kit.creator.id}`, { key: vault.managementKey })

  // proves C13.7, H158
  test('ends its sessions when it is deleted, at once and in every process', async () => {
    const { vault, kit } = await vaultWithSessions(56)
    const key = await kit.open(reading)
    const waiting = await kit.create()
    const elsewhere = buildApp(vault.deps)
    const readElsewhere = async () =>
      (await elsewhere.handle(requestOf('GET', '/tokens', { key }))).status
    expect([await read(vault, key), await readElsewhere()]).toEqual([200, 200])
    expect((await deleteCreator(vault, kit)).status).toBe(204)
    expect([await read(vault, key), await readElsewhere()]).toEqual([401, 401])
    expect(await read(vault, waiting.key)).toBe(401)
    expect((await kit.authorize(waiting.nonce, reading)).status).toBe(404)
  })

  test('leaves the sessions of other applications alone when it is deleted', async () => {
    const { vault, kit } = await vaultWithSessions(57)
    const other = await addApplication(vault, { type: 'public', permissions: ['token:create'] })
    const { key, nonce } = await kit.create(other.key)
    await kit.authorize(nonce, reading)
    await deleteCreator(vault, kit)
    expect(await read(vault, key)).toBe(200)
  })

  test('ends its sessions when it expires', async () => {
    const { vault, kit } = await vaultWithSessions(58)
    const brief = await addApplication(vault, {
      type: 'public',
      permissions: ['token:create'],
      expires_at: instantIn(vault, minuteMs),
    })
    const { key, nonce } = await kit.create(brief.key)
    const waiting = await kit.create(brief.key)
    await kit.authorize(nonce, reading)
    vault.clock.advance(minuteMs - 1)
    expect([await read(vault, key), await read(vault, waiting.key)]).toEqual([200, 403])
    vault.clock.advance(1)
    expect([await read(vault, key), await read(vault, waiting.key)]).toEqual([401, 401])
    expect((await kit.authorize(waiting.nonce, reading)).status).toBe(404)
  })

  test('keeps its sessions when its grants change', async () => {
    const { vault, kit } = await vaultWithSessions(59)
    const key = await kit.open(reading)
    const body = { name: 'renamed', permissions: ['token:update'] }
    const asked = { key: vault.managementKey, body }
    expect((await vault.ask('PUT', `/applications/${kit.creator.id}`, asked)).status).toBe(200)
    expect(await read(vault, key)).toBe(200)
  })
})

test('an authorization is seen at once by a process that knew the session before', async () => {
  const { vault, kit } = await vaultWithSessions(60)
  const elsewhere = buildApp(vault.deps)
  const { key, nonce } = await kit.create()
  const readElsewhere = async () =>
    (await elsewhere.handle(requestOf('GET', '/tokens', { key }))).status
  expect(await readElsewhere()).toBe(403)
  const generation = await vault.deps.store.generation()
  await kit.authorize(nonce, reading)
  expect(await readElsewhere()).toBe(200)
  expect(await vault.deps.store.generation()).toBe(generation)
})

test('a write of a session lands only while the session stands in the store', async () => {
  const { vault, kit } = await vaultWithSessions(64)
  const key = await kit.open({ permissions: ['token:create'] })
  const create = async () => {
    const body = { type: 'token', data: 1 }
    return (await vault.ask('POST', '/tokens', { key, body })).status
  }
  expect(await create()).toBe(201)
  const { store } = vault.deps
  for (const { ordinal } of await store.due(vault.clock.now() + dayMs, 10)) {
    await store.write([{ remove: ordinal }])
  }
  expect(await create()).toBe(401)
})

describe.each([true, false])('where grants are bound to the authorizer: %p, a session', bound => {
  const endings: readonly (readonly [string, 'creator' | 'authorizer', string, string])[] = [
    ['its creator is deleted', 'creator', 'DELETE', ''],
    ['the key of its creator is made anew', 'creator', 'POST', '/regenerate'],
    ['its authorizer is deleted', 'authorizer', 'DELETE', ''],
    ['the key of its authorizer is made anew', 'authorizer', 'POST', '/regenerate'],
  ]

  // proves C12.8, S51
  test.each(endings)('ends when %s, at once and in every process', async (_, whose, method, of) => {
    const vault = await openTestVault(61, { sessionGrantsWithinAuthorizer: bound })
    const kit = await openSessionKit(vault)
    const elsewhere = buildApp(vault.deps)
    const key = await kit.open(reading)
    const waiting = await kit.create()
    const readElsewhere = async () =>
      (await elsewhere.handle(requestOf('GET', '/tokens', { key }))).status
    expect([await read(vault, key), await readElsewhere()]).toEqual([200, 200])
    const asked = { key: vault.managementKey }
    const path = `/applications/${kit[whose].id}${of}`
    expect((await vault.ask(method, path, asked)).status).toBeLessThan(300)
    expect([await read(vault, key), await readElsewhere()]).toEqual([401, 401])
    // One that waits has no authorizer yet.
    const isOver = whose === 'creator'
    expect(await read(vault, waiting.key)).toBe(isOver ? 401 : 403)
    const { key: other } = await addApplication(vault, {
      type: 'private',
      permissions: ['token:read'],
    })
    expect((await kit.authorize(waiting.nonce, reading, other)).status).toBe(isOver ? 404 : 200)
  })

  // proves C12.8, E5.1
  test('lands no write once the key of its authorizer was made anew', async () => {
    const vault = await openTestVault(65, { sessionGrantsWithinAuthorizer: bound })
    const kit = await openSessionKit(vault)
    const key = await kit.open({ permissions: ['token:create'] })
    const create = (index: number) => {
      // Looking for an equal token takes time between the look-up of the session and the write.
      const body = { type: 'token', data: `in flight ${index}`, deduplicate_token: true }
      return vault.ask('POST', '/tokens', { key, body })
    }
    const total = async () =>
      Object((await vault.ask('GET', '/tokens', { key: reader })).body['pagination'])['total_items']
    const { key: reader } = await addApplication(vault, {
      type: 'private',
      permissions: ['token:read'],
    })
    const before = Array.from({ length: 50 }, (_, index) => create(index))
    const path = `/applications/${kit.authorizer.id}/regenerate`
    expect((await vault.ask('POST', path, { key: vault.managementKey })).status).toBe(200)
    const standing = await total()
    const statuses = (await Promise.all(before)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 201 && status !== 401)).toEqual([])
    expect(statuses.filter(status => status === 201).length).toBe(standing)
    expect((await create(50)).status).toBe(401)
    expect(await total()).toBe(standing)
  })
})

describe('sessions of two tenants in one store', () => {
  // proves C12.3, H150
  test('are authorized by their own tenant; a foreign nonce is as an unknown one', async () => {
    const { vault, kit } = await vaultWithSessions(62)
    const foreign = await addTenant(vault)
    const foreignKit = await openSessionKit(foreign)
    const { key, nonce } = await kit.create()
    const unknown = await foreignKit.authorize('1'.repeat(22), reading)
    const refused = await foreignKit.authorize(nonce, reading)
    expect(refused.status).toBe(404)
    expect({ ...refused.body, instance: '' }).toEqual({ ...unknown.body, instance: '' })
    expect(await read(vault, key)).toBe(403)
    expect((await kit.authorize(nonce, reading)).status).toBe(200)
    expect((await foreignKit.authorize(nonce, reading)).status).toBe(404)
    expect((await kit.authorize(nonce, reading)).status).toBe(409)
  })

  // proves A1.2, C2.17, C7.5
  test('see the tokens of their own tenant alone', async () => {
    const { vault, kit } = await vaultWithSessions(63)
    const foreignKit = await openSessionKit(await addTenant(vault))
    const granted = { permissions: ['token:create', 'token:read'] }
    const own = await kit.open(granted)
    const other = await foreignKit.open(granted)
    const body = { id: 'shared-name', type: 'token', data: 1 }
    expect((await vault.ask('POST', '/tokens', { key: own, body })).status).toBe(201)
    const seen = (key: string) => vault.ask('GET', '/tokens/shared-name', { key })
    expect([(await seen(own)).status, (await seen(other)).status]).toEqual([200, 404])
    expect((await vault.ask('GET', '/tokens', { key: other })).text).toContain('"total_items":0')
    expect((await vault.ask('POST', '/tokens', { key: other, body })).status).toBe(201)
  })
})

test('an authorizer whose key is made anew amid its request is decided on anew', async () => {
  const { vault, kit } = await vaultWithSessions(66)
  const findApplication = (tenantId: string, id: string, keyNumber: number) =>
    findLiveApplication(vault.deps, tenantId, id, keyNumber)
  const caller = await findApplication(vault.tenantId, kit.authorizer.id, 0)
  if (caller === undefined) throw new Error('no authorizer')
  const { nonce } = await kit.create()
  await kit.authorize(nonce, reading)
  const again = (by: Caller) =>
    authorizeSession({ ...vault.deps, findApplication }, by, {
      nonce,
      permissions: ['token:read'],
    })
  await expect(again(caller)).rejects.toMatchObject({ kind: 'conflict' })
  const path = `/applications/${kit.authorizer.id}/regenerate`
  await vault.ask('POST', path, { key: vault.managementKey })
  await expect(again(caller)).rejects.toBeInstanceOf(CredentialChanged)
  const now = await findApplication(vault.tenantId, kit.authorizer.id, 1)
  await expect(again(now ?? caller)).rejects.toMatchObject({ kind: 'not_found' })
})
