/**
 * Stores in schemas of one PostgreSQL, for tests.
 * @module
 */
import { basename } from 'node:path'
import {
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import type { PostgresOptions } from '../../../src/store/postgres/open-parts.ts'
import type { DatabaseAddress } from '../../../src/store/postgres/address.ts'
import { defaultTimeouts, type DatabaseTimeouts } from '../../../src/store/postgres/timeouts.ts'
import { makeLookups } from '../../../src/store/postgres/lookup-batch.ts'
import { openPool, type Pool } from '../../../src/store/postgres/pool.ts'
import { makeTables, tablesIn } from '../../../src/store/postgres/schema.ts'
import { randomBytes } from '../../../src/server/process/system.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { insertOf, type RowSketch } from '../rows.ts'

const schemas = new Map<string, string>()
const opened: PostgresStore[] = []
/** Times 9 connections of each: fewer than the 500 of the server. */
const openMax = 40

/** Timeouts of a store that has to answer, however busy the machine is. */
export const patient: DatabaseTimeouts = {
  ...defaultTimeouts,
  connectMs: 60_000,
  readMs: 120_000,
  writeMs: 120_000,
  tryMs: 60_000,
}

/** Writes one row by a store of short bounds, which a busy machine may hold up more than once. */
export const insertedSoon = (store: PostgresStore, sketch: RowSketch): Promise<void> =>
  until(() =>
    store.write([insertOf(sketch)]).then(
      () => true,
      () => false,
    ),
  )

export const machine = { randomBytes, wallMs: Date.now, elapsedMs: () => performance.now() }

type Looking = Parameters<typeof makeLookups>[1]

/** Look-ups that a test answers. */
export const lookerBy = (ask: Looking['ask'], more: Partial<Looking> = {}) =>
  makeLookups(tablesIn('any'), {
    ask,
    firstOrdinal: 0,
    elapsedMs: machine.elapsedMs,
    bounds: defaultTimeouts,
    ...more,
  })

/** Makes the tables of a new store. @returns a connection to them, which its caller closes */
export async function makeTablesIn(address: DatabaseAddress): Promise<Pool> {
  const pool = openPool(address, 1)
  await makeTables(pool, tablesIn(address.schema), 20_000)
  return pool
}

/** Returns the tables of the store that stands for a folder. */
export const tablesAt = (folder: string) => tablesIn(schemas.get(folder) ?? '')

/**
 * Opens the store that stands for a folder, and makes its tables if there are none yet.
 * @param firstOrdinal of a new one
 * @param through changes the address, for example for a pool in between
 */
export async function openAt(
  folder: string,
  options: Partial<PostgresOptions> = {},
  firstOrdinal = 1,
  through = (address: DatabaseAddress): DatabaseAddress => address,
): Promise<PostgresStore> {
  const server = await sharedPostgres()
  const known = schemas.get(folder)
  const plain = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
  const schema = known ?? `s${schemas.size}_${plain}`
  const address = server.address(schema)
  if (known === undefined) {
    schemas.set(folder, schema)
    const pool = await makeTablesIn(address)
    await pool.query(`ALTER SEQUENCE ${tablesIn(schema).ordinals} RESTART WITH ${firstOrdinal}`)
    await pool.close()
  }
  const store = await openPostgresStore({ address: through(address), ...machine, ...options })
  opened.push(store)
  // Few tests close theirs, and a server has so many connections.
  if (opened.length > openMax) await opened.shift()?.close()
  return store
}
