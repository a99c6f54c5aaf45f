/**
 * Applications of a tenant, each of which may have 100 long rules, are opened in turns: for a list,
 * and to find another manager before the last one may go.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const applications = 5

/** The application with turns that are counted, and a clock by which each piece is long. */
function countingTurns(vault: TestVault) {
  const count = { taken: 0 }
  let ms = 0
  const next = async (): Promise<void> => void (count.taken += 1)
  const turns = { ...vault.deps.turns, next }
  return { app: buildApp({ ...vault.deps, turns, elapsedMs: () => (ms += 1_000) }), count }
}

// proves E10.28
test('applications are opened one after the other, each in a turn', async () => {
  const vault = await openTestVault(731)
  for (let at = 1; at < applications; at += 1)
    await vault.application({ type: 'private', permissions: ['token:read'] })
  const { app, count } = countingTurns(vault)
  const answer = await app.handle(requestOf('GET', '/applications', { key: vault.managementKey }))
  expect(answer.status).toBe(200)
  const { data } = (await answer.json()) as { data: unknown[] }
  expect(data).toHaveLength(applications)
  expect(count.taken).toBeGreaterThanOrEqual(applications)
})

describe('another manager is looked for in turns', () => {
  const others = 60
  const permissions = ['application:read', 'application:create', 'application:update']
  let vault: TestVault
  let path: string

  beforeAll(async () => {
    vault = await openTestVault(732)
    const key = vault.managementKey
    const { body } = await vault.ask('GET', '/applications/key', { key })
    path = `/applications/${String(body['id'])}`
    for (let at = 0; at < others; at += 1)
      await vault.application({ type: 'management', permissions: ['application:read'] })
  })

  async function ask(method: string, at: string, body?: object) {
    const { app, count } = countingTurns(vault)
    const { status } = await app.handle(
      requestOf(method, at, { key: vault.managementKey, ...(body && { body }) }),
    )
    return { status, taken: count.taken }
  }

  // proves E10.28
  test('and there is none', async () => {
    const { body } = await vault.ask('GET', `${path}/keys`, { key: vault.managementKey })
    const [own] = body as unknown as readonly { readonly id: string }[]
    const narrow = { name: 'narrow', permissions: ['application:read'] }
    for (const [method, at, sent] of [
      ['DELETE', path],
      ['DELETE', `${path}/keys/${own?.id}`],
      ['PUT', path, narrow],
    ] as const) {
      const { status, taken } = await ask(method, at, sent)
      expect(status).toBe(409)
      expect(taken).toBeGreaterThan(others)
    }
  })

  // proves E10.28
  test('and it is the oldest', async () => {
    const second = await vault.application({ type: 'management', permissions })
    const { body } = await vault.ask('GET', '/applications/key', { key: second })
    for (let at = 0; at < others; at += 1)
      await vault.application({ type: 'management', permissions: ['application:read'] })
    const { status, taken } = await ask('PUT', `/applications/${String(body['id'])}`, {
      name: 'narrow',
      permissions: ['application:read'],
    })
    expect(status).toBe(200)
    expect(taken).toBeGreaterThan(2 * others)
  })
})
