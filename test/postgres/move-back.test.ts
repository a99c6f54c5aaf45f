/**
 * A vault of a folder that goes into PostgreSQL and back again: all of it, refused while somebody
 * serves, and cut off at any moment on either way.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bufferOf, hexOf } from '../../src/lib/bytes.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { encodeBundle } from '../../src/store/core/bundle-format.ts'
import { everyBundle } from '../../src/store/core/log-walk.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import { logOf } from '../store/rows.ts'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  isPostgresThere,
  nextSchema,
  sharedPostgres,
  type TestServer,
} from '../support/postgres.ts'
import { openWritableStore } from '../support/vault-store.ts'
import { expectRefused } from './refused.ts'
import { addReader, ask, serve } from './served.ts'

const slowMs = 300_000

/** Ordinal and bytes of each row; or sequence and bytes of each bundle. */
type Rows = readonly (readonly [ordinal: number, bytes: string])[]

async function rowsOfFolder(data: string): Promise<Rows> {
  const store = await openLmdbStore({ path: join(data, 'store') })
  const rows = [...store.everyRow()].map(row => [row.ordinal, hexOf(encodeRow(row))] as const)
  await store.close()
  return rows
}

/** Bundles of the log. */
async function bundlesOfFolder(data: string): Promise<Rows> {
  const store = await openLmdbStore({ path: join(data, 'store') })
  const found: (readonly [number, string])[] = []
  for await (const bundles of everyBundle(store)) {
    found.push(...bundles.map(each => [each.first, hexOf(encodeBundle(each))] as const))
  }
  await store.close()
  return found
}

async function bundlesOfSchema({ sql }: TestServer, schema: string): Promise<Rows> {
  const text = `SELECT seq, value FROM ${schema}.log ORDER BY seq`
  const found = (await sql.unsafe(text).values()) as (readonly [unknown, Uint8Array])[]
  return found.map(([seq, value]) => [Number(seq), bufferOf(value).toString('hex')] as const)
}

/** Adds bundles to a log, and values beside it. */
async function addBundles(data: string, count: number): Promise<void> {
  const store = await openWritableStore(data)
  for (let number = 0; number < count; number += 1) {
    const derived = Uint8Array.of(number >> 8, number)
    await store.write([logOf(number % 256, 2), { derived, value: Uint8Array.of(number) }])
  }
  await store.close()
}

async function rowsOfSchema({ sql }: TestServer, schema: string): Promise<Rows> {
  const text = `SELECT ordinal, value FROM ${schema}.rows ORDER BY ordinal`
  const rows = (await sql.unsafe(text).values()) as (readonly [unknown, Uint8Array])[]
  return rows.map(([ordinal, value]) => [Number(ordinal), bufferOf(value).toString('hex')] as const)
}

const numberOf = async ({ sql }: TestServer, text: string): Promise<number> => {
  const [row] = (await sql.unsafe(text).values()) as (readonly unknown[])[]
  return Number(row?.[0])
}

async function formatOf(server: TestServer, schema: string): Promise<number> {
  return numberOf(server, `SELECT format FROM ${schema}.state`).catch(() => 0)
}

const farMs = Date.UTC(2031, 0, 1)

/** Every third one has an end. */
async function addTokens(socket: string, key: string, from: number, to: number): Promise<void> {
  const create = async (i: number) => {
    const end = i % 3 === 0 ? { expires_at: new Date(farMs + (i % 30)).toISOString() } : {}
    const body = { id: `t-${i}`, type: 'token', data: { number: `n${i}` }, ...end }
    expect(await ask(socket, key, '/tokens', body)).toMatchObject({ status: 201 })
  }
  for (let i = from; i < to; i += 50) {
    await Promise.all(Array.from({ length: Math.min(50, to - i) }, (_, n) => create(i + n)))
  }
}

async function removeTokens(socket: string, key: string, numbers: readonly number[]) {
  for (const i of numbers) {
    const { status } = await ask(socket, key, `/tokens/t-${i}`, undefined, 'DELETE')
    expect(status).toBe(204)
  }
}

async function totalOf(socket: string, key: string): Promise<unknown> {
  const { body } = await ask(socket, key, '/tokens/search', { query: 'type:token', size: 5 })
  return (body['pagination'] as Record<string, unknown>)['total_items']
}

const dataOf = async (socket: string, key: string, i: number): Promise<unknown> =>
  (await ask(socket, key, `/tokens/t-${i}`)).body['data']

/** Runs a command, and kills it once a state is reached. @returns true if it was */
async function cutOff(args: readonly string[], isTime: () => boolean | Promise<boolean>) {
  const child = Bun.spawn([...cofferCommand, ...args], { stdout: 'ignore', stderr: 'ignore' })
  let hasEnded = false
  const ended = child.exited.then(() => (hasEnded = true))
  while (!hasEnded && !(await isTime())) await Bun.sleep(1)
  child.kill('SIGKILL')
  await ended
  return child.signalCode === 'SIGKILL'
}

const back = (data: string): string[] => ['move', '--data', data, '--to', 'folder']

/** Makes a vault of a folder with tokens, and a key that reads them. */
async function makeVault(root: string, tokens: number) {
  const [data, socket] = [join(root, 'vault'), join(root, 'vault.sock')]
  const made = await runCoffer(['init', '--data', data, '--json'])
  const own = String((JSON.parse(made.stdout) as Record<string, unknown>)['key'])
  const vault = await serve(data, socket)
  const key = await addReader(socket, own)
  await addTokens(socket, key, 0, tokens)
  await removeTokens(socket, key, [3, 10, 11])
  expect(await vault.end('SIGTERM')).toBe(0)
  return { data, socket, key }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault that moves', () => {
  let server: TestServer

  beforeAll(async () => {
    server = await sharedPostgres()
  })

  test(
    'there and back is what it was, with all that was changed there',
    async () => {
      const root = temporaryFolder()
      const { data, socket, key } = await makeVault(root, 200)
      const schema = nextSchema()
      const url = server.url(schema)
      await addBundles(data, 250)
      const bundles = await bundlesOfFolder(data)
      expect(await runCoffer(['move', '--data', data, '--to', url])).toMatchObject({ exitCode: 0 })
      expect(await bundlesOfSchema(server, schema)).toEqual(bundles)
      const there = await serve(data, socket)
      await addTokens(socket, key, 200, 900)
      await removeTokens(socket, key, [5, 6, 201, 899])
      const brief = { id: 'brief', type: 'token', data: 1 }
      const expires_at = new Date(Date.now() + 10_000).toISOString()
      expect((await ask(socket, key, '/tokens', { ...brief, expires_at })).status).toBe(201)
      const recent = () => numberOf(server, `SELECT count(*) FROM ${schema}.recent`)
      while ((await recent()) >= 400) await Bun.sleep(20)
      // So few are not folded.
      await addTokens(socket, key, 900, 920)
      const total = await totalOf(socket, key)
      while ((await ask(socket, key, '/tokens/brief')).status !== 404) await Bun.sleep(50)
      expect(await there.end('SIGTERM')).toBe(0)
      expect(await recent()).toBeGreaterThan(0)
      const [kept, rows, left] = [
        readFileSync(join(data, 'store', 'data.mdb.moved')),
        await rowsOfSchema(server, schema),
        await bundlesOfSchema(server, schema),
      ]
      const joined = join(root, 'joined')
      const joining = ['--store', url, '--master-key-file', join(data, 'master.key')]
      await runCoffer(['verify', '--data', joined, ...joining])

      const moved = await runCoffer(back(data))
      expect([moved.exitCode, moved.stdout]).toEqual([
        0,
        expect.stringContaining(`${rows.length} rows were moved`),
      ])
      const names = readdirSync(join(data, 'store')).filter(name => name !== 'lock.mdb')
      expect([names.sort(), existsSync(join(data, 'compacting'))]).toEqual([
        ['data.mdb', 'data.mdb.moved', 'database.left'],
        false,
      ])
      expect(readFileSync(join(data, 'store', 'data.mdb.moved')).equals(kept)).toBe(true)
      expect(await rowsOfFolder(data)).toEqual(rows)
      expect(await bundlesOfFolder(data)).toEqual(left)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
      const markMs = await numberOf(server, `SELECT clock_ms FROM ${schema}.state`)
      expect(Number(readFileSync(join(data, 'clock'), 'latin1'))).toBeGreaterThanOrEqual(markMs)

      const after = await serve(data, socket)
      expect([total, await totalOf(socket, key)]).toEqual([200 + 720 - 7 + 1, 200 + 720 - 7])
      expect(await dataOf(socket, key, 4)).toEqual({ number: 'n4' })
      expect(await dataOf(socket, key, 919)).toEqual({ number: 'n919' })
      for (const id of ['brief', 't-5', 't-10', 't-899']) {
        expect((await ask(socket, key, `/tokens/${id}`)).status).toBe(404)
      }
      await addTokens(socket, key, 920, 930)
      expect(await totalOf(socket, key)).toBe(200 + 730 - 7)
      expect(await after.end('SIGTERM')).toBe(0)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })

      expectRefused(await runCoffer(back(data)), 'has a store of its own')
      const isGone = 'the vault has moved, or is being moved, into a folder'
      const withKey = ['--master-key-file', join(data, 'master.key')]
      const serving = ['serve', '--data', joined, '--socket', `${socket}.2`, ...withKey]
      expectRefused(await runCoffer(serving), isGone)
      expectRefused(await runCoffer([...back(joined), ...withKey]), isGone)
      const again = await runCoffer(['move', '--data', data, '--to', url])
      expectRefused(again, 'drop their schema first')
    },
    slowMs,
  )

  test(
    'back is refused while another machine serves it, which goes on',
    async () => {
      const root = temporaryFolder()
      const [data, joined, socket] = ['one', 'two', 'one.sock'].map(name => join(root, name)) as [
        string,
        string,
        string,
      ]
      const schema = nextSchema()
      const url = server.url(schema)
      const made = await runCoffer(['init', '--data', data, '--store', url, '--json'])
      const own = String((JSON.parse(made.stdout) as Record<string, unknown>)['key'])
      const joining = ['--store', url, '--master-key-file', join(data, 'master.key')]
      await runCoffer(['verify', '--data', joined, ...joining])
      const vault = await serve(data, socket)
      const key = await addReader(socket, own)
      await addTokens(socket, key, 0, 10)
      expectRefused(await runCoffer(back(data)), 'another')
      const refusing = runCoffer([...back(joined), '--master-key-file', join(data, 'master.key')])
      while ((await formatOf(server, schema)) === 1) await Bun.sleep(1)
      await addTokens(socket, key, 10, 20)
      expectRefused(await refusing, 'the vault is served from the database')
      expect(await formatOf(server, schema)).toBe(1)
      expect(readdirSync(join(joined, 'store'))).toEqual(['database'])
      await addTokens(socket, key, 20, 30)
      expect(await totalOf(socket, key)).toBe(30)
      expect(await vault.end('SIGTERM')).toBe(0)
      const again = await serve(data, socket)
      expect(await dataOf(socket, key, 15)).toEqual({ number: 'n15' })
      expect(await again.end('SIGTERM')).toBe(0)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
    },
    slowMs,
  )

  // proves E24.11
  test(
    'back is refused where the database has left no ordinals, which its new store needs',
    async () => {
      const data = join(temporaryFolder(), 'vault')
      await runCoffer(['init', '--data', data])
      const schema = nextSchema()
      const there = ['move', '--data', data, '--to', server.url(schema)]
      expect(await runCoffer(there)).toMatchObject({ exitCode: 0 })
      const last = await numberOf(server, `SELECT last_value FROM ${schema}.ordinals`)
      const count = (to: number) => numberOf(server, `SELECT setval('${schema}.ordinals', ${to})`)
      await count(2 ** 48 - 2)
      expectRefused(await runCoffer(back(data)), `${schema}.ordinals: expected a last value`)
      expect(await formatOf(server, schema)).toBe(1)
      await count(last)
      expect(await runCoffer(back(data))).toMatchObject({ exitCode: 0 })
    },
    slowMs,
  )

  // proves E31.2
  test(
    'back ends where the database gives more than its tables take, and the disk has room again',
    async () => {
      const { data, socket, key } = await makeVault(temporaryFolder(), 20)
      const vault = await serve(data, socket)
      const body = { id: 'large', type: 'token', data: 'a'.repeat(20_000) }
      expect(await ask(socket, key, '/tokens', body)).toMatchObject({ status: 201 })
      expect(await vault.end('SIGTERM')).toBe(0)
      const schema = nextSchema()
      const there = ['move', '--data', data, '--to', server.url(schema)]
      expect(await runCoffer(there)).toMatchObject({ exitCode: 0 })
      const taken = `SELECT count(*) FROM ${schema}.leases WHERE name = 'move'`
      // From here on the tables are not looked at again.
      expect(await cutOff(back(data), async () => (await numberOf(server, taken)) > 0)).toBe(true)
      const largest = `SELECT value FROM ${schema}.own_rows ORDER BY length(value) DESC LIMIT 1`
      await server.sql.unsafe(`ALTER TABLE ${schema}.rows RENAME TO own_rows`)
      await server.sql.unsafe(`CREATE VIEW ${schema}.rows AS SELECT * FROM ${schema}.own_rows
UNION ALL SELECT g + 1000, 1, NULL, value FROM generate_series(1, 6000) g, (${largest}) r`)
      expectRefused(await runCoffer(back(data)), 'gives more rows than its tables take')
      expect(readdirSync(data)).not.toContain('compacting')
      await server.sql.unsafe(`DROP VIEW ${schema}.rows`)
      await server.sql.unsafe(`ALTER TABLE ${schema}.own_rows RENAME TO rows`)
      expect(await runCoffer(back(data))).toMatchObject({ exitCode: 0 })
    },
    slowMs,
  )

  test(
    'and there again only to where it was, as long as that has a copy',
    async () => {
      const data = join(temporaryFolder(), 'vault')
      await runCoffer(['init', '--data', data])
      const [first, second] = [server.url(nextSchema()), server.url(nextSchema())]
      const there = (url: string) => runCoffer(['move', '--data', data, '--to', url])
      expect(await there(first)).toMatchObject({ exitCode: 0 })
      expect(await runCoffer(back(data))).toMatchObject({ exitCode: 0 })
      const left = join(data, 'store', 'database.left')
      const before = readFileSync(left, 'utf8')
      expectRefused(await there(second), 'names another database that has a copy of this vault')
      expect(readFileSync(left, 'utf8')).toBe(before)
      expectRefused(await there(first), 'drop their schema first')
      expect(readFileSync(left, 'utf8')).toBe(before)
      rmSync(left)
      expect(await there(second)).toMatchObject({ exitCode: 0 })
    },
    slowMs,
  )

  test('back is refused for a folder that has its own store', async () => {
    const data = join(temporaryFolder(), 'own')
    await runCoffer(['init', '--data', data])
    expectRefused(await runCoffer(back(data)), 'has a store of its own')
  })

  test(
    'is moved by the same command where it was cut off, on either way',
    async () => {
      const { data, socket, key } = await makeVault(temporaryFolder(), 2_500)
      const schema = nextSchema()
      const there = ['move', '--data', data, '--to', server.url(schema)]
      const named = join(data, 'store', 'database')
      const ownFile = join(data, 'store', 'data.mdb')
      const aside = `${ownFile}.moved`
      const rows = await rowsOfFolder(data)
      const copied = async () => {
        const count = `SELECT count(*) FROM ${schema}.rows`
        return numberOf(server, count).catch(() => -1)
      }
      expect(await cutOff(there, async () => (await copied()) >= 0)).toBe(true)
      expect(await cutOff(there, async () => (await copied()) >= 2_000)).toBe(true)
      expect(await formatOf(server, schema)).toBe(-1)
      await cutOff(there, () => existsSync(named))
      // State once the folder names the database, which counts as no vault yet.
      if (!existsSync(ownFile)) renameSync(aside, ownFile)
      await server.sql.unsafe(`UPDATE ${schema}.state SET format = -1`)
      const early = await runCoffer(['serve', '--data', data, '--socket', socket])
      expectRefused(early, 'a vault is being moved there')
      expect(await runCoffer(there)).toMatchObject({ exitCode: 0 })
      // State in which only the earlier file still has its name.
      renameSync(aside, ownFile)
      const retired = await runCoffer(['keys', 'retire', '--data', data])
      expect([retired.exitCode, retired.stdout]).toEqual([1, expect.stringContaining(ownFile)])
      expect(retired.stderr).toContain(`${ownFile} is of a move that was cut off`)
      expect((await runCoffer(['doctor', '--data', data])).stdout).toContain(
        `${ownFile} is of a move`,
      )
      expect(await runCoffer(there)).toMatchObject({ exitCode: 0 })
      expect([existsSync(ownFile), existsSync(aside)]).toEqual([false, true])
      expectRefused(await runCoffer(there), 'it was moved already')
      expect(await rowsOfSchema(server, schema)).toEqual(rows)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })

      const isAt = (format: number) => async () => (await formatOf(server, schema)) === format
      expect(await cutOff(back(data), isAt(-2))).toBe(true)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 1 })
      expect(await cutOff(back(data), isAt(-3))).toBe(true)
      // A failed move leaves the vault in the database, also if another run has shut out everyone.
      const foreign = join(temporaryFolder(), 'foreign')
      await runCoffer(['init', '--data', foreign])
      const wrong = ['--master-key-file', join(foreign, 'master.key')]
      expect(await runCoffer([...back(data), ...wrong])).toMatchObject({ exitCode: 1 })
      expect(await formatOf(server, schema)).toBe(1)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
      expect(await cutOff(back(data), () => existsSync(join(data, 'compacting')))).toBe(true)
      const half = join(data, 'compacting', 'data.mdb')
      expect(await cutOff(back(data), () => existsSync(half))).toBe(true)
      const place = readFileSync(named)
      await cutOff(back(data), () => existsSync(ownFile))
      // State in which all but the last step is done.
      writeFileSync(named, place)
      expect((await runCoffer(['doctor', '--data', data])).stdout).not.toContain('is of a move')
      expect(await runCoffer(back(data))).toMatchObject({ exitCode: 0 })
      expect(existsSync(named)).toBe(false)
      expect(await rowsOfFolder(data)).toEqual(rows)
      expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
      const after = await serve(data, socket)
      expect(await totalOf(socket, key)).toBe(2_500 - 3)
      expect(await after.end('SIGTERM')).toBe(0)
    },
    2 * slowMs,
  )
})
