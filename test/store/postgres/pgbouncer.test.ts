import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { PostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { openPool } from '../../../src/store/postgres/pool.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { isPgbouncerThere, startPgbouncer, type Bouncer } from '../../support/pgbouncer.ts'
import { isPostgresThere, sharedPostgres } from '../../support/postgres.ts'
import { describeStoreContract } from '../contract.ts'
import { inserted, ordinalsOf, termOf, uniqueOf } from '../rows.ts'
import { openAt, patient } from './subject.ts'

// .ci/run installs both.
describe.skipIf(!isPostgresThere || !isPgbouncerThere)('behind a pool of transactions', () => {
  let bouncer: Bouncer
  beforeAll(async () => {
    bouncer = await startPgbouncer(await sharedPostgres())
  })
  afterAll(() => bouncer.stop())

  describeStoreContract('the PostgreSQL engine', folder =>
    openAt(folder, { bounds: patient, foldRows: 1, foldCheckMs: 5 }, 1, bouncer.through),
  )

  test('three vaults have more connections than it has, and write and read as one', async () => {
    const folder = temporaryFolder()
    const stores: PostgresStore[] = []
    for (let at = 0; at < 3; at += 1) {
      stores.push(await openAt(folder, { bounds: patient, foldRows: 20 }, 1, bouncer.through))
    }
    const nth = (at: number): PostgresStore => {
      const store = stores[at % stores.length]
      if (store === undefined) throw new Error('there are three')
      return store
    }
    const numbers = Array.from({ length: 300 }, (_, at) => at)
    const sketch = (at: number) => ({ uniques: [at], terms: [9, at % 4] })
    const ordinals = await Promise.all(numbers.map(at => inserted(nth(at), sketch(at))))
    const found = await Promise.all(numbers.map(at => nth(at + 1).find(uniqueOf(at))))
    expect(found.map(row => row?.ordinal)).toEqual(ordinals)
    expect((await ordinalsOf(nth(2), { term: termOf(9) })).total).toBe(300)
    expect(await nth(0).integrity()).toEqual([])
    for (const store of stores) await store.close()
  })

  test('its sessions have the settings that a role was given', async () => {
    const server = await sharedPostgres()
    const olderForms = [
      'standard_conforming_strings = off',
      'bytea_output = escape',
      'array_nulls = off',
    ]
    for (const older of olderForms) {
      await server.sql.unsafe(`ALTER ROLE CURRENT_USER SET ${older}`)
    }
    const store = await openAt(temporaryFolder())
    // A row without a deadline.
    await inserted(store, { uniques: [1] })
    await store.close()
    const fresh = await startPgbouncer(server)
    const pool = openPool(fresh.through(server.address('public')), 1)
    for (const [name, value] of [
      ['enable_seqscan', 'off'],
      ['enable_hashjoin', 'off'],
      ['enable_mergejoin', 'off'],
      ['standard_conforming_strings', 'on'],
      ['bytea_output', 'hex'],
      ['array_nulls', 'on'],
      ['idle_in_transaction_session_timeout', '15s'],
    ]) {
      const [row = []] = await pool.query(`SHOW ${name}`)
      expect([...row]).toEqual([value])
    }
    await pool.close()
    await fresh.stop()
  })
})
