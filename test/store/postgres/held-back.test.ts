/**
 * A database that runs short while a vault uses it: answered writes stand, all others are refused,
 * and once it recovers all goes on.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { mountDisk, type Disk } from '../../crash/disk-full/disk.ts'
import { temporaryFolder } from '../../support/folders.ts'
import {
  isPostgresThere,
  nextSchema,
  run,
  startPostgres,
  type TestServer,
} from '../../support/postgres.ts'
import { expectFault, inserted, insertOf, uniqueOf } from '../rows.ts'
import { insertedSoon, machine, makeTablesIn, patient } from './subject.ts'
import { until } from '../../support/until.ts'

const bounds = { readMs: 1_000, writeMs: 1_500, tryMs: 1_000, connectMs: 1_000 }

interface Opened {
  /** Gives up soon. */
  readonly store: PostgresStore
  /** Waits, and asks the same database. */
  readonly waiting: PostgresStore
  readonly close: () => Promise<unknown>
}

async function openOn(server: TestServer, schema = nextSchema()): Promise<Opened> {
  const address = server.address(schema)
  await (await makeTablesIn(address)).close()
  const store = await openPostgresStore({ address, ...machine, bounds })
  const waiting = await openPostgresStore({ address, ...machine, bounds: patient })
  return { store, waiting, close: () => Promise.all([store.close(), waiting.close()]) }
}

/** Expects that each answered write stands, and none that was refused. */
async function expectExact(store: PostgresStore, answered: readonly boolean[]): Promise<void> {
  for (const [unique, isThere] of answered.entries()) {
    expect((await store.find(uniqueOf(unique))) !== undefined).toBe(isThere)
  }
  expect(await store.integrity()).toEqual([])
}

/** @returns the reason of a refusal, if there was one */
async function tryInsert(
  store: PostgresStore,
  unique: number,
  partBytes = 10,
): Promise<ApiError | undefined> {
  const parts = [new Uint8Array(partBytes).fill(unique), new Uint8Array(0)]
  try {
    await inserted(store, { uniques: [unique], parts })
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a database that holds back', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startPostgres()
  }, 300_000)
  afterAll(() => server.stop())

  async function set(setting: string, sql: Pick<TestServer['sql'], 'unsafe'> = server.sql) {
    const loaded = async () => {
      const [row] = await sql.unsafe('SELECT pg_conf_load_time()::text AS at')
      return (row as { readonly at: string }).at
    }
    const before = await loaded()
    await sql.unsafe(`ALTER SYSTEM ${setting}`)
    await sql.unsafe('SELECT pg_reload_conf()')
    await until(async () => (await loaded()) !== before)
    await Bun.sleep(200)
  }

  test('writes: they are refused, reads go on, and then writes too', async () => {
    const { store, waiting, close } = await openOn(server)
    await inserted(waiting, { uniques: [0] })
    await set('SET default_transaction_read_only = on')
    await expectFault(store.write([insertOf({ uniques: [1] })]), 'unavailable')
    expect((await waiting.find(uniqueOf(0)))?.version).toBe(1)
    await set('RESET default_transaction_read_only')
    await insertedSoon(store, { uniques: [2] })
    await expectExact(waiting, [true, false, true])
    await close()
  }, 300_000)

  test('time: what takes too long is tried again, and refused within its bound', async () => {
    const schema = nextSchema()
    const { store, waiting, close } = await openOn(server, schema)
    await inserted(waiting, { uniques: [0] })
    const holding = await server.sql.reserve()
    // The test's own statement may take a busy machine longer.
    await holding.unsafe('SET statement_timeout = 0')
    await set(`SET statement_timeout = '50ms'`, holding)
    await holding.unsafe('BEGIN')
    await holding.unsafe(`LOCK TABLE ${schema}.uniques IN ACCESS EXCLUSIVE MODE`)
    await expectFault(Promise.resolve(store.find(uniqueOf(0))), 'unavailable')
    await expectFault(store.write([insertOf({ uniques: [1] })]), 'unavailable')
    await holding.unsafe('ROLLBACK')
    await set('RESET statement_timeout', holding)
    await holding.unsafe('RESET statement_timeout')
    await holding.release()
    await expectExact(waiting, [true, false])
    await close()
  }, 300_000)

  test('connections: what ends them again and again loses and doubles nothing', async () => {
    const { store, waiting, close } = await openOn(server)
    let isOver = false
    let settled = 0
    const ending = (async () => {
      while (!isOver) {
        const before = settled
        await server.sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`)
        await Bun.sleep(15)
        // Else a slow machine ends each try before its commit.
        while (!isOver && settled === before) await Bun.sleep(5)
      }
    })()
    const answered = await Promise.all(
      Array.from({ length: 100 }, async (_, unique) => {
        await Bun.sleep(unique * 5)
        const refusal = await tryInsert(store, unique)
        settled += 1
        return refusal === undefined
      }),
    )
    isOver = true
    await ending
    expect(answered.filter(Boolean).length).toBeGreaterThan(0)
    const rows = []
    for (const [unique, isAnswered] of answered.entries()) {
      const row = await waiting.find(uniqueOf(unique))
      if (isAnswered) expect(row?.version).toBe(1)
      if (row !== undefined) rows.push(row.ordinal)
    }
    expect(new Set(rows).size).toBe(rows.length)
    expect(await waiting.integrity()).toEqual([])
    await close()
  }, 300_000)

  test('all but a few connections: the vault waits, and serves once there are some', async () => {
    const schema = nextSchema()
    const { waiting, close } = await openOn(server, schema)
    await inserted(waiting, { uniques: [0] })
    await server.sql.unsafe('CREATE ROLE limited LOGIN SUPERUSER')
    await server.sql.unsafe('ALTER ROLE limited NOSUPERUSER CONNECTION LIMIT 0')
    await server.sql.unsafe(`GRANT ALL ON SCHEMA ${schema} TO limited`)
    await server.sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO limited`)
    await server.sql.unsafe(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO limited`)
    const address = { ...server.address(schema), username: 'limited' }
    await server.sql.unsafe('ALTER ROLE limited CONNECTION LIMIT 20')
    const held = await openPostgresStore({ address, ...machine, bounds })
    await insertedSoon(held, { uniques: [1] })
    await server.sql.unsafe('ALTER ROLE limited CONNECTION LIMIT 0')
    await server.sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE usename = 'limited'`)
    await expectFault(held.write([insertOf({ uniques: [2] })]), 'unavailable')
    await expectFault(Promise.resolve(held.find(uniqueOf(0))), 'unavailable')
    await server.sql.unsafe('ALTER ROLE limited CONNECTION LIMIT 20')
    await insertedSoon(held, { uniques: [3] })
    await expectExact(waiting, [true, true, false, true])
    await Promise.all([held.close(), close()])
  }, 300_000)
})

/** Mounts a small disk of its own, if it can: as root, and not in every container. */
function smallDisk(): Disk | undefined {
  try {
    return mountDisk('tmpfs', temporaryFolder(), 5_000)
  } catch {
    return undefined
  }
}

describe.skipIf(!isPostgresThere)('a database whose disk is full', () => {
  const disk = smallDisk()
  afterAll(() => disk?.unmount())

  test.skipIf(disk === undefined)(
    'refuses writes as such, and reads go on',
    async () => {
      const { path = '', fillTo, free } = disk ?? { fillTo() {}, free() {} }
      for (const each of [path, join(path, '..')]) run(['chmod', '777', each])
      const log = join(temporaryFolder(), 'log')
      mkdirSync(log)
      run(['chown', '-R', 'postgres', log])
      run(['chmod', '755', join(log, '..')])
      const server = await startPostgres({ parent: path, initdb: ['-X', join(log, 'wal')] })
      const { waiting: store, close } = await openOn(server)
      await inserted(store, { uniques: [0] })
      const answered = [true]
      fillTo(256 * 1_024)
      let fault: ApiError | undefined
      for (let unique = 1; unique < 60 && fault === undefined; unique += 1) {
        fault = await tryInsert(store, unique, 60_000)
        answered.push(fault === undefined)
      }
      expect(fault?.kind).toBe('storage_full')
      expect((await store.find(uniqueOf(0)))?.version).toBe(1)
      free()
      await inserted(store, { uniques: [answered.length] })
      answered.push(true)
      await expectExact(store, answered)
      await close()
      await server.stop()
    },
    300_000,
  )
})
