/**
 * A list of sessions opens the rows of each, and of both applications behind it, all of which may
 * be long: in turns, and within the memory for answers.
 */
import { beforeAll, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const sessions = 5
const permissions = ['token:read']
const rules = Array.from({ length: 100 }, (_, at) => ({
  priority: at + 1,
  conditions: [{ attribute: 'id', operator: 'equals', value: `${at}`.padEnd(400, '-') }],
  transform: 'mask',
  permissions,
}))

let vault: TestVault

beforeAll(async () => {
  vault = await openTestVault(733)
  const kit = await openSessionKit(vault)
  for (let at = 0; at < sessions; at += 1) await kit.open({ rules })
})

// proves E10.28
test('sessions are opened one after the other, each in a turn', async () => {
  let taken = 0
  let ms = 0
  const next = async (): Promise<void> => void (taken += 1)
  const turns = { ...vault.deps.turns, next }
  const app = buildApp({ ...vault.deps, turns, elapsedMs: () => (ms += 1_000) })
  const answer = await app.handle(requestOf('GET', '/sessions', { key: vault.managementKey }))
  expect(answer.status).toBe(200)
  const { data } = (await answer.json()) as { data: unknown[] }
  expect(data).toHaveLength(sessions)
  expect(taken).toBeGreaterThan(sessions)
})

// proves E10.28
test('their rows count for the memory of answers, before any is opened', async () => {
  const { deps, tenantId } = vault
  let [reserved, looked] = [0, 0]
  const budget = {
    reserve(bytes: number) {
      reserved = bytes
      throw new ApiError('overloaded', 'no room')
    },
  }
  const credential = { ordinal: 1, version: 1, uniques: [] }
  const caller = { tenantId, applicationId: 'any', credential, budget }
  const findApplication = async () => {
    looked += 1
    return undefined
  }
  const walk = { start: '', at: 'start', size: sessions }
  const listed = listSessions({ ...deps, findApplication }, caller, walk)
  expect(await listed.catch((error: unknown) => error)).toMatchObject({ kind: 'overloaded' })
  expect(reserved).toBeGreaterThan(sessions * JSON.stringify(rules).length)
  expect(looked).toBe(0)
})
