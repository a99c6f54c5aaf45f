/**
 * Parts of the sum over all rows of writers that never learned if their group had landed.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { prepareChanges } from '../../../src/store/core/prepare-change.ts'
import type { Change } from '../../../src/store/contract.ts'
import { defaultTimeouts } from '../../../src/store/postgres/timeouts.ts'
import { openPool, type Pool } from '../../../src/store/postgres/pool.ts'
import { DatabaseError } from '../../../src/store/postgres/database-error.ts'
import { makeWriteQueue } from '../../../src/store/postgres/write/postgres-commit.ts'
import { randomBytes } from '../../../src/server/process/system.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { expectFault, insertOf, logOf, replaceOf } from '../rows.ts'
import { expectSum, sumSealer } from '../sums.ts'
import { administratorOf, openSummed } from './administrator.ts'
import { tablesAt } from './subject.ts'

/** Loses COMMITs, or the answers to them, and all behind them, while it is told to. */
function losing(pool: Pool) {
  let loses: 'before' | 'after' | undefined
  let isGone = false
  const lossy: Pool = {
    ...pool,
    hold: (ms, work) =>
      pool.hold(ms, session =>
        work({
          async send(text, parameters) {
            const isLost = loses !== undefined && text === 'COMMIT'
            if (isGone || (isLost && loses === 'before')) {
              isGone = true
              throw new DatabaseError('lost')
            }
            const answer = await session.send(text, parameters)
            if (!isLost) return answer
            isGone = true
            throw new DatabaseError('lost')
          },
        }),
      ),
  }
  return {
    lossy,
    lose(when: 'before' | 'after'): void {
      loses = when
    },
    heal(): void {
      loses = undefined
      isGone = false
    },
  }
}

const sets: readonly (readonly [string, Change[]])[] = [
  ['that went at once', [insertOf({ uniques: [2] }), logOf(2)]],
  ['that locked rows', [replaceOf(1, { uniques: [1], version: 2 }), logOf(2)]],
]

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a writer whose COMMIT was never answered', () => {
  async function makeQueue() {
    const folder = temporaryFolder()
    const store = await openSummed(folder)
    const { schema } = tablesAt(folder)
    const pool = openPool((await sharedPostgres()).address(schema), 2)
    const { lossy, lose, heal } = losing(pool)
    const bounds = { ...defaultTimeouts, writeMs: 400 }
    const queue = makeWriteQueue([
      {
        pool: lossy,
        tables: tablesAt(folder),
        newId: () => randomBytes(16),
        sealer: () => sumSealer,
        bounds,
        elapsedMs: () => performance.now(),
        // A commit that was never answered is no lost one.
        onLoss: () => expect.unreachable(),
      },
    ])
    const submit = (changes: Change[]) => queue.submit(prepareChanges(changes))
    const close = () => Promise.all([queue.close(), pool.close(), store.close()])
    return { folder, store, submit, lose, heal, close }
  }

  test.each(sets)('goes on from what landed: a group %s', async (_, set) => {
    const { folder, store, submit, lose, heal, close } = await makeQueue()
    expect(await submit([insertOf({ uniques: [1] }), logOf(1)])).toMatchObject({ ok: true })
    lose('after')
    await expectFault(submit(set), 'unavailable')
    await expectSum(store)
    expect(await store.logRange()).toEqual({ from: 0, next: 2 })
    heal()
    expect(await submit([insertOf({ uniques: [9] }), logOf(3)])).toMatchObject({ ok: true })
    await expectSum(store)
    const { run } = await administratorOf(folder)
    expect((await run('SELECT FROM @sums')).length).toBe(1)
    await close()
  })

  test.each(sets)('goes on from before where nothing landed: a group %s', async (_, set) => {
    const { folder, store, submit, lose, heal, close } = await makeQueue()
    expect(await submit([insertOf({ uniques: [1] }), logOf(1)])).toMatchObject({ ok: true })
    lose('before')
    await expectFault(submit(set), 'unavailable')
    expect(await store.logRange()).toEqual({ from: 0, next: 1 })
    heal()
    expect(await submit([...set])).toMatchObject({ ok: true })
    await expectSum(store)
    const { run } = await administratorOf(folder)
    expect((await run('SELECT FROM @sums')).length).toBe(1)
    await close()
  })
})
