/**
 * The time of the database, whose looks may wait long for an answer.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { defaultTimeouts } from '../../../src/store/postgres/timeouts.ts'
import { closerOf, openDatabaseClock } from '../../../src/store/postgres/database-clock.ts'
import type { Pool } from '../../../src/store/postgres/pool.ts'
import { tablesIn } from '../../../src/store/postgres/schema.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { machine, makeTablesIn } from './subject.ts'

describe('of two readings', () => {
  const at = (elapsedMs: number, theirMs: number, errorMs: number) => ({
    elapsedMs,
    theirMs,
    errorMs,
  })
  const known = at(1_000, 50_000, 3)

  test('the closer one counts, whichever came first', () => {
    const late = at(2_000, 51_600, 601)
    expect(closerOf(known, late)).toBe(known)
    const closer = at(2_000, 51_001, 2)
    expect(closerOf(known, closer)).toBe(closer)
  })

  test('an older one counts for less, as clocks drift', () => {
    const [soon, later] = [at(2_000, 51_000, 6), at(11_000, 60_000, 6)]
    expect(closerOf(known, soon)).toBe(known)
    expect(closerOf(known, later)).toBe(later)
  })

  test('one that contradicts the other counts, however far off it may be', () => {
    const set = at(2_000, 52_000, 601)
    expect(closerOf(known, set)).toBe(set)
    const back = at(2_000, 50_000, 601)
    expect(closerOf(known, back)).toBe(back)
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('while looks wait for a connection', () => {
  const heldUpMs = 800

  test('no time ahead of the database is told', async () => {
    const address = (await sharedPostgres()).address(nextSchema())
    const pool = await makeTablesIn(address)
    let isHeldUp = false
    let looks = 0
    const slow: Pool = {
      ...pool,
      async query(...all) {
        if (isHeldUp) await Bun.sleep(heldUpMs)
        looks += 1
        return pool.query(...all)
      },
    }
    const clock = await openDatabaseClock({
      pool: slow,
      writer: slow,
      tables: tablesIn(address.schema),
      ...machine,
      onSkew: () => {},
      bounds: { ...defaultTimeouts, clockMs: 20 },
    })
    while (looks < 5) await Bun.sleep(5)
    isHeldUp = true
    for (const from = looks; looks < from + 4;) {
      await Bun.sleep(20)
      // Both are of this machine.
      expect(clock.wallMs() - Date.now()).toBeLessThan(heldUpMs / 2)
    }
    await clock.close()
    await pool.close()
  }, 300_000)
})
