/**
 * Callers are kept by the size of their rules, of which a session may have a megabyte, and found in
 * turns where these are long.
 */
import { describe, expect, test } from 'bun:test'
import {
  applicationAuthenticator,
  findLiveApplication,
} from '../../src/applications/find-key-caller.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { sessionMsDefault } from '../../src/limits/limits.ts'
import { grantsOfSession, sessionAuthenticator } from '../../src/sessions/find-session-caller.ts'
import { makeTurnQueue, type TurnOwner } from '../../src/lib/turn-queue.ts'
import { openSessionKit } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const rules = Array.from({ length: 100 }, (_, at) => ({
  priority: at + 1,
  conditions: [{ attribute: 'id', operator: 'equals', value: `${at}`.padEnd(400, '-') }],
  transform: 'mask',
  permissions: ['token:read'],
}))

// proves E10.30
test('a session and an application tell the size of their rules', async () => {
  const vault = await openTestVault(734)
  const kit = await openSessionKit(vault)
  const { deps } = vault
  const findApplication = findLiveApplication.bind(undefined, deps)
  const session = await sessionAuthenticator({ ...deps, findApplication })(
    await kit.open({ rules }),
    deps.now(),
  )
  expect(session?.bytes).toBeGreaterThan(JSON.stringify(rules).length)
  const application = await applicationAuthenticator(deps)(kit.authorizer.key, deps.now())
  expect(application?.bytes).toBeGreaterThan(0)
  expect(application?.bytes).toBeLessThan(session?.bytes ?? 0)
})

describe('a session with long rules is found in a turn', () => {
  const short = { permissions: ['token:read'] }

  /** Looks for the caller of a key; `meanwhile` runs while it waits for its turn. */
  async function findIn({ deps }: TestVault, key: string, meanwhile = async () => {}) {
    let taken = 0
    const next = async (): Promise<void> => {
      taken += 1
      await meanwhile()
    }
    const waiting = { ...deps, turns: { ...deps.turns, next } }
    const findApplication = findLiveApplication.bind(undefined, deps)
    const found = await sessionAuthenticator({ ...waiting, findApplication })(key, deps.now())
    return { isFound: found !== undefined, taken }
  }

  // proves E10.30
  test('and others at once', async () => {
    const vault = await openTestVault(735)
    const kit = await openSessionKit(vault)
    expect(await findIn(vault, await kit.open({ rules }))).toEqual({ isFound: true, taken: 1 })
    expect(await findIn(vault, await kit.open(short))).toEqual({ isFound: true, taken: 0 })
    expect(await findIn(vault, 'key_sess_none')).toEqual({ isFound: false, taken: 0 })
  })

  // proves E10.30
  test('also to explain its access', async () => {
    const vault = await openTestVault(738)
    const { deps, tenantId, managementKey: key } = vault
    const kit = await openSessionKit(vault)
    await kit.open({ rules })
    const { body } = await vault.ask('GET', '/sessions', { key })
    const [session] = body['data'] as readonly { readonly id: string }[]
    let taken = 0
    const next = async (): Promise<void> => void (taken += 1)
    const waiting = { ...deps, turns: { ...deps.turns, next } }
    const findApplication = findLiveApplication.bind(undefined, deps)
    const grants = await grantsOfSession(
      { ...waiting, findApplication },
      tenantId,
      session?.id ?? '',
    )
    expect(grants.rules).toHaveLength(100)
    expect(taken).toBe(1)
  })

  test('unless it has ended while it waited', async () => {
    const vault = await openTestVault(736)
    const kit = await openSessionKit(vault)
    const [ended, expired] = [await kit.open({ rules }), await kit.open({ rules })]
    const { body } = await vault.ask('GET', '/sessions', { key: vault.managementKey })
    const [, first] = body['data'] as readonly { readonly id: string }[]
    const end = async (): Promise<void> => {
      const path = `/sessions/${first?.id}`
      expect((await vault.ask('DELETE', path, { key: vault.managementKey })).status).toBe(204)
    }
    expect(await findIn(vault, ended, end)).toEqual({ isFound: false, taken: 1 })
    const pass = async (): Promise<void> => vault.clock.advance(sessionMsDefault)
    expect(await findIn(vault, expired, pass)).toEqual({ isFound: false, taken: 1 })
  })
})

// proves E10.30
test('requests of a session with many conditions take turns, and count what came', async () => {
  const vault = await openTestVault(739)
  const { deps, managementKey } = vault
  const kit = await openSessionKit(vault)
  const many = await kit.open({
    rules: rules.slice(0, 20).map(rule => ({
      ...rule,
      conditions: Array.from({ length: 10 }, (_, at) => ({
        attribute: 'id',
        operator: 'starts_with',
        value: `${at}`,
      })),
    })),
  })
  const few = await kit.open({ permissions: ['token:read'] })
  let taken = 0
  let meanwhile = async (): Promise<void> => {}
  const next = async (): Promise<void> => {
    taken += 1
    await meanwhile()
  }
  const app = buildApp({ ...deps, turns: { ...deps.turns, next } })
  const statusOf = async (key: string): Promise<number> =>
    (await app.handle(requestOf('GET', '/tokens/absent', { key }))).status
  expect([await statusOf(few), await statusOf(managementKey)]).toEqual([404, 403])
  expect(taken).toBe(0)
  await statusOf(many)
  const once = taken
  expect(await statusOf(many)).toBe(404)
  expect(taken).toBe(once + 1)
  const { body } = await vault.ask('GET', '/sessions', { key: managementKey })
  meanwhile = async () => {
    for (const { id } of body['data'] as readonly { readonly id: string }[])
      await vault.ask('DELETE', `/sessions/${id}`, { key: managementKey })
  }
  expect(await statusOf(many)).toBe(401)
})

// proves C16.7
test('sessions of one tenant, however many, have its turns alone', async () => {
  const vault = await openTestVault(740)
  const conditions = Array.from({ length: 10 }, (_, at) => ({
    attribute: 'id',
    operator: 'starts_with',
    value: `${at}`,
  }))
  const many = { rules: rules.slice(0, 20).map(rule => ({ ...rule, conditions })) }
  const [kit, stranger] = [
    await openSessionKit(vault),
    await openSessionKit(await addTenant(vault)),
  ]
  const keys = [await kit.open(many), await kit.open(many), await stranger.open(many)]
  let owners: TurnOwner[] = []
  const next = async (owner: TurnOwner): Promise<void> => void owners.push(owner)
  const app = buildApp({ ...vault.deps, turns: { ...vault.deps.turns, next } })
  // The first time the row of a session is found in a turn, and then its conditions take one.
  for (const isFound of [false, true]) {
    const queue = makeTurnQueue<number>()
    for (const [at, key] of keys.entries()) {
      owners = []
      await app.handle(requestOf('GET', '/tokens/absent', { key }))
      expect(owners.length).toBe(isFound ? 1 : 2)
      for (const owner of owners.slice(0, 1)) queue.add(owner, at)
    }
    expect(keys.map(() => queue.take())).toEqual([0, 2, 1])
  }
})
