/**
 * Ordinals that a failover gives anew: a sequence goes back with the rows that only the lost
 * machine had, and what was read of those must not be done to the rows that stand there now.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Change } from '../../../src/store/contract.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { removalOf, unchanged } from '../../../src/records/read-row.ts'
import { CredentialChanged, writeAs } from '../../../src/records/write-rows.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { inserted, insertOf, replaceOf, rowOf, uniqueOf, written } from '../rows.ts'
import { machine, makeTablesIn, patient } from './subject.ts'

/** A store in which another row has the ordinal of one that was read, at the same version. */
async function openAfterFailover() {
  const { address, sql } = await sharedPostgres()
  const schema = nextSchema()
  const pool = await makeTablesIn(address(schema))
  const store = await openPostgresStore({ address: address(schema), ...machine, bounds: patient })
  const ordinal = await inserted(store, { uniques: [1] })
  const read = await store.find(uniqueOf(1))
  if (read === undefined) throw new Error('the row is there')
  for (const table of ['rows', 'uniques', 'recent']) {
    await sql.unsafe(`DELETE FROM ${schema}.${table} WHERE ordinal = ${ordinal}`)
  }
  await sql.unsafe(`SELECT setval('${schema}.ordinals', ${ordinal}, false)`)
  expect(await inserted(store, { uniques: [2] })).toBe(ordinal)
  const close = () => Promise.all([store.close(), pool.close()])
  return { store, ordinal, read, [Symbol.asyncDispose]: async () => void (await close()) }
}

const bump: Change = { bumpGeneration: true }

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a row whose ordinal another row has by now', () => {
  test('is not removed, replaced or resealed there', async () => {
    await using gone = await openAfterFailover()
    const { store, ordinal, read } = gone
    const refused = { ok: false, at: 0, reason: 'version_moved' } as const
    expect(await store.write([removalOf(read)])).toEqual(refused)
    expect(await store.write([replaceOf(ordinal, { uniques: [1], version: 2 })])).toEqual(refused)
    expect(await store.write([{ reseal: rowOf({ uniques: [1] }), ordinal }])).toEqual(refused)
    const other = await store.find(uniqueOf(2))
    expect(other?.version).toBe(1)
    if (other !== undefined) await written(store, removalOf(other))
    expect(await store.find(uniqueOf(2))).toBeUndefined()
  })

  test.each([
    ['alone', []],
    ['by a group that goes at once', [insertOf({ uniques: [3] })]],
    ['by a group that locks', [bump, insertOf({ uniques: [3] })]],
  ])('is no more what it was, required %s', async (_, changes) => {
    await using gone = await openAfterFailover()
    const { store, read } = gone
    const refused = { ok: false, at: 0, reason: 'version_moved' } as const
    expect(await store.write([unchanged(read), ...changes])).toEqual(refused)
    expect(await store.find(uniqueOf(3))).toBeUndefined()
    const other = await store.find(uniqueOf(2))
    if (other === undefined) throw new Error('the other row is there')
    await written(store, unchanged(other), ...changes)
  })

  test('is no credential of a write', async () => {
    await using gone = await openAfterFailover()
    const { store, read } = gone
    const alone = { credential: read, dependsOn: [] }
    await expect(writeAs(store, alone, [insertOf({ uniques: [3] })])).rejects.toThrow(
      CredentialChanged,
    )
    const other = await store.find(uniqueOf(2))
    if (other === undefined) throw new Error('the other row is there')
    const behind = { credential: other, dependsOn: [alone] }
    await expect(writeAs(store, behind, [insertOf({ uniques: [3] })])).rejects.toThrow(
      CredentialChanged,
    )
    expect(await store.find(uniqueOf(3))).toBeUndefined()
    const whole = { credential: other, dependsOn: [] }
    expect(await writeAs(store, whole, [insertOf({ uniques: [3] })])).toBe(true)
  })
})
