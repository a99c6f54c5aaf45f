/**
 * Simulated changes of grants: the counts are those of a comparison token by token.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { decideTransform, type Grants, type Rule } from '../../src/rules/access.ts'
import { showingPermissions, type ShownChange } from '../../src/rules/access-changes.ts'
import type { Store } from '../../src/store/contract.ts'
import { compareAccess, countNewlyRevealed } from '../../src/tokens/access/compare.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const containers = ['/', '/a/', '/a/b/', '/a/b/c/', '/ab/', '/b/', '/b/c/', '/c/', '/d/', '/e/']
const tokenCount = 10_000

const ruleOn = (priority: number, container: string, transform: Rule['transform']): Rule => ({
  priority,
  container,
  transform,
  permissions: ['token:read', 'token:search'],
})

const before: Grants = {
  permissions: ['token:use'],
  rules: [
    ruleOn(1, '/a/b/', 'redact'),
    ruleOn(2, '/a/', 'mask'),
    ruleOn(3, '/b/', 'reveal'),
    ruleOn(4, '/d/', 'reveal'),
  ],
}
const after: Grants = {
  permissions: ['token:search'],
  rules: [
    ruleOn(1, '/a/b/c/', 'mask'),
    ruleOn(2, '/a/', 'reveal'),
    ruleOn(3, '/b/c/', 'redact'),
    { ...ruleOn(4, '/c/', 'reveal'), permissions: ['token:use'] },
  ],
}

let vault: TestVault
let id: string
let owner: string
const placeOf = new Map<string, string>()

async function fill(): Promise<void> {
  for (let at = 0; at < tokenCount; at += 1_000) {
    const body = Array.from({ length: 1_000 }, (_, index) => {
      const container = containers[(at + index * 7) % containers.length] ?? '/'
      placeOf.set(`token-${at + index}`, container)
      return { id: `token-${at + index}`, type: 'token', data: 1, containers: [container] }
    })
    const { status, text } = await vault.ask('POST', '/tokenize', { key: owner, body })
    if (status !== 200) throw new Error(text)
  }
}

beforeAll(async () => {
  vault = await openTestVault(413)
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:create'] }
  owner = await vault.application({ type: 'private', rules: [rule] })
  const key = await vault.application({ type: 'private', ...before })
  id = String((await vault.ask('GET', '/applications/key', { key })).body['id'])
  await fill()
}, 120_000)

const simulate = (proposed: object, key = vault.managementKey, application = id) =>
  vault.ask('POST', '/access/simulate', { key, body: { application_id: application, proposed } })

const changesOf = async (proposed: object, key?: string): Promise<readonly ShownChange[]> =>
  (await simulate(proposed, key)).body['changes'] as readonly ShownChange[]

const shown = (grants: Grants, permission: ShownChange['permission'], token: string) =>
  decideTransform(grants, permission, { id: token, containers: [placeOf.get(token) ?? ''] }) ??
  'hidden'

/** Counts by looking at each token. */
function compareSlowly(next: Grants): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const permission of showingPermissions) {
    for (const token of placeOf.keys()) {
      const [from, to] = [shown(before, permission, token), shown(next, permission, token)]
      const name = `${permission} ${from} ${to}`
      if (from !== to) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

describe('a simulated change', () => {
  // proves C11.23
  test('counts exactly as a comparison of 10,000 tokens one by one', async () => {
    const changes = await changesOf(after)
    const counts = changes.map(
      ({ permission, from, to, count }) => [`${permission} ${from} ${to}`, count] as const,
    )
    const slowly = compareSlowly(after)
    expect(slowly.size).toBeGreaterThan(8)
    expect(new Map<string, number>(counts)).toEqual(new Map(slowly))
  })

  test('names at most 20 tokens, each of which changes so', async () => {
    const changes = await changesOf(after)
    const samples = changes.flatMap(each => each.samples.map(token => [each, token] as const))
    expect(samples.length).toBeLessThanOrEqual(20)
    expect(changes.every(each => each.samples.length > 0)).toBe(true)
    for (const [{ permission, from, to }, token] of samples) {
      expect([shown(before, permission, token), shown(after, permission, token)]).toEqual([
        from,
        to,
      ])
    }
  })

  // proves C11.24
  test('names no token to a manager who may not read the audit log', async () => {
    const permissions = ['access:explain', 'application:read']
    const key = await vault.application({ type: 'management', permissions })
    const changes = await changesOf(after, key)
    expect(changes.flatMap(({ samples }) => samples)).toEqual([])
    expect(changes.map(({ count }) => count)).toEqual(
      (await changesOf(after)).map(({ count }) => count),
    )
  })

  // proves C11.23
  test('changes nothing, and one that is none counts nothing', async () => {
    expect(await changesOf(before)).toEqual([])
    const { body } = await vault.ask('GET', `/applications/${id}`, { key: vault.managementKey })
    expect(body['rules']).toEqual(before.rules)
    expect(body).not.toHaveProperty('modified_at')
  })

  // proves E10.24
  test('lets others run between any two questions, however many there are at once', async () => {
    let [asked, most] = [0, 0]
    let isOver = false
    const others = (): void => {
      most = Math.max(most, asked)
      asked = 0
      if (!isOver) setImmediate(others)
    }
    const { deps } = vault
    const store: Store = {
      ...deps.store,
      page(...which) {
        asked += 1
        return deps.store.page(...which)
      },
    }
    const credential = { ordinal: 1, version: 1, uniques: [] }
    const caller = { tenantId: vault.tenantId, applicationId: 'any', credential }
    setImmediate(others)
    const simulations = Array.from({ length: 20 }, () =>
      compareAccess({ ...deps, store }, caller, { before, after }, 0, () => {}),
    )
    await Promise.all(simulations)
    await Promise.all(
      simulations.map(() => countNewlyRevealed({ ...deps, store }, caller, { before, after })),
    )
    isOver = true
    expect(Math.max(most, asked)).toBe(1)
  })

  test.each([['access:explain'], ['application:read']])('needs more than %s', async held => {
    const key = await vault.application({ type: 'management', permissions: [held] })
    expect((await simulate(after, key)).status).toBe(403)
  })

  test('is refused for grants that the application could not have, or none', async () => {
    const permissions = ['application:read']
    expect((await simulate({ permissions })).status).toBe(400)
    const absent = '00000000-0000-4000-8000-000000000000'
    expect((await simulate(after, vault.managementKey, absent)).status).toBe(404)
  })

  // proves C11.24
  test('leaves an entry that names the application, and the tokens that it named', async () => {
    const samples = (await changesOf(after)).flatMap(each => each.samples)
    await vault.deps.audit.flush()
    const found = await vault.ask('GET', '/logs?operation=simulateAccess&size=1', {
      key: vault.managementKey,
    })
    const [entry] = found.body['data'] as readonly object[]
    const expected = { entity_type: 'access', entity_ids: [id, ...new Set(samples)], result: 200 }
    expect(entry).toMatchObject(expected)
  })

  // proves C11.25
  test('counts each of its questions against the rate of requests', async () => {
    const few = await openTestVault(415, { requestsPerSecondMax: 3 })
    const key = few.managementKey
    const rules = [ruleOn(1, '/a/', 'mask'), ruleOn(2, '/b/', 'redact')]
    const made = await few.application({ type: 'private', rules })
    const own = await few.ask('GET', '/applications/key', { key: made })
    few.clock.advance(1_000)
    const proposed = { rules: [ruleOn(1, '/a/', 'redact'), ruleOn(2, '/b/', 'reveal')] }
    const body = { application_id: own.body['id'], proposed }
    // Two questions: both permissions change alike.
    const first = await few.ask('POST', '/access/simulate', { key, body })
    const second = await few.ask('POST', '/access/simulate', { key, body })
    expect([first.status, second.status]).toEqual([200, 429])
    // A change that changes nothing asks nothing.
    few.clock.advance(1_000)
    const same = { ...body, proposed: { rules } }
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await few.ask('POST', '/access/simulate', { key, body: same })).status).toBe(200)
    }
  })
})
