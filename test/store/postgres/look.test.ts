/**
 * Look-ups that go together: each caller has the answer of its own unique.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openPool, type Cells } from '../../../src/store/postgres/pool.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { expectFault, inserted, uniqueOf } from '../rows.ts'
import { lookerBy, openAt, tablesAt } from './subject.ts'

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('look-ups at once', () => {
  test('where a unique stands twice, its caller is told so, and no other one', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    const pool = openPool((await sharedPostgres()).address('public'), 1)
    const [first, second] = [
      await inserted(store, { uniques: [1] }),
      await inserted(store, { uniques: [2] }),
    ]
    const { uniques } = tablesAt(folder)
    await pool.query(`ALTER TABLE ${uniques} DROP CONSTRAINT uniques_pkey`)
    await pool.query(`INSERT INTO ${uniques} SELECT * FROM ${uniques} WHERE ordinal = ${first}`)
    const [twice, once, none, generation] = await Promise.allSettled([
      store.find(uniqueOf(1)),
      store.find(uniqueOf(2)),
      store.find(uniqueOf(3)),
      store.generation(),
    ])
    expect(twice).toMatchObject({ reason: { kind: 'storage_corrupt' } })
    expect(once).toMatchObject({ value: { ordinal: second } })
    expect(none).toEqual({ status: 'fulfilled', value: undefined })
    expect(generation).toEqual({ status: 'fulfilled', value: 0 })
    await Promise.all([store.close(), pool.close()])
  })

  test('an answer that leaves one out is damage, not an absence', async () => {
    const answer: Cells[] = [[0, null, null, null, 2]]
    const looker = lookerBy(() => Promise.resolve(answer))
    const [one, two] = [looker.find(uniqueOf(1)), looker.find(uniqueOf(2))]
    await expectFault(one, 'storage_corrupt')
    expect(await two).toBeUndefined()
  })
})
