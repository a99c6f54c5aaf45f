/**
 * The index of the log over a database that loses values of it while a slice is written, as a
 * failover may: no entry is left out.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { unfoundEntries } from '../../src/audit/check-index.ts'
import { indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import { logSliceEntries } from '../../src/limits/work-limits.ts'
import type { Store } from '../../src/store/contract.ts'
import { openAt, tablesAt } from '../store/postgres/subject.ts'
import { temporaryFolder } from '../support/folders.ts'
import { append, entryOf, reader, upTo } from '../support/log-questions.ts'
import { isPostgresThere, sharedPostgres } from '../support/postgres.ts'

/** A database that can lose what was written behind a copy of its log. */
async function losing(folder: string) {
  const { sql } = await sharedPostgres()
  const { log, logRange, derived } = tablesAt(folder)
  const run = (text: string) => sql.unsafe(text)
  return {
    copy: () =>
      run(`DROP TABLE IF EXISTS ${derived}_kept, ${logRange}_kept;
        CREATE TABLE ${derived}_kept AS SELECT * FROM ${derived};
        CREATE TABLE ${logRange}_kept AS SELECT next_seq FROM ${logRange}`),
    lose: () =>
      run(`DELETE FROM ${log} WHERE seq >= (SELECT next_seq FROM ${logRange}_kept);
        UPDATE ${logRange} SET next_seq = (SELECT next_seq FROM ${logRange}_kept);
        DELETE FROM ${derived}; INSERT INTO ${derived} SELECT * FROM ${derived}_kept`),
  }
}

/** The same store; something happens before one of its next writes. */
function interrupted(store: Store, before: (write: number) => Promise<unknown>) {
  let writes = 0
  const write: Store['write'] = async changes => {
    writes += 1
    await before(writes)
    return store.write(changes)
  }
  return { store: { ...store, write }, writes: () => writes }
}

/** Entries whose values of the index are more than one write takes. */
const manyValued = (name: string, count: number) =>
  upTo(count).map(i => ({ ...entryOf(`${name}-${i}`), keyId: `${name}-${i}` }))

async function openLog() {
  const folder = temporaryFolder()
  const store = await openAt(folder)
  const index = (by: Store) => indexNext(reader(by))
  return {
    store,
    ...(await losing(folder)),
    add: (name: string, count: number) => append(store, manyValued(name, count), [100]),
    index,
    /** Indexes what there is, and expects all of it to be found. */
    async expectFound(by: Store, below: number) {
      while (await index(by));
      expect(await indexedBelow(store)).toBe(below)
      const unfound: number[] = []
      for await (const sequence of unfoundEntries(reader(store))) unfound.push(sequence)
      expect(unfound).toEqual([])
    },
  }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('the index of a log', () => {
  test.each([1, 2, 3])(
    'is whole if write %d of a slice was lost before the next',
    async lostWrite => {
      const { store, copy, lose, add, expectFound } = await openLog()
      await add('kept', logSliceEntries)
      const held = interrupted(store, async write => {
        if (write === lostWrite) await copy()
        if (write === lostWrite + 1) await lose()
      })
      await expectFound(held.store, logSliceEntries)
      expect(held.writes()).toBeGreaterThan(lostWrite)
    },
    300_000,
  )

  test('has no gap if the slice before was lost', async () => {
    const { store, copy, lose, add, index, expectFound } = await openLog()
    await add('kept', 2 * logSliceEntries)
    await copy()
    expect(await index(store)).toBe(true)
    const held = interrupted(store, async write => {
      if (write === 1) await lose()
    })
    await expectFound(held.store, 2 * logSliceEntries)
  }, 300_000)
})
