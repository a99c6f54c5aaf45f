/**
 * Look-ups that go together: each caller has the answer of its own unique.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { glimpseBytes, longLookupBytesMax } from '../../../src/store/core/limits.ts'
import { defaultTimeouts } from '../../../src/store/postgres/timeouts.ts'
import { makeLookups } from '../../../src/store/postgres/lookup-batch.ts'
import { openPool, type Cells } from '../../../src/store/postgres/pool.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
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

  // proves C2.14, S45
  test('a glance at a long row is one statement, whose answer does not grow with it', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder)
    const pool = openPool((await sharedPostgres()).address('public'), 1)
    const sizes = [
      [300, 10_000],
      [300, 500_000],
      [90_000, 10],
    ] as const
    for (const [index, [record, data]] of sizes.entries()) {
      const parts = [new Uint8Array(63), new Uint8Array(record), new Uint8Array(data)]
      await inserted(store, { uniques: [index + 1], parts })
    }
    const sent: number[] = []
    const looker = makeLookups(tablesAt(folder), {
      async ask(text, parameters) {
        const answer = await pool.query(text, parameters)
        const values = answer.flat().filter(cell => cell instanceof Uint8Array)
        sent.push(values.reduce((bytes, value) => bytes + value.length, 0))
        return answer
      },
      firstOrdinal: 0,
      elapsedMs: () => performance.now(),
      bounds: defaultTimeouts,
    })
    for (const [unique, parts] of [2, 2, 1].entries()) {
      expect((await looker.glance(uniqueOf(unique + 1), 2))?.parts).toHaveLength(parts)
    }
    expect(sent).toEqual([glimpseBytes, glimpseBytes, glimpseBytes])
    expect((await looker.find(uniqueOf(3)))?.parts).toHaveLength(3)
    await Promise.all([store.close(), pool.close()])
  })

  test('a short row waits for one statement of long ones at most, of however many', async () => {
    const size = longLookupBytesMax / 2
    const sizes = new Map([...Array(5).keys()].map(number => [number + 1, size]))
    const folder = temporaryFolder()
    const store = await openAt(folder)
    for (const [unique, bytes] of [...sizes, [6, 210] as const]) {
      await inserted(store, { uniques: [unique], parts: [new Uint8Array(bytes - 200)] })
    }
    const pool = openPool((await sharedPostgres()).address('public'), 1)
    const sent: number[] = []
    const answers = Promise.withResolvers<void>()
    const looker = makeLookups(tablesAt(folder), {
      async ask(text, parameters) {
        const answer = await pool.query(text, parameters)
        const values = answer.flat().filter(cell => cell instanceof Uint8Array)
        const bytes = values.reduce((sum, value) => sum + value.length, 0)
        sent.push(bytes)
        if (bytes > size / 2) await answers.promise
        return answer
      },
      firstOrdinal: 0,
      elapsedMs: () => performance.now(),
      bounds: defaultTimeouts,
    })
    const long = [...sizes.keys()].map(unique => looker.find(uniqueOf(unique)))
    await until(() => sent.some(bytes => bytes > size / 2))
    expect((await looker.find(uniqueOf(6)))?.parts).toHaveLength(1)
    answers.resolve()
    for (const row of await Promise.all(long)) expect(row?.parts[0]).toHaveLength(size - 200)
    expect(Math.max(...sent)).toBeLessThanOrEqual(longLookupBytesMax)
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
