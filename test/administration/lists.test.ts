/**
 * Lists of an operator, of any length.
 * @module
 */
import { theOperator } from '../../src/vault/operator/operator-operation.ts'
import { expect, test } from 'bun:test'
import { applicationOperations } from '../../src/vault/operator/app-operations.ts'
import { sessionOperations } from '../../src/vault/operator/session-operations.ts'
import { openKeyring } from '../../src/vault/keyring/live-keyring.ts'
import { pageSizeMax } from '../../src/limits/limits.ts'
import type { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { masterKeyOf, openTestVault } from '../support/vault.ts'

test('others have their turn between two pages of sessions, and of applications', async () => {
  const vault = await openTestVault()
  const key = await vault.application({ type: 'public', permissions: ['token:create'] })
  for (let count = 0; count <= pageSizeMax; count += 1) {
    expect((await vault.ask('POST', '/sessions', { key, body: {} })).status).toBe(201)
    await vault.application({ type: 'public', permissions: ['token:create'] })
  }
  let turns = 0
  const next = async (): Promise<void> => void (turns += 1)
  const deps = { ...vault.deps, turns: { ...vault.deps.turns, next } }
  const store = deps.store as LmdbStore
  const keyring = await openKeyring(store, masterKeyOf(1))
  const administered = {
    deps,
    store,
    keyring,
    clockAheadMs: () => 0,
    isShared: false,
    replaceMasterKey: async () => {},
  }
  const list = { ...sessionOperations(administered), ...applicationOperations(administered) }
  const listed = await list['session-list']?.run({}, () => {}, theOperator)
  expect(listed?.['sessions']).toHaveLength(pageSizeMax + 1)
  // At least one for each page of them, and more where they are long.
  expect(turns).toBeGreaterThanOrEqual(2)
  turns = 0
  const apps = await list['app-list']?.run({}, () => {}, theOperator)
  expect(apps?.['applications']).toHaveLength(pageSizeMax + 3)
  expect(turns).toBeGreaterThanOrEqual(2)
})
