/**
 * Grants of many rules are compared with those of an authorizer, or with those before, in turns.
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { addApplication, openSessionKit } from '../support/sessions.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

const rulesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    priority: at + 1,
    container: `/pci/${at}/`,
    transform: 'mask',
    permissions: ['token:read'],
  }))

// proves E10.28
test('a turn is taken for 100 rules, and none for one', async () => {
  const vault = await openTestVault(737)
  const kit = await openSessionKit(vault)
  const { id, key } = await addApplication(vault, { type: 'private', rules: rulesOf(100) })
  let taken = 0
  const next = async (): Promise<void> => void (taken += 1)
  const app = buildApp({ ...vault.deps, turns: { ...vault.deps.turns, next } })
  const takenFor = async (method: string, path: string, by: string, body: object) => {
    const before = taken
    const { status } = await app.handle(requestOf(method, path, { key: by, body }))
    return { status, taken: taken - before }
  }
  for (const [count, turns] of [
    [100, 1],
    [1, 0],
  ] as const) {
    const rules = rulesOf(count)
    const { nonce } = await kit.create()
    const authorize = await takenFor('POST', '/sessions/authorize', key, { nonce, rules })
    expect(authorize).toEqual({ status: 200, taken: turns })
    const named = { name: 'changed', rules }
    const update = await takenFor('PUT', `/applications/${id}`, vault.managementKey, named)
    expect(update).toEqual({ status: 200, taken: turns })
  }
})
