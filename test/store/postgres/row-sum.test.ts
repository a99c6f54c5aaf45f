/**
 * The sum over all rows of a database, of which each writer keeps a part: what its administrator
 * puts back, takes away or doubles is found, and nothing in a database that was only used.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { hexOf } from '../../../src/lib/bytes.ts'
import type { SumFinding } from '../../../src/store/core/check-sum.ts'
import { emptySum, sealSum, sumAfter } from '../../../src/store/core/row-sum.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere } from '../../support/postgres.ts'
import { inserted, insertOf, logOf, replaceOf, written } from '../rows.ts'
import { expectSum, sumFindings, sumSealer } from '../sums.ts'
import { administratorOf, never, openSummed, type Administrator } from './administrator.ts'
import { openAt, patient } from './subject.ts'

const [changed, removed, stays, late] = [1, 2, 3, 4]

/**
 * One vault has made `changed`, `removed` and `stays`, and ended; tables of then are kept. Another
 * one has changed and removed them since, and made `late`.
 */
async function makeChanged() {
  const folder = temporaryFolder()
  const first = await openSummed(folder)
  for (const unique of [changed, removed, stays]) {
    await written(first, insertOf({ uniques: [unique], terms: [7] }), logOf(unique))
  }
  await first.close()
  const administrator = await administratorOf(folder)
  await administrator.keep()
  const store = await openSummed(folder)
  await written(store, replaceOf(changed, { uniques: [changed], terms: [7], version: 2 }), logOf(5))
  await administrator.run('CREATE TABLE @earlier_sums AS SELECT * FROM @sums')
  await written(store, { remove: removed }, logOf(6))
  await written(store, insertOf({ uniques: [late], terms: [7] }), logOf(7))
  expect([await store.integrity(), await sumFindings(store)]).toEqual([[], []])
  return { store, folder, administrator }
}

type Tampering = readonly [
  says: string,
  change: (administrator: Administrator) => Promise<unknown>,
  finds: readonly SumFinding[],
]

const taken = (table: string) => `DELETE FROM @${table} WHERE ordinal = ${stays}`

/** Rows and index entries agree after each. */
const ofRows: readonly Tampering[] = [
  ['a changed row is put back', ({ putBack }) => putBack(changed), ['rows_differ']],
  ['a removed row is put back', ({ putBack }) => putBack(removed), ['rows_differ']],
  ['a new row is gone', ({ putBack }) => putBack(late), ['rows_differ']],
  [
    'a row is gone',
    async ({ run }) => {
      for (const table of ['rows', 'uniques', 'recent']) await run(taken(table))
    },
    ['rows_differ'],
  ],
  [
    'all rows are put back',
    ({ putAllBack }) => putAllBack('rows', 'uniques', 'recent'),
    ['rows_differ'],
  ],
  [
    'all rows are put back with the parts of then',
    ({ putAllBack }) => putAllBack('rows', 'uniques', 'recent', 'sums', 'receipts'),
    ['rows_differ', 'sum_outdated'],
  ],
]

const newest = `(SELECT writer FROM @sums EXCEPT SELECT writer FROM @kept_sums)`

const ofParts: readonly Tampering[] = [
  ['all parts are gone', ({ run }) => run('DELETE FROM @sums'), ['sum_missing']],
  [
    'the part of one writer is gone',
    ({ run }) => run(`DELETE FROM @sums WHERE writer IN ${newest}`),
    ['rows_differ', 'sum_outdated'],
  ],
  [
    'the part of one writer is an earlier one',
    ({ run }) =>
      run('UPDATE @sums s SET sealed = e.sealed FROM @earlier_sums e WHERE e.writer = s.writer'),
    ['rows_differ', 'sum_outdated'],
  ],
  [
    'a writer has the part of another one',
    ({ run }) =>
      run(`UPDATE @sums SET sealed = (SELECT sealed FROM @sums WHERE writer IN ${newest})`),
    ['sum_damaged'],
  ],
  [
    'two writers have each the part of the other',
    ({ run }) => run('UPDATE @sums s SET sealed = (SELECT sealed FROM @sums o WHERE o <> s)'),
    ['sum_damaged'],
  ],
  [
    'a part is there twice',
    ({ run }) => run(`INSERT INTO @sums SELECT 'another', sealed FROM @sums LIMIT 1`),
    ['sum_damaged'],
  ],
  [
    'a bit of a part is another one',
    ({ run }) =>
      run(`UPDATE @sums SET sealed = set_bit(sealed, 300, 1 - get_bit(sealed, 300))
WHERE writer IN ${newest}`),
    ['sum_damaged'],
  ],
]

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a database that its administrator changed', () => {
  // proves S110
  test.each(ofRows)('is found by the sum alone where %s', async (_, change, finds) => {
    const { store, administrator } = await makeChanged()
    await change(administrator)
    expect([await store.integrity(), await sumFindings(store)]).toEqual([[], [...finds]])
    await store.close()
  })

  // proves S110
  test('is found where a row is there twice', async () => {
    const { store, administrator } = await makeChanged()
    const columns = 'ordinal + 100, version, deadline_ms, value'
    const twice = `SELECT ${columns} FROM @rows WHERE ordinal = ${stays}`
    await administrator.run(`INSERT INTO @rows ${twice}`)
    expect(await sumFindings(store)).toEqual(['rows_differ'])
    await store.close()
  })

  // proves S111
  test.each(ofParts)('is found where %s', async (_, change, finds) => {
    const { store, administrator } = await makeChanged()
    await change(administrator)
    expect(await sumFindings(store)).toEqual([...finds])
    await store.close()
  })

  test.each(ofRows.filter(([, , { length }]) => length === 1))(
    'stays found, whatever is written, where %s',
    async (_, change) => {
      const { store, folder, administrator } = await makeChanged()
      await change(administrator)
      await written(store, insertOf({ uniques: [60] }), logOf(8))
      await store.close()
      await administrator.run('DELETE FROM @receipts')
      const next = await openSummed(folder)
      await written(next, insertOf({ uniques: [61] }), logOf(9))
      expect(await sumFindings(next)).toEqual(['rows_differ'])
      await next.close()
    },
  )

  test('is not told as sound because a writer goes on from an earlier part', async () => {
    const { store, administrator } = await makeChanged()
    await administrator.keep()
    await written(store, replaceOf(stays, { uniques: [stays], version: 2 }), logOf(8))
    await administrator.putBack(stays)
    await administrator.putAllBack('sums')
    expect(await sumFindings(store)).toEqual(['rows_differ', 'sum_outdated'])
    for (let number = 70; number < 73; number += 1) {
      await written(store, insertOf({ uniques: [number] }), logOf(number))
      expect(await sumFindings(store)).toEqual(['rows_differ', 'sum_outdated'])
    }
    await store.close()
  })
})

/**
 * A vault that only logged has ended, and another one has taken over its part, which was kept; then
 * that one has removed a row. The part of before, and the row, are put back.
 */
async function makeExchanged() {
  const folder = temporaryFolder()
  const first = await openSummed(folder)
  await written(first, insertOf({ uniques: [changed] }), insertOf({ uniques: [removed] }))
  await first.close()
  const administrator = await administratorOf(folder)
  const { run } = administrator
  await run('CREATE TABLE @first AS SELECT writer FROM @sums')
  const logging = await openSummed(folder)
  await written(logging, logOf(1, 2))
  await logging.close()
  await run(
    'CREATE TABLE @logged AS SELECT * FROM @sums WHERE writer NOT IN (SELECT * FROM @first)',
  )
  await run('DELETE FROM @receipts')
  const store = await openSummed(folder)
  await written(store, logOf(2))
  await administrator.keep()
  await written(store, { remove: removed }, logOf(3, 2))
  expect(await sumFindings(store)).toEqual([])
  await administrator.putBack(removed)
  await administrator.putAllBack('sums')
  expect(await sumFindings(store)).toContain('sum_outdated')
  return { store, folder, administrator }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('parts of which each has as many entries as the other', () => {
  // proves S111
  test('do not stand for each other: one that was taken over, and one of before', async () => {
    const { store, administrator } = await makeExchanged()
    await administrator.run('INSERT INTO @sums SELECT * FROM @logged')
    expect([await store.integrity(), await sumFindings(store)]).toEqual([[], ['rows_differ']])
    await store.close()
  })

  // proves S111
  test('do not stand for entries of others that were cut off the log', async () => {
    const { store, folder, administrator } = await makeExchanged()
    const other = await openSummed(folder)
    await written(other, logOf(4, 2))
    await administrator.run('DELETE FROM @log WHERE seq = 5')
    await administrator.run('UPDATE @log_range SET next_seq = 5')
    expect([await store.integrity(), await sumFindings(store)]).toEqual([[], ['rows_differ']])
    await Promise.all([store.close(), other.close()])
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a database that was only used', () => {
  test('is sound while two vaults write at once, at any moment and afterwards', async () => {
    const folder = temporaryFolder()
    const pair = [await openSummed(folder), await openSummed(folder)]
    let isDone = false
    const writing = pair.map(async (store, at) => {
      for (let i = 0; i < 50; i += 1) {
        const unique = 1_000 * at + i
        const made = await Promise.all([
          written(store, insertOf({ uniques: [unique], terms: [at] }), logOf(i)),
          written(store, insertOf({ uniques: [unique + 100] })),
          written(store, logOf(i, 2)),
        ])
        const ordinal = made[0][0] ?? 0
        const change = replaceOf(ordinal, { uniques: [unique], terms: [5], version: 2 })
        if (i % 3 === 0) await written(store, change, logOf(i))
        if (i % 5 === 0) await written(store, { remove: ordinal }, logOf(i))
      }
    })
    const looking = (async () => {
      const reader = await openSummed(folder)
      let looks = 0
      for (; !isDone || looks === 0; looks += 1) await expectSum(reader)
      return looks
    })()
    await Promise.all(writing)
    isDone = true
    expect(await looking).toBeGreaterThan(0)
    for (const store of pair) await expectSum(store)
    const { run } = await administratorOf(folder)
    expect((await run('SELECT FROM @sums')).length).toBeGreaterThan(1)
    await Promise.all(pair.map(store => store.close()))
  }, 300_000)

  test('keeps no part of writers that have ended, once another one begins', async () => {
    const folder = temporaryFolder()
    const { run } = await (async () => {
      await (await openSummed(folder)).close()
      return administratorOf(folder)
    })()
    for (let number = 1; number < 6; number += 1) {
      const store = await openSummed(folder)
      await written(store, insertOf({ uniques: [number] }), logOf(number))
      expect((await run('SELECT FROM @sums')).length).toBe(1)
      await expectSum(store)
      await store.close()
      // As a day later.
      await run('DELETE FROM @receipts')
    }
  })

  test('leaves a part that does not open where it is, and counts on without it', async () => {
    const { store, folder, administrator } = await makeChanged()
    await store.close()
    await administrator.run('DELETE FROM @receipts')
    await administrator.run(`INSERT INTO @sums VALUES ('other', 'no part')`)
    const next = await openSummed(folder)
    await inserted(next, { uniques: [80] })
    expect(await sumFindings(next)).toEqual(['sum_damaged'])
    await administrator.run(`DELETE FROM @sums WHERE writer = 'other'`)
    await expectSum(next)
    await next.close()
  })

  test('is sound after it was put back as a whole under a vault that goes on', async () => {
    const folder = temporaryFolder()
    const store = await openSummed(folder)
    for (const unique of [1, 2]) await written(store, insertOf({ uniques: [unique] }))
    const administrator = await administratorOf(folder)
    await administrator.keep()
    await written(store, { remove: 1 }, insertOf({ uniques: [3] }))
    await inserted(store, { uniques: [4] })
    await administrator.putAllBack('rows', 'uniques', 'recent', 'sums', 'receipts')
    for (const unique of [5, 6]) await inserted(store, { uniques: [unique] })
    await expectSum(store)
    expect(await store.integrity()).toEqual([])
    await store.close()
  })

  test('is sound where the sum of a folder came along, and its entries are pruned', async () => {
    const folder = temporaryFolder()
    const loading = await openAt(folder, { bounds: patient, foldRows: never })
    const [ordinal = 0] = await written(loading, insertOf({ uniques: [1] }), logOf(1, 2))
    const [row] = await loading.rowsFrom(ordinal, 1)
    await loading.close()
    const sum = sumAfter(emptySum, { rows: [{ from: undefined, to: row }], entries: 2 }, sumSealer)
    const { run } = await administratorOf(folder)
    await run(`INSERT INTO @sums VALUES ('', '\\x${hexOf(sealSum(sumSealer, sum))}')`)
    const store = await openSummed(folder)
    await expectSum(store)
    for (const below of [0, 2, 4, 7, 7]) {
      await written(store, logOf(below, 2), ...(below > 0 ? [{ pruneLog: below }] : []))
      await expectSum(store)
    }
    expect((await store.logRange()).from).toBe(6)
    await store.close()
  })

  test('is sound while two vaults prune its log at once', async () => {
    const folder = temporaryFolder()
    const pair = [await openSummed(folder), await openSummed(folder)] as const
    for (let number = 1; number < 30; number += 1) {
      await written(pair[0], logOf(number))
      await Promise.all(
        pair.map((store, at) => written(store, logOf(number, 2), { pruneLog: 2 * number + at })),
      )
      await expectSum(pair[number % 2 === 0 ? 0 : 1])
    }
    await Promise.all(pair.map(store => store.close()))
  }, 300_000)

  test('has a sum once it is begun, over rows of before, while others write', async () => {
    const folder = temporaryFolder()
    const before = await openAt(folder, { bounds: patient, foldRows: never })
    const olds = [1, 2, 3].map(unique => insertOf({ uniques: [unique] }))
    for (const old of olds) await written(before, old, logOf(1))
    await before.close()
    const pair = [await openSummed(folder), await openSummed(folder)] as const
    await written(pair[0], { remove: 2 }, logOf(2))
    expect(await sumFindings(pair[0])).toContain('rows_differ')
    const writing = Array.from({ length: 20 }, (_, i) =>
      written(pair[0], insertOf({ uniques: [10 + i] }), logOf(i)),
    )
    await pair[1].beginSum(sumSealer)
    await Promise.all(writing)
    await expectSum(pair[1])
    await pair[1].beginSum(sumSealer)
    await expectSum(pair[0])
    await Promise.all(pair.map(store => store.close()))
  })
})
