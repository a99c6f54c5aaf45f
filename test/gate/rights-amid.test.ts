/**
 * Rights that end or narrow while a request is worked on: its answer tells nothing beyond them.
 * Contract sections 2 and 13.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { rightsAgainMs } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { addApplication, tokenPermissions } from '../support/sessions.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

const secret = 'made after the key had ended'
const rulesOf = (transform: string) => [
  { priority: 1, container: '/', transform, permissions: tokenPermissions },
]

/** Answers one request whose first look at the store is late: `change` comes before it. */
async function openLate(seed: number) {
  const vault = await openTestVault(seed)
  const owner = await vault.application({ type: 'private', rules: rulesOf('reveal') })
  const { id, key } = await addApplication(vault, { type: 'private', rules: rulesOf('reveal') })
  const manager = { key: vault.managementKey }
  const late = async (
    method: string,
    path: string,
    body: object | undefined,
    change: () => Promise<unknown>,
  ) => {
    const { store } = vault.deps
    let changed: Promise<unknown> | undefined
    const first = async () => {
      if (changed !== undefined) return
      changed = change()
      await changed
      vault.clock.advance(rightsAgainMs)
    }
    const page: typeof store.page = async (query, window) => {
      await first()
      return store.page(query, window)
    }
    const glance: typeof store.glance = async (unique, parts) => {
      await first()
      return store.glance(unique, parts)
    }
    const app = buildApp({ ...vault.deps, store: { ...store, page, glance } })
    const response = await app.handle(requestOf(method, path, { key, body }))
    return { status: response.status, text: await response.text() }
  }
  const made = { id: 'late', type: 'token', data: secret, mask: '{{ data | slice: 0, 4 }}' }
  const create = async () =>
    expect((await vault.ask('POST', '/tokens', { key: owner, body: made })).status).toBe(201)
  return {
    vault,
    late,
    create,
    async end() {
      expect((await vault.ask('DELETE', `/applications/${id}`, manager)).status).toBe(204)
      await create()
    },
    async narrow() {
      const body = { name: 'narrow', rules: rulesOf('mask') }
      expect((await vault.ask('PUT', `/applications/${id}`, { ...manager, body })).status).toBe(200)
    },
  }
}

const asks = [
  ['GET', '/tokens', undefined],
  ['GET', '/tokens/late', undefined],
  ['POST', '/tokens/search', { query: '*' }],
  ['POST', '/detokenize', ['{{ late }}']],
  ['POST', '/detokenize', ["{{ late | replace: 'made', 'x' | to_number }}"]],
] as const

describe('an answer that took long', () => {
  // proves S54
  test.each(asks)('is 401 once the key has ended: %s %s', async (method, path, body) => {
    const { late, end } = await openLate(591)
    const { status, text } = await late(method, path, body, end)
    expect(status).toBe(401)
    expect(text).not.toContain(secret)
  })

  // proves S54
  test.each(asks.slice(0, 4))('is by narrower rules: %s %s', async (method, path, body) => {
    const { late, create, narrow } = await openLate(592)
    await create()
    const { status, text } = await late(method, path, body, narrow)
    expect(status).toBe(200)
    expect(text).toContain('"made"')
    expect(text).not.toContain(secret)
  })

  // proves S54, S90
  test('has one entry, of what it shows', async () => {
    const { vault, late, create, narrow } = await openLate(593)
    await create()
    expect((await late('GET', '/tokens/late', undefined, narrow)).status).toBe(200)
    await vault.deps.audit.flush()
    const log = await vault.ask('GET', '/logs?operation=getToken', { key: vault.managementKey })
    expect(log.body['data']).toMatchObject([{ entity_id: 'late', transform: 'mask', result: 200 }])
  })
})
