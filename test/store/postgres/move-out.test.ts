/**
 * A vault that leaves its database: the processes that it shuts out, and what the folder has then.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { setTimeout } from 'node:timers/promises'
import { join } from 'node:path'
import { buildStoreFrom } from '../../../src/store/lmdb/maintenance/bulk-build.ts'
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import {
  beginMoveOut,
  cancelMoveOut,
  endMoveOut,
  isServed,
  readMovedState,
  sourceOf,
} from '../../../src/store/postgres/move-out.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { logStep } from '../../../src/store/core/limits.ts'
import { everyBundle, everyDerived, type LogReads } from '../../../src/store/core/log-walk.ts'
import { encodeRow } from '../../../src/store/core/row-format.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import {
  expectFault,
  inserted,
  insertOf,
  logOf,
  ordinalsOf,
  termOf,
  uniqueOf,
  written,
} from '../rows.ts'
import { openAt, tablesAt } from './subject.ts'

const elapsedMs = () => performance.now()
const hasLeft = 'the vault has moved, or is being moved, into a folder'

/** Makes a folder as it is when it takes the vault. */
async function leavingAt(folder: string, mover = 1) {
  const tables = tablesAt(folder)
  const pool = openPool((await sharedPostgres()).address(tables.schema), 1)
  return { pool, tables, mover: new Uint8Array(16).fill(mover) }
}

async function logIn(store: LogReads) {
  const [bundles, values] = [[], []] as [unknown[], unknown[]]
  for await (const some of everyBundle(store)) bundles.push(...some)
  for await (const some of everyDerived(store)) values.push(...some)
  return { range: await store.logRange(), bundles, values }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault that leaves its database', () => {
  test('is opened by nobody, and by no second folder, until that is taken back', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { bounds: { clockMs: 60_000 } })
    const [leaving, other] = [await leavingAt(folder), await leavingAt(folder, 2)]
    await beginMoveOut(leaving)
    await beginMoveOut(leaving)
    await expect(beginMoveOut(other)).rejects.toThrow(hasLeft)
    await expect(openAt(folder)).rejects.toThrow(hasLeft)
    await inserted(store, { uniques: [1] })
    await cancelMoveOut(other)
    await expect(openAt(folder)).rejects.toThrow(hasLeft)
    await cancelMoveOut(leaving)
    await (await openAt(folder)).close()
    await beginMoveOut(other)
    await endMoveOut(other)
    await cancelMoveOut(other)
    await inserted(store, { uniques: [2] })
    await Promise.all([leaving.pool.close(), other.pool.close(), store.close()])
  })

  test('is served where a lease is held or taken, and not where one of the dead ends', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { bounds: { leaseRenewMs: 50 } })
    const { pool, tables } = await leavingAt(folder)
    expect(await isServed({ pool, tables }, { elapsedMs, sleep: setTimeout })).toBe(true)
    await store.close()
    const lease = (until: string) =>
      pool.query(`INSERT INTO ${tables.leases} VALUES ('fold', '\\x00',
clock_timestamp() + interval '${until}') ON CONFLICT (name) DO UPDATE SET until = EXCLUDED.until`)
    let nowMs = 0
    const fast = { elapsedMs: () => (nowMs += 1_000), sleep: () => setTimeout(1) }
    await lease('-1 ms')
    expect(await isServed({ pool, tables }, fast)).toBe(false)
    await lease('1 h')
    expect(await isServed({ pool, tables }, fast)).toBe(true)
    await pool.close()
  })

  test('is no longer written, also not by a process that was held up, nor read', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { bounds: { clockMs: 50 } })
    const fresh = await openAt(folder, { bounds: { clockMs: 60_000 } })
    await inserted(store, { uniques: [1] })
    const leaving = await leavingAt(folder)
    await beginMoveOut(leaving)
    const racing = Array.from({ length: 200 }, (_, i) =>
      Bun.sleep(i / 4)
        .then(() => store.write([insertOf({ uniques: [100 + i] })]))
        .catch(() => undefined),
    )
    await Bun.sleep(20)
    await endMoveOut(leaving)
    const count = async () =>
      Number((await leaving.pool.query(`SELECT count(*) FROM ${leaving.tables.rows}`))[0]?.[0])
    const rows = await count()
    const answered = (await Promise.all(racing)).filter(outcome => outcome?.ok === true)
    expect(answered.length).toBe(rows - 1)
    expect(rows).toBeLessThan(201)
    await expectFault(fresh.write([insertOf({ uniques: [2] })]), 'unavailable')
    await expectFault(store.write([insertOf({ uniques: [3] })]), 'unavailable')
    await Bun.sleep(200)
    await expectFault(
      Promise.resolve().then(() => store.find(uniqueOf(1))),
      'unavailable',
    )
    await expectFault(
      store.page({ term: termOf(1) }, { offset: 0, limit: 1, nowMs: 0 }),
      'unavailable',
    )
    expect([store.isSweeper(), await count()]).toEqual([false, rows])
    await Promise.all([leaving.pool.close(), store.close(), fresh.close()])
  })

  test('is in the folder with all rows over several chunks, by every index', async () => {
    const folder = temporaryFolder()
    const store = await openAt(folder, { foldRows: 1, foldCheckMs: 3 }, 65_500)
    for (let i = 0; i < 100; i += 10) {
      const some = Array.from({ length: 10 }, (_, n) => i + n)
      await written(
        store,
        ...some.map(n =>
          insertOf({
            uniques: [n, 1_000 + n],
            terms: [7, 100 + (n % 5)],
            ...(n % 2 === 0 ? { deadlineMs: 5_000 + (n % 4) } : {}),
          }),
        ),
      )
    }
    await written(store, { remove: 65_510 }, { remove: 65_540 }, { bumpGeneration: true })
    for (let number = 0; number < 2 * logStep + 1; number += 1) {
      const derived = Uint8Array.of(number >> 8, number)
      await written(store, logOf(number % 256, 2), { derived, value: Uint8Array.of(number) })
    }
    await written(store, { pruneLog: 6 })
    const log = await logIn(store)
    const leaving = await leavingAt(folder)
    await beginMoveOut(leaving)
    await endMoveOut(leaving)
    const left = await readMovedState(leaving)
    expect(left).toMatchObject({ nextOrdinal: 65_600, generation: 1 })
    const to = join(folder, 'built')
    const { pool, tables } = leaving
    const source = { ...sourceOf(pool, tables, { elapsedMs, msMax: 5_000 }), ...left }
    const within = (bytesMax: number, place: string) =>
      buildStoreFrom(
        { ...source, checkBytes: bytes => expect(bytes).toBeLessThan(bytesMax) },
        place,
      )
    await expect(within(5_000, join(folder, 'full'))).rejects.toThrow('5000')
    await within(left.bytes, to)
    const built = await openLmdbStore({ path: to })
    expect(await built.integrity()).toEqual([])
    const rows: string[] = []
    for await (const row of sourceOf(pool, tables, { elapsedMs, msMax: 5_000 }).rows()) {
      rows.push(...row.map(each => `${each.ordinal} ${Bun.hash(encodeRow(each))}`))
    }
    const own = [...built.everyRow()].map(row => `${row.ordinal} ${Bun.hash(encodeRow(row))}`)
    expect(own).toEqual(rows)
    expect((await ordinalsOf(built, { term: termOf(7) })).total).toBe(98)
    expect((await built.due(5_002, 1_000)).map(({ deadlineMs }) => deadlineMs)).toEqual([
      ...Array(24).fill(5_000),
      ...Array(24).fill(5_002),
    ])
    expect(await built.generation()).toBe(1)
    expect(log).toMatchObject({ range: { from: 6, next: 4 * logStep + 2 } })
    expect(log.values).toHaveLength(2 * logStep + 1)
    expect(await logIn(built)).toEqual(log)
    expect(await inserted(built, { uniques: [5_000] })).toBe(65_600)
    await Promise.all([built.close(), pool.close(), store.close()])
  })
})
