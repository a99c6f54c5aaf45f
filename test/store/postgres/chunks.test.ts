import { describe, expect, test } from 'bun:test'
import { decodePlaceSet, placesOf } from '../../../src/store/core/place-set.ts'
import { openPool, type DatabaseSession } from '../../../src/store/postgres/pool.ts'
import { makeTables, tablesIn } from '../../../src/store/postgres/schema.ts'
import {
  changeChunks,
  changePlace,
  type ChunkChanges,
} from '../../../src/store/postgres/write/term-chunks.ts'
import { keyOf } from '../../../src/store/core/row.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { termOf } from '../rows.ts'

const term = termOf(7)
const msMax = 300_000

function entering(ordinal: number): ChunkChanges {
  const moves: ChunkChanges = new Map()
  changePlace(moves, keyOf(term), ordinal, true)
  return moves
}

async function openTables() {
  const address = (await sharedPostgres()).address(nextSchema())
  const tables = tablesIn(address.schema)
  const pool = openPool(address, 3)
  await makeTables(pool, tables, msMax)
  const put = async ({ send }: DatabaseSession, ordinal: number): Promise<void> => {
    await send('BEGIN')
    await Promise.all(
      await changeChunks({ send }, tables, { chunks: entering(ordinal), recent: [] }),
    )
  }
  /** @param before awaited before the COMMIT */
  const putOne = (ordinal: number, before = async (): Promise<void> => {}): Promise<void> =>
    pool.hold(msMax, async session => {
      await put(session, ordinal)
      await before()
      await session.send('COMMIT')
    })
  const places = async (): Promise<number[]> => {
    const [row] = await pool.query(`SELECT places FROM ${tables.chunks}`)
    const bytes = row?.[0]
    return bytes instanceof Uint8Array ? [...placesOf(decodePlaceSet(bytes))] : []
  }
  return { pool, putOne, places }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('two transactions that put places of one term', () => {
  test('lose none of them where neither found the term', async () => {
    const { pool, putOne, places } = await openTables()
    const isFirstPut = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const first = putOne(3, () => {
      isFirstPut.resolve()
      return mayCommit.promise
    })
    await isFirstPut.promise
    const second = putOne(5)
    // It waits for the first one, whose end it cannot know.
    mayCommit.resolve()
    await first
    const outcome = await second.then(
      () => 'landed',
      (error: unknown) => error,
    )
    if (outcome === 'landed') expect(await places()).toEqual([3, 5])
    else {
      expect(outcome).toMatchObject({ kind: 'again' })
      expect(await places()).toEqual([3])
      await putOne(5)
      expect(await places()).toEqual([3, 5])
    }
    await pool.close()
  })

  test('wait for each other where the term is there', async () => {
    const { pool, putOne, places } = await openTables()
    await putOne(1)
    await Promise.all([putOne(2), putOne(4)])
    expect(await places()).toEqual([1, 2, 4])
    await pool.close()
  })
})
