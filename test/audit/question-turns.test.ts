/**
 * Questions to the audit log that open much of it: they run in the turns of long work.
 */
import { expect, test } from 'bun:test'
import { makeCheckpoints } from '../../src/audit/checkpoints.ts'
import type { Deps } from '../../src/deps.ts'
import { leafBundlesRead } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { until } from '../support/until.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

const bundles = 20

/** Returns the deps of a vault with as many bundles, in which each piece of work seems long. */
async function openSlow() {
  const vault = await openTestVault(720)
  for (let at = 0; at < bundles; at += 1) {
    const { tenantId } = vault
    const entry = { atMs: 0, tenantId, operation: 'getToken', entityIds: [], result: 200 }
    await vault.deps.store.write([vault.deps.audit.changeOf(entry)])
  }
  const seen = { turns: 0, bundlesAtOnce: 0, reads: 0 }
  let ms = 0
  const deps: Deps = {
    ...vault.deps,
    store: {
      ...vault.deps.store,
      bundles(range, limit) {
        seen.reads += 1
        seen.bundlesAtOnce = Math.max(seen.bundlesAtOnce, limit)
        return vault.deps.store.bundles(range, limit)
      },
    },
    elapsedMs: () => (ms += 1_000),
    turns: {
      ...vault.deps.turns,
      async next() {
        seen.turns += 1
      },
    },
  }
  return { vault, deps, seen }
}

const ask = ({ vault, deps }: Awaited<ReturnType<typeof openSlow>>, path: string, init = {}) => {
  const asked = requestOf('GET', path, { key: vault.managementKey })
  return buildApp(deps).handle(new Request(asked, init))
}

// proves E10.25
test.each(['page=1', 'start='])('one with %s takes a turn after each bundle', async list => {
  const slow = await openSlow()
  expect((await ask(slow, `/logs?trace_id=none&${list}`)).status).toBe(200)
  expect(slow.seen.turns).toBeGreaterThanOrEqual(bundles)
})

// proves E10.25
test('one that nobody waits for ends at its next turn', async () => {
  const slow = await openSlow()
  const gone = { signal: AbortSignal.abort() }
  expect((await ask(slow, '/logs?trace_id=none&page=1', gone)).status).toBe(408)
  expect(slow.seen.turns).toBe(1)
})

// proves E10.26
test('a proof reads few bundles at once, and takes turns', async () => {
  const slow = await openSlow()
  const { vault, seen } = slow
  let kept: Uint8Array | undefined
  const place = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes) }
  const checkpoints = makeCheckpoints({ ...vault.deps, place })
  await vault.deps.audit.flush()
  while ((await checkpoints.next()) !== undefined) await vault.deps.audit.flush()
  expect((await ask(slow, '/logs/3/proof')).status).toBe(200)
  expect(seen.bundlesAtOnce).toBeLessThanOrEqual(leafBundlesRead)
  expect(seen.turns).toBeGreaterThan(0)
})

// proves E10.25, E10.26
test.each(['/logs?page=1', '/logs?start=', '/logs/3/proof', '/events'])(
  '%s opens nothing before its first turn',
  async path => {
    const slow = await openSlow()
    const { seen } = slow
    const turn = Promise.withResolvers<void>()
    const next = async (): Promise<void> => {
      seen.turns += 1
      await turn.promise
    }
    const turns = { ...slow.deps.turns, next }
    const asked = ask({ ...slow, deps: { ...slow.deps, turns } }, path)
    await until(() => seen.turns + seen.reads > 0)
    expect(seen.reads).toBe(0)
    turn.resolve()
    await asked
    expect(seen.reads).toBeGreaterThan(0)
  },
)
