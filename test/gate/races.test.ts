/**
 * Requests that race: what may happen once happens once, and nothing that was answered is lost.
 *
 * Source: contract sections 7 to 9, 12 and 13; hardening F15, H63, H84, T25, T26.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { addApplication, tokenPermissions } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, requestOf, type Answer, type TestVault } from '../support/vault.ts'

const racers = 50

let vault: TestVault
let key: string
beforeAll(async () => {
  vault = await openTestVault(73)
  key = await vault.application({
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }],
  })
})

const race = <T>(ask: (index: number) => Promise<T>, count = racers): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

/** Counts the answers by status. */
function countStatuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const create = (body: object) => vault.ask('POST', '/tokens', { key, body })
const totalOf = async (query: string) =>
  Object((await vault.ask('GET', `/tokens?${query}`, { key })).body['pagination'])['total_items']

const idOf = async (own: string) =>
  String((await vault.ask('GET', '/applications/key', { key: own })).body['id'])

describe('of many that race', () => {
  // proves C7.6
  test('one creates a token of an id, and its data stays', async () => {
    const answers = await race(index => create({ id: 'raced', type: 'token', data: index }))
    expect(countStatuses(answers)).toEqual({ 201: 1, 409: racers - 1 })
    const winner = answers.findIndex(({ status }) => status === 201)
    const read = await vault.ask('GET', '/tokens/raced', { key })
    expect(read.body['data']).toBe(winner)
    expect(await totalOf('id=raced')).toBe(1)
  })

  // proves C8.14
  test('one makes a deduplicated token, and all are given that one', async () => {
    const answers = await race(() =>
      create({ type: 'token', data: 'the same', deduplicate_token: true }),
    )
    expect(countStatuses(answers)).toEqual({ 201: racers })
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
    const made = answers.filter(({ body }) => Object(body['_extras'])['deduplicated'] === false)
    expect(made.length).toBe(1)
    expect(await totalOf(`fingerprint=${String(made[0]?.body['fingerprint'])}`)).toBe(1)
  })

  // proves C8.14
  test.each([
    ['/tokens', (body: object) => body],
    ['/tokenize', (body: object) => [body]],
  ])('one makes it, also after the look of another: POST %s', async (path, sent) => {
    const { store } = vault.deps
    const body = { type: 'token', data: `made amid ${path}`, deduplicate_token: true }
    let made: Answer | undefined
    const page: typeof store.page = async (query, window) => {
      const found = await store.page(query, window)
      made ??= await create(body)
      return found
    }
    const app = buildApp({ ...vault.deps, store: { ...store, page } })
    const response = await app.handle(requestOf('POST', path, { key, body: sent(body) }))
    const [answer] = [(await response.json()) as unknown].flat()
    const { id, _extras: extras, fingerprint } = answer as Record<string, unknown>
    expect({ id, extras }).toEqual({ id: made?.body['id'], extras: { deduplicated: true } })
    expect(await totalOf(`fingerprint=${String(fingerprint)}`)).toBe(1)
  })

  test('one deletes a token', async () => {
    await create({ id: 'leaving', type: 'token', data: 1 })
    const answers = await race(() => vault.ask('DELETE', '/tokens/leaving', { key }))
    expect(countStatuses(answers)).toEqual({ 204: 1, 404: racers - 1 })
  })

  // proves A13.2, C13.6
  test('one key is live after many regenerations', async () => {
    const { id, key: first } = await addApplication(vault, {
      type: 'private',
      permissions: ['token:read'],
    })
    const ask = { key: vault.managementKey }
    const answers = await race(() => vault.ask('POST', `/applications/${id}/regenerate`, ask))
    expect(countStatuses(answers)).toEqual({ 200: racers })
    const keys = [first, ...answers.map(({ body }) => String(body['key']))]
    const shown = await Promise.all(keys.map(each => vault.ask('GET', '/tokens', { key: each })))
    expect(countStatuses(shown)).toEqual({ 200: 1, 401: racers })
    expect(shown[0]?.status).toBe(401)
  })
})

describe('two that would lock everybody out together', () => {
  // proves C13.8
  test('are not both done: one management application stays', async () => {
    const own = await addTenant(vault)
    const permissions = ['application:create', 'application:delete', 'application:update']
    const other = await own.application({ type: 'management', permissions })
    const keys = [own.managementKey, other]
    const ids = await Promise.all(keys.map(each => idOf(each)))
    const asks = keys.map((each, index) =>
      vault.ask('DELETE', `/applications/${ids[1 - index]}`, { key: each }),
    )
    const statuses = (await Promise.all(asks)).map(({ status }) => status).toSorted()
    expect(statuses[0]).toBe(204)
    expect([401, 404, 409]).toContain(statuses[1] ?? 0)
    const left = await Promise.all(
      keys.map(each => vault.ask('GET', '/applications/key', { key: each })),
    )
    expect(countStatuses(left)).toEqual({ 200: 1, 401: 1 })
  })
})

describe('no change is lost', () => {
  // proves C9.14
  test('of a thousand patches of distinct members of one token', async () => {
    await create({ id: 'patched', type: 'token', data: { kept: true } })
    const answers = await race(
      index => vault.ask('PATCH', '/tokens/patched', { key, body: { data: { [`m${index}`]: 1 } } }),
      1_000,
    )
    expect(countStatuses(answers)).toEqual({ 200: 1_000 })
    const { body } = await vault.ask('GET', '/tokens/patched', { key })
    const members = Object.keys(body['data'] as object)
    expect(members.length).toBe(1_001)
    expect(members).toContain('kept')
  }, 300_000)

  // proves C9.14
  test('of patches to data, metadata and container at once', async () => {
    await create({ id: 'mixed', type: 'token', data: {} })
    const patches = [
      { data: { a: 1 } },
      { metadata: { b: '2' } },
      { containers: ['/c/'] },
      { mask: '{{ data.a }}' },
      { expires_at: '2031-01-01' },
      { search_indexes: ['{{ data.a }}'] },
    ]
    const answers = await Promise.all(
      patches.map(body => vault.ask('PATCH', '/tokens/mixed', { key, body })),
    )
    expect(countStatuses(answers)).toEqual({ 200: patches.length })
    expect((await vault.ask('GET', '/tokens/mixed', { key })).body).toMatchObject({
      data: { a: 1 },
      metadata: { b: '2' },
      containers: ['/c/'],
      mask: '{{ data.a }}',
      expires_at: '2031-01-01T00:00:00.000+00:00',
      search_indexes: ['{{ data.a }}'],
    })
  })
})

describe('a key that is taken back', () => {
  // proves H125, S54
  test('makes nothing after that was answered, and what it was answered stands', async () => {
    const { id, key: leaving } = await addApplication(vault, {
      type: 'private',
      permissions: ['token:create'],
    })
    const body = { type: 'token', data: 1, metadata: { made: 'in flight' } }
    const before = race(() => vault.ask('POST', '/tokens', { key: leaving, body }))
    const ask = { key: vault.managementKey }
    const removed = await vault.ask('DELETE', `/applications/${id}`, ask)
    expect(removed.status).toBe(204)
    const after = await race(() => vault.ask('POST', '/tokens', { key: leaving, body }))
    expect(countStatuses(after)).toEqual({ 401: racers })
    const { 201: made = 0, 401: refused = 0 } = countStatuses(await before)
    expect(made + refused).toBe(racers)
    expect(await totalOf('metadata.made=in%20flight')).toBe(made)
  })
})

describe('a key whose application is changed meanwhile', () => {
  const renames = 100
  // Looking for an equal token takes time between the key's look-up and the write.
  const bodyOf = (data: string, made: string) => ({
    type: 'token',
    data,
    metadata: { made },
    deduplicate_token: true,
  })

  // proves E13
  test('is a live key: each create lands, and none is 401', async () => {
    const permissions = ['token:create']
    const { id, key: busy } = await addApplication(vault, { type: 'private', permissions })
    let isRenaming = true
    const made: Answer[] = []
    const creating = race(async writer => {
      for (let count = 0; isRenaming; count += 1) {
        const body = bodyOf(`${writer} ${count}`, 'amid renames')
        made.push(await vault.ask('POST', '/tokens', { key: busy, body }))
      }
    }, 8)
    for (let count = 0; count < renames; count += 1) {
      const renamed = { name: `n${count}`, permissions }
      const ask = { key: vault.managementKey, body: renamed }
      expect((await vault.ask('PUT', `/applications/${id}`, ask)).status).toBe(200)
    }
    isRenaming = false
    await creating
    expect(countStatuses(made)).toEqual({ 201: made.length })
    expect(await totalOf('metadata.made=amid%20renames')).toBe(made.length)
  })

  // proves E13
  test('gets 403 once it has lost the permission, and makes nothing after', async () => {
    const { id, key: losing } = await addApplication(vault, {
      type: 'private',
      permissions: ['token:create'],
    })
    const creates = () =>
      race(index => {
        const body = bodyOf(`lost ${index}`, 'until lost')
        return vault.ask('POST', '/tokens', { key: losing, body })
      })
    const before = creates()
    const changes = { name: 'reads', permissions: ['token:read'] }
    const ask = { key: vault.managementKey, body: changes }
    expect((await vault.ask('PUT', `/applications/${id}`, ask)).status).toBe(200)
    const { 201: made = 0, 403: refused = 0 } = countStatuses(await before)
    expect(made + refused).toBe(racers)
    expect(countStatuses(await creates())).toEqual({ 403: racers })
    expect(await totalOf('metadata.made=until%20lost')).toBe(made)
  })
})
