/**
 * Questions to the audit log that open much of it: they run in the turns of long work.
 */
import { expect, test } from 'bun:test'
import type { Deps } from '../../src/deps.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

const bundles = 20

test.each(['page=1', 'start='])('one with %s takes a turn after each bundle', async list => {
  const vault = await openTestVault(720)
  for (let at = 0; at < bundles; at += 1) {
    const { tenantId } = vault
    const entry = { atMs: 0, tenantId, operation: 'getToken', entityIds: [], result: 200 }
    await vault.deps.store.write([vault.deps.audit.changeOf(entry)])
  }
  let [ms, turns] = [0, 0]
  const deps: Deps = {
    ...vault.deps,
    // Each piece seems long.
    elapsedMs: () => (ms += 1_000),
    turns: {
      ...vault.deps.turns,
      async next() {
        turns += 1
      },
    },
  }
  const asked = requestOf('GET', `/logs?trace_id=none&${list}`, { key: vault.managementKey })
  expect((await buildApp(deps).handle(asked)).status).toBe(200)
  expect(turns).toBeGreaterThanOrEqual(bundles)
})
