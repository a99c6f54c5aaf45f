/**
 * A list of applications, each of which may have 100 long rules, is made in turns.
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

const applications = 5

// proves E10.28
test('applications are opened one after the other, each in a turn', async () => {
  const vault = await openTestVault(731)
  for (let at = 1; at < applications; at += 1)
    await vault.application({ type: 'private', permissions: ['token:read'] })
  let taken = 0
  let ms = 0
  const next = async (): Promise<void> => void (taken += 1)
  const turns = { ...vault.deps.turns, next }
  const app = buildApp({ ...vault.deps, turns, elapsedMs: () => (ms += 1_000) })
  const answer = await app.handle(requestOf('GET', '/applications', { key: vault.managementKey }))
  expect(answer.status).toBe(200)
  const { data } = (await answer.json()) as { data: unknown[] }
  expect(data).toHaveLength(applications)
  expect(taken).toBeGreaterThanOrEqual(applications)
})
