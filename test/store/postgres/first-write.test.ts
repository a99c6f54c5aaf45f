/**
 * A vault is made in one database once, however many are made there at once or were cut off before,
 * and its sum over all rows is right.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { sumSealerOf } from '../../../src/records/sum-sealer.ts'
import { makeSumCheck } from '../../../src/store/core/check-sum.ts'
import { makeStore } from '../../../src/store/open.ts'
import type { DatabaseAddress } from '../../../src/store/postgres/address.ts'
import { writeFirst } from '../../../src/store/postgres/first-write.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { tablesIn } from '../../../src/store/postgres/schema.ts'
import { createVault, openVaultKeys } from '../../../src/vault/vault.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../../support/postgres.ts'
import { machine, makeTablesIn, patient } from './subject.ts'

interface Making {
  readonly masterKey: Uint8Array
  /** Makes the vault in a store that is open. */
  readonly make: () => Promise<unknown>
  readonly close: () => Promise<void>
}

async function beginMaking(database: DatabaseAddress): Promise<Making> {
  const masterKey = machine.randomBytes(32)
  const { store } = await makeStore({ database }, machine)
  const deps = { store, now: machine.wallMs, randomBytes: machine.randomBytes }
  return { masterKey, make: () => createVault(deps, masterKey), close: () => store.close() }
}

/** @returns what a check of the sum over all rows finds */
async function foundIn(address: DatabaseAddress, masterKey: Uint8Array) {
  const store = await openPostgresStore({ address, ...machine, bounds: patient })
  try {
    const check = makeSumCheck(sumSealerOf(await openVaultKeys(store, masterKey)))
    return check.end(await store.eachRow(check.add, check.entriesFor))
  } finally {
    await store.close()
  }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault made in a database', () => {
  test('with others at once is one of them, with no part of theirs', async () => {
    const address = (await sharedPostgres()).address(nextSchema())
    const making: Making[] = []
    for (const _ of [1, 2, 3]) making.push(await beginMaking(address))
    const made = await Promise.allSettled(making.map(({ make }) => make()))
    const lost = made.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []))
    expect(lost).toEqual([1, 2].map(() => expect.objectContaining({ kind: 'conflict' })))
    const won = making[made.findIndex(({ status }) => status === 'fulfilled')]
    expect(await foundIn(address, won?.masterKey ?? new Uint8Array(32))).toEqual([])
    await Promise.all(making.map(({ close }) => close()))
  })

  test('after one whose making was cut off keeps no part of it', async () => {
    const address = (await sharedPostgres()).address(nextSchema())
    const pool = await makeTablesIn(address)
    const { sums, receipts } = tablesIn(address.schema)
    const writer = `'\\x${'07'.repeat(16)}'::bytea`
    await pool.query(`INSERT INTO ${receipts} VALUES (${writer}, 0, '{}', now())`)
    await pool.query(`INSERT INTO ${sums} VALUES (${writer}, ${writer})`)
    await pool.close()
    const { masterKey, make, close } = await beginMaking(address)
    await make()
    expect(await foundIn(address, masterKey)).toEqual([])
    await close()
  })

  test('is not made over rows that came meanwhile, and writes nothing there', async () => {
    const address = (await sharedPostgres()).address(nextSchema())
    const [first, second] = [await beginMaking(address), await beginMaking(address)]
    await first.make()
    await expect(second.make()).rejects.toMatchObject({ kind: 'conflict' })
    const pool = openPool(address, 1)
    const { sums, receipts } = tablesIn(address.schema)
    const counted = await pool.query(
      `SELECT (SELECT count(*) FROM ${sums})::int, (SELECT count(*) FROM ${receipts})::int`,
    )
    expect(counted).toEqual([[1, 1]])
    await pool.close()
    expect(await foundIn(address, first.masterKey)).toEqual([])
    await Promise.all([first.close(), second.close()])
  })

  test('is made where the connection that keeps others out is lost behind its write', async () => {
    const { address: at, sql } = await sharedPostgres()
    const address = at(nextSchema())
    const pool = await makeTablesIn(address)
    await pool.close()
    const two = openPool(address, 2)
    const tables = tablesIn(address.schema)
    const written = { ok: true as const, ordinals: [1] }
    const outcome = await writeFirst(two, tables, async () => {
      const of = `locktype = 'advisory' AND objid = '${tables.state}'::regclass::oid`
      const ended = await sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${of}`)
      expect(ended).toHaveLength(1)
      return written
    })
    expect(outcome).toBe(written)
    await two.close()
  })
})
