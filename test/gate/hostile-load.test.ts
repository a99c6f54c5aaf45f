/**
 * Hostile load, as far as a quick test may take it: the answers are the same. The whole of it is
 * the part `hostile-load` of the crash campaign. Hardening H78, H80, H113, H126, H161.
 * @module
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { sweep } from '../../src/vault/sweep.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:delete']

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Many tokens in one write. */
async function addMany(vault: TestVault, key: string, count: number, more: object = {}) {
  const body = numbers(count).map(index => ({ type: 'token', data: index, ...more }))
  expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
}

const totalOf = async (vault: TestVault, key: string): Promise<unknown> => {
  const { body } = await vault.ask('GET', '/tokens?size=1', { key })
  return (body['pagination'] as { total_items: number }).total_items
}

// proves H78
test('H78: a list among many writers shows each token once, and never fails', async () => {
  const vault = await openTestVault(161)
  const key = await vault.application({ type: 'private', permissions })
  const write = async (index: number) => {
    const id = `written-${index}`
    const body = { id, type: 'token', data: index }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    if (index % 2 === 0) await vault.ask('DELETE', `/tokens/${id}`, { key })
  }
  const list = async () => {
    const { status, body } = await vault.ask('GET', '/tokens?size=100', { key })
    const ids = (body['data'] as { id: string }[]).map(({ id }) => id)
    expect([status, new Set(ids).size]).toEqual([200, ids.length])
  }
  await Promise.all([...numbers(1_000).map(write), ...numbers(100).map(list)])
  expect(await totalOf(vault, key)).toBe(500)
})

// proves H80
test('H80: clients that go away amid a list take nothing along', async () => {
  const vault = await openTestVault(162)
  const key = await vault.application({ type: 'private', permissions })
  await addMany(vault, key, 500, { mask: '{{ data }}' })
  const { listener } = buildApp(vault.deps)
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, ...listener })
  const url = `${server.url.href}tokens?size=100`
  const leave = async () => {
    const leaving = new AbortController()
    const answer = fetch(url, { headers: { 'svc-api-key': key }, signal: leaving.signal })
    await Bun.sleep(0)
    leaving.abort()
    await answer.catch(() => {})
  }
  // More than the engine has slots for readers by default (hardening finding 7: 126).
  for (let round = 0; round < 10; round += 1) await Promise.all(numbers(30).map(leave))
  const answer = await fetch(url, { headers: { 'svc-api-key': key } })
  expect(answer.status).toBe(200)
  await server.stop(true)
})

// proves H113
test('H113: thousands that expire at once are gone at once, and soon from the disk', async () => {
  const vault = await openTestVault(163)
  const key = await vault.application({ type: 'private', permissions })
  await addMany(vault, key, 10)
  for (const _ of numbers(4)) await addMany(vault, key, 1_000, { expires_at: '1/2/2030' })
  expect(await totalOf(vault, key)).toBe(4_010)
  vault.clock.advance(24 * 60 * 60 * 1_000)
  expect(await totalOf(vault, key)).toBe(10)
  expect(await sweep(vault.deps)).toBe(4_000)
  expect(await vault.deps.store.due(vault.clock.now(), 1)).toEqual([])
}, 300_000)

// proves H126
test('H126: thousands of wrong keys are each refused alike, and fill no log', async () => {
  const vault = await openTestVault(164)
  const key = await vault.application({ type: 'private', permissions })
  const tries = numbers(3_000).map(index =>
    vault.ask('GET', '/tokens', { key: `key_${String(index).padStart(22, '1')}` }),
  )
  const answers = await Promise.all(tries)
  expect(answers.every(({ status }) => status === 401)).toBe(true)
  expect(vault.logged).toEqual([])
  expect((await vault.ask('GET', '/tokens', { key })).status).toBe(200)
})

// proves H161
test('H161: sessions that nobody authorizes leave nothing behind', async () => {
  const vault = await openTestVault(165)
  const key = await vault.application({ type: 'public', permissions: ['token:create'] })
  const made = await Promise.all(numbers(1_000).map(() => vault.ask('POST', '/sessions', { key })))
  expect(made.every(({ status }) => status === 201)).toBe(true)
  vault.clock.advance(3 * 60 * 1_000)
  expect(await sweep(vault.deps)).toBe(1_000)
  expect(await vault.deps.store.due(vault.clock.now(), 1)).toEqual([])
}, 300_000)

// proves H161
test('H161: a public key makes no more sessions than its rate, however many hold it', async () => {
  const vault = await openTestVault(166, { requestsPerSecondMax: 100 })
  const key = await vault.application({ type: 'public', permissions: ['token:create'] })
  const made = await Promise.all(numbers(1_000).map(() => vault.ask('POST', '/sessions', { key })))
  expect(made.filter(({ status }) => status === 201).length).toBe(100)
  expect(made.filter(({ status }) => status === 429).length).toBe(900)
  expect((await vault.ask('GET', '/applications/key', { key: vault.managementKey })).status).toBe(
    200,
  )
})
