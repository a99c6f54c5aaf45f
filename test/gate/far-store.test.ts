/**
 * Turns of requests at a store that answers late.
 * @module
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { removalOf } from '../../src/records/read-row.ts'
import { storeFewPages, storeFewsPerApplication, storePagesMax } from '../../src/limits/limits.ts'
import { openSessionKit } from '../support/sessions.ts'
import { until } from '../support/until.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

test('each request gives its turn back, whether it was answered or refused', async () => {
  const vault = await openTestVault(83)
  const key = await vault.application({ type: 'private', permissions: ['token:read'] })
  const app = buildApp({ ...vault.deps, isStoreFar: true })
  const statusOf = async (path: string): Promise<number> =>
    (await app.handle(requestOf('GET', path, { key }))).status
  for (let count = 0; count <= 2 * storePagesMax; count += 1) {
    expect(await statusOf('/tokens')).toBe(200)
    expect(await statusOf('/tokens?size=0')).toBe(400)
  }
})

/** The application over a far store whose reads of one kind wait until they are let go. */
function heldStore(vault: TestVault, kind: 'page' | 'bundles') {
  const { store } = vault.deps
  const reads = { begun: 0 }
  const go = Promise.withResolvers<void>()
  const held =
    <A extends readonly unknown[], T>(read: (...given: A) => T | Promise<T>) =>
    async (...given: A): Promise<T> => {
      reads.begun += 1
      await go.promise
      return read(...given)
    }
  const slow = { ...store, [kind]: held<never[], unknown>(store[kind] as () => unknown) }
  const app = buildApp({ ...vault.deps, store: slow, isStoreFar: true })
  return { app, reads, go: go.resolve }
}

const many = 3 * storePagesMax
const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

// proves E10.27
test.each<[string, 'page' | 'bundles', string, string]>([
  ['deduplicating creates', 'page', 'POST', '/tokens'],
  ['pages of the log', 'bundles', 'GET', '/logs'],
  ['proofs', 'bundles', 'GET', '/logs/0/proof'],
  ['pages of events', 'bundles', 'GET', '/events'],
])(
  '%s of one credential read few pages at once, and others theirs',
  async (...row) => {
    const [, kind, method, path] = row
    const vault = await openTestVault(84)
    const permissions = ['token:create', 'token:read']
    const key = await vault.application({ type: 'private', permissions })
    const body = { type: 'token', data: 'x', deduplicate_token: true }
    for (const data of ['x', 'y'])
      await vault.ask('POST', '/tokens', { key, body: { ...body, data } })
    await vault.deps.audit.flush()
    const { app, reads, go } = heldStore(vault, kind)
    const send = async (by: string) => {
      const ask = method === 'GET' ? { key: by } : { key: by, body }
      return (await app.handle(requestOf(method, path, ask))).status
    }
    const greedy = method === 'GET' ? vault.managementKey : key
    const floods = Array.from({ length: many }, () => send(greedy))
    await until(() => reads.begun >= storePagesMax)
    for (let turns = 0; turns < 100; turns += 1) await turn()
    expect(reads.begun).toBe(storePagesMax)
    const other = await vault.application(
      method === 'GET'
        ? { type: 'management', permissions: ['log:read'] }
        : { type: 'private', permissions },
    )
    const asked = send(other)
    await until(() => reads.begun > storePagesMax)
    go()
    const statuses = new Set(await Promise.all([asked, ...floods]))
    expect(statuses.has(503)).toBe(false)
  },
  60_000,
)

// proves E10.17
test('lists of many sessions read few pages at once, and others theirs', async () => {
  const vault = await openTestVault(86)
  const kit = await openSessionKit(vault)
  const sessions = await Promise.all(
    Array.from({ length: 2 * many }, () => kit.open({ permissions: ['token:read'] })),
  )
  const most = storePagesMax + storeFewsPerApplication * storeFewPages
  const { app, reads, go } = heldStore(vault, 'page')
  const list = async (key: string) =>
    (await app.handle(requestOf('GET', '/tokens', { key }))).status
  const floods = sessions.map(list)
  await until(() => reads.begun >= most)
  for (let turns = 0; turns < 100; turns += 1) await turn()
  expect(reads.begun).toBe(most)
  const asked = list(kit.authorizer.key)
  await until(() => reads.begun > most)
  go()
  expect(new Set(await Promise.all([asked, ...floods]))).toEqual(new Set([200]))
}, 60_000)

test.each([[{}], [{ 'svc-idempotency-key': 'once' }]])(
  'a create (%j) is not answered with an equal token that was lost meanwhile',
  async headers => {
    const vault = await openTestVault(85)
    const permissions = ['token:create', 'token:read']
    const key = await vault.application({ type: 'private', permissions })
    const body = { type: 'token', data: 'kept', deduplicate_token: true }
    const before = await vault.ask('POST', '/tokens', { key, body })
    const { store } = vault.deps
    let isLost = false
    const losing: typeof store = {
      ...store,
      async page(query, window) {
        const page = await store.page(query, window)
        const [row] = page.rows
        if (!isLost && row !== undefined) await store.write([removalOf(row)])
        isLost = true
        return page
      },
    }
    const app = buildApp({ ...vault.deps, store: losing, isStoreFar: true })
    const create = (more = {}) =>
      app.handle(requestOf('POST', '/tokens', { key, body, headers: more }))
    const answered = (await (await create(headers)).json()) as Record<string, unknown>
    expect(answered['id']).not.toBe(before.body['id'])
    expect(answered['_extras']).toMatchObject({ deduplicated: false })
    expect(await (await create()).json()).toMatchObject({ id: answered['id'] })
  },
)
