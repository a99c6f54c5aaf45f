/**
 * The index of the audit log in PostgreSQL: entries are found by it and behind it as by sight, also
 * when some were removed.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { buckets, chunkBucketKey } from '../../src/audit/index-format.ts'
import { indexedBelow, indexNext } from '../../src/audit/search-index.ts'
import { logChunkEntries, logSliceEntries } from '../../src/limits/work-limits.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  compare,
  indexHalf,
  onLog,
  reader,
  removeBelow,
  type Log,
} from '../support/log-questions.ts'
import { isPostgresThere } from '../support/postgres.ts'
import { openAt } from '../store/postgres/subject.ts'

const onDatabase = (
  count: number,
  run: (log: Log) => Promise<void>,
  change?: Parameters<typeof onLog>[2],
  first = 0,
) => onLog(count, run, change, first, () => openAt(temporaryFolder()))
/** Few: a log without an index is read entry by entry. */
const ask = (log: Log, from = 0) => compare(log, from, 4)

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('entries of a log in PostgreSQL are found as by sight', () => {
  test('without an index, with one that is behind, and at its end', () =>
    onDatabase(2 * logSliceEntries, async log => {
      await ask(log)
      expect(await indexNext(reader(log.store))).toBe(true)
      expect(await indexedBelow(log.store)).toBe(logSliceEntries)
      await ask(log)
      expect(await indexNext(reader(log.store))).toBe(true)
      expect(await indexNext(reader(log.store))).toBe(false)
      await ask(log)
    }))

  test('while a slice is being written, and counted once', () =>
    onDatabase(
      logSliceEntries + 10,
      async log => {
        await indexHalf(log.store)
        await ask(log)
        expect(await indexNext(reader(log.store))).toBe(true)
        await ask(log)
      },
      // More values than one write takes.
      (_, i) => ({ keyId: `key-${i}` }),
    ))

  test('but for those that were removed, also before they were indexed', () =>
    onDatabase(3 * logSliceEntries, async log => {
      expect(await indexNext(reader(log.store))).toBe(true)
      await ask(log, await removeBelow(log.store, logSliceEntries - 200))
      const from = await removeBelow(log.store, 2 * logSliceEntries + 100)
      await ask(log, from)
      while (await indexNext(reader(log.store)));
      await ask(log, from)
    }))

  test('on both sides of the border between two chunks', () =>
    onDatabase(
      2_000,
      async log => {
        while (await indexNext(reader(log.store)));
        expect(await indexedBelow(log.store)).toBe(logChunkEntries)
        const behind = Uint8Array.of(...chunkBucketKey(buckets - 1, 0), 0)
        const wholes = await log.store.derived(chunkBucketKey(0, 0), behind, logChunkEntries)
        expect(wholes).toHaveLength(buckets)
        await ask(log, log.first)
      },
      undefined,
      logChunkEntries - 1_000,
    ))
})
