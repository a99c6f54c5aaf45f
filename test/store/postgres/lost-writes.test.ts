/**
 * Commits that a database has answered and does not have: its administrator dropped them, or put
 * back what was before. The vault that wrote them says so at its next write.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Change } from '../../../src/store/contract.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere } from '../../support/postgres.ts'
import { insertOf, logOf, replaceOf, written } from '../rows.ts'
import { sumFindings, sumSealer } from '../sums.ts'
import { administratorOf, never, type Administrator } from './administrator.ts'
import { openAt, patient } from './subject.ts'

const hourMs = 60 * 60 * 1_000
const rowTables = ['rows', 'uniques', 'recent']

/** A vault that has made a row, and whose tables of then are kept. */
async function makeUsed() {
  const folder = temporaryFolder()
  let [told, laterMs] = [0, 0]
  const store = await openAt(folder, {
    // Read once, so that both clocks may be moved.
    bounds: { ...patient, clockMs: hourMs },
    foldRows: never,
    wallMs: () => Date.now() + laterMs,
    elapsedMs: () => performance.now() + laterMs,
    onLoss: () => void (told += 1),
  })
  store.keepSum(sumSealer)
  await written(store, insertOf({ uniques: [1] }), logOf(1))
  const administrator = await administratorOf(folder)
  await administrator.keep()
  return {
    store,
    administrator,
    told: () => told,
    wait: (ms: number) => void (laterMs += ms),
  }
}

/** Undoes the second commit, which has appended one entry. */
async function drop({ run, putAllBack }: Administrator): Promise<void> {
  await putAllBack(...rowTables, 'sums')
  await run('DELETE FROM @log WHERE seq = 1')
  await run('UPDATE @log_range SET next_seq = 1')
}

const nexts: readonly (readonly [string, readonly Change[]])[] = [
  ['inserts', [insertOf({ uniques: [8] })]],
  ['logs', [logOf(8)]],
  ['changes a row', [replaceOf(1, { uniques: [1], version: 2 })]],
]

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a commit that a database answered and does not have', () => {
  test.each(nexts)('is told once by the next write, which %s', async (_, next) => {
    const { store, administrator, told } = await makeUsed()
    await written(store, insertOf({ uniques: [2] }), logOf(2))
    await drop(administrator)
    expect([await sumFindings(store), told()]).toEqual([[], 0])
    await written(store, ...next)
    expect(told()).toBe(1)
    await written(store, insertOf({ uniques: [9] }))
    expect([await sumFindings(store), told()]).toEqual([[], 1])
    await administrator.keep()
    await written(store, insertOf({ uniques: [10] }))
    await administrator.putAllBack(...rowTables, 'sums')
    await written(store, insertOf({ uniques: [11] }))
    expect(told()).toBe(2)
    await store.close()
  })

  test('is told also without the receipt of its writer, and without its part', async () => {
    for (const gone of [['receipts'], ['receipts', 'sums']]) {
      const { store, administrator, told } = await makeUsed()
      await written(store, insertOf({ uniques: [2] }), logOf(2))
      await drop(administrator)
      for (const table of gone) await administrator.run(`DELETE FROM @${table}`)
      await written(store, insertOf({ uniques: [3] }))
      expect([gone, told()]).toEqual([gone, 1])
      await store.close()
    }
  })

  test('is not told of a writer that begins anew, as after a day without work', async () => {
    const { store, administrator, told, wait } = await makeUsed()
    await administrator.run('DELETE FROM @receipts')
    await written(store, insertOf({ uniques: [2] }))
    wait(13 * hourMs)
    for (const table of ['receipts', 'sums']) await administrator.run(`DELETE FROM @${table}`)
    await written(store, insertOf({ uniques: [3] }))
    expect(told()).toBe(0)
    wait(13 * hourMs)
    await administrator.run('DELETE FROM @sums')
    await written(store, insertOf({ uniques: [4] }))
    expect(told()).toBe(1)
    await store.close()
  })
})
