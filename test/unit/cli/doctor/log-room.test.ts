/**
 * The room of the audit log, as `coffer doctor` estimates it.
 * @module
 */
import { expect, test } from 'bun:test'
import { append, entryOf, reader, startMs, upTo } from '../../../support/log-questions.ts'
import { indexNext } from '../../../../src/audit/search-index.ts'
import { readLogRoom, roomFinding } from '../../../../src/cli/doctor/log-room.ts'
import { logSliceEntries } from '../../../../src/limits/work-limits.ts'
import { openLmdbStore } from '../../../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../../../support/folders.ts'

const minuteMs = 60_000
const room = { bytes: 300_000_000, entries: 1_000_000, entriesPerDay: 10_000 }

test('the room of a log is what it takes, and the rate of its newest entries', async () => {
  const store = await openLmdbStore({ path: temporaryFolder() })
  const count = logSliceEntries + 100
  const entries = upTo(count).map(i => ({ ...entryOf('one'), atMs: startMs + i * minuteMs }))
  await append(store, entries, [100])
  expect(await readLogRoom(store)).toMatchObject({ entries: count, entriesPerDay: undefined })
  expect(await indexNext(reader(store))).toBe(true)
  const { bytes, entriesPerDay = 0 } = await readLogRoom(store)
  expect(bytes).toBeGreaterThan(count * 100)
  expect(Math.abs(entriesPerDay - 1_440)).toBeLessThan(2)
  await store.close()
})

test.each([
  ['without a bound', undefined, 'note', '300 bytes each, 10,000 a day: 1,200 MB in 400 days'],
  ['far below its bound', 2_000_000_000, 'note', '1,200 MB in 400 days'],
  ['that will meet its bound', 600_000_000, 'note', 'in 400 days, and the bound in 100 days'],
  ['at 80 % of its bound', 375_000_000, 'warning', '80 % of the bound'],
  ['just below 80 %', 375_000_500, 'note', 'the bound in 25 days'],
  ['above its bound', 100_000_000, 'warning', '300 % of the bound'],
] as const)('a log %s', (_, bytes, level, text) => {
  const budget = bytes === undefined ? undefined : { bytes, name: 'the bound' }
  const finding = roomFinding(room, 400, budget)
  const told = { level, about: 'audit log', text: expect.stringContaining(text) as string }
  expect(finding).toMatchObject(told)
})

test('a log with few entries', () => {
  const few = { bytes: 9, entries: 0, entriesPerDay: undefined }
  expect(roomFinding(few, 400, { bytes: 1_000, name: 'the bound' })).toBeUndefined()
})
