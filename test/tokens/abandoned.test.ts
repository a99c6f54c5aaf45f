/**
 * Long reads end once nobody waits for their answer.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { bulkTurnMsMax, testStepRows } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault()
  const permissions = ['token:create', 'token:search', 'token:read']
  key = await vault.application({
    type: 'private',
    permissions,
    rules: [{ container: '/', permissions, transform: 'reveal', priority: 1 }],
  })
  const body = { type: 'token', data: 'plain', containers: ['/plain/'] }
  const many = Object.fromEntries(Array.from({ length: 3 * testStepRows }, (_, i) => [i, body]))
  const visitor = await vault.application({ type: 'public', permissions: ['token:create'] })
  expect((await vault.ask('POST', '/sessions', { key: visitor })).status).toBe(201)
  const made = await vault.ask('POST', '/tokenize', { key, body: many })
  expect(made.status).toBe(200)
})

/** Asks, and goes away as soon as the store is read for it if `isLeaving`. */
async function askAndLeave(method: string, path: string, asked: Ask, isLeaving: boolean) {
  let [pages, elapsed] = [0, 0]
  const leaving = new AbortController()
  const { deps } = vault
  const store: typeof deps.store = {
    ...deps.store,
    page(...read) {
      pages += 1
      if (isLeaving) leaving.abort()
      return deps.store.page(...read)
    },
  }
  const app = buildApp({ ...deps, store, elapsedMs: () => (elapsed += bulkTurnMsMax) })
  const request = new Request(requestOf(method, path, asked), { signal: leaving.signal })
  const { status } = await app.handle(request)
  return { status, pages }
}

describe('a read whose caller has gone', () => {
  test('tests no more tokens', async () => {
    const inAMoment = new Date(vault.clock.now() + 1_000).toISOString()
    const query = `created_at:[* TO ${inAMoment}]`
    const search = ['POST', '/tokens/search', { key, body: { query } }] as const
    const whole = await askAndLeave(...search, false)
    expect(whole).toEqual({ status: 200, pages: 4 + 1 })
    expect(await askAndLeave(...search, true)).toEqual({ status: 408, pages: 1 })
  })

  test.each(['/applications', '/sessions?start='])('opens no more of %s', async path => {
    const list = ['GET', path, { key: vault.managementKey }] as const
    expect(await askAndLeave(...list, false)).toEqual({ status: 200, pages: 1 })
    expect(await askAndLeave(...list, true)).toEqual({ status: 408, pages: 1 })
  })
})
