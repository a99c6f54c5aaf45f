/**
 * The log of a database that loses its end, as a failover may: checkpoints and the search index are
 * of the entries that are there.
 * @module
 */
import { expect, test } from 'bun:test'
import { unfoundEntries } from '../../src/audit/check-index.ts'
import { readCheckpoint } from '../../src/audit/checkpoint.ts'
import { makeCheckpoints } from '../../src/audit/checkpoints.ts'
import { frontierKey, indexMarkKey, treeMarkKey } from '../../src/audit/derived-keys.ts'
import { progressKey } from '../../src/audit/index-format.ts'
import { indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import { equalBytes } from '../../src/lib/bytes.ts'
import { logSliceEntries } from '../../src/limits/work-limits.ts'
import type { Store } from '../../src/store/contract.ts'
import { openAt, tablesAt } from '../store/postgres/subject.ts'
import { rootOfLog } from '../support/checkpoints.ts'
import { isPostgresThere, sharedPostgres } from '../support/postgres.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const openOverPostgres = (seed: number) => openTestVault(seed, {}, folder => openAt(folder))

async function fill({ deps, clock }: TestVault, operation: string, count: number): Promise<void> {
  const entry = { atMs: clock.now(), operation, entityIds: [], result: 200 }
  await Promise.all(Array.from({ length: count }, () => deps.audit.record(entry)))
  await deps.audit.flush()
}

/** Copies the log. @returns what puts the copy in its place, as a standby that was behind has it */
async function copyLog({ folder }: TestVault): Promise<() => Promise<void>> {
  const { sql } = await sharedPostgres()
  const { log, logRange, derived } = tablesAt(folder)
  await sql.unsafe(`CREATE TABLE ${logRange}_kept AS SELECT next_seq FROM ${logRange};
    CREATE TABLE ${derived}_kept AS SELECT * FROM ${derived}`)
  return async () => {
    await sql.unsafe(`DELETE FROM ${log} WHERE seq >= (SELECT next_seq FROM ${logRange}_kept);
      UPDATE ${logRange} SET next_seq = (SELECT next_seq FROM ${logRange}_kept);
      DELETE FROM ${derived};
      INSERT INTO ${derived} SELECT * FROM ${derived}_kept`)
  }
}

/** A store that does something once, before the first write of a value under that key. */
function before({ store }: TestVault['deps'], key: Uint8Array, act: () => Promise<void>): Store {
  let isDone = false
  return {
    ...store,
    async write(changes) {
      const isIt = changes.some(change => 'derived' in change && equalBytes(change.derived, key))
      if (isIt && !isDone) {
        isDone = true
        await act()
      }
      return store.write(changes)
    },
  }
}

// .ci/run installs it.
test.skipIf(!isPostgresThere).each([
  ['before the signer looks again', treeMarkKey],
  ['before the checkpoint is written', frontierKey],
])('entries that were lost %s are in no checkpoint', async (_, key) => {
  const vault = await openOverPostgres(462)
  let kept: Uint8Array | undefined
  const place = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes) }
  const { next: sign } = makeCheckpoints({ ...vault.deps, place })
  while ((await sign()) !== undefined) await vault.deps.audit.flush()
  const lose = await copyLog(vault)
  await fill(vault, 'lost', 3)
  const store = before(vault.deps, key, async () => {
    await lose()
    await fill(vault, 'other', 5)
  })
  const checkpoints = makeCheckpoints({ ...vault.deps, store, place })
  expect(await checkpoints.next()).toBeUndefined()
  const signed = await checkpoints.next()
  const { next } = await store.logRange()
  expect(signed?.size).toBe(next)
  const head = readCheckpoint(String(signed?.note.split('\n\n')[0]) + '\n')
  expect(head?.root).toEqual(await rootOfLog(vault, next))
})

// .ci/run installs it.
test.skipIf(!isPostgresThere).each([
  ['before the indexer looks again', indexMarkKey],
  ['before the slice is written', progressKey],
])('entries that were lost %s are not in the index', async (_, key) => {
  const vault = await openOverPostgres(463)
  const lose = await copyLog(vault)
  await fill(vault, 'lost', logSliceEntries)
  const store = before(vault.deps, key, async () => {
    await lose()
    await fill(vault, 'other', logSliceEntries)
  })
  const indexer = { ...vault.deps, store }
  await indexNext(indexer)
  expect(await indexedBelow(store)).toBe(0)
  while (await indexNext(indexer));
  expect(await indexedBelow(store)).toBe(logSliceEntries)
  expect(await Array.fromAsync(unfoundEntries(indexer))).toEqual([])
})
