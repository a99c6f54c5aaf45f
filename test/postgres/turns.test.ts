/**
 * Credentials have turns at a database: one that asks for hundreds of things at once keeps no other
 * waiting until the last of them. Also the time that a request waits for a database that is away.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Running } from '../support/coffer-process.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { askOnce, type Target } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import {
  isPostgresThere,
  nextSchema,
  sharedPostgres,
  type TestServer,
} from '../support/postgres.ts'

const permissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete']

interface Served {
  readonly running: Running
  readonly target: Target
  readonly schema: string
  readonly one: string
  readonly other: string
  /** A token that the other one may read, redacted: so its reads do not wait for a commit. */
  readonly id: string
}

const token = { type: 'token', data: 'x' }

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('over PostgreSQL', () => {
  let server: TestServer
  let release = async (): Promise<void> => {}
  const vaults = new Map<string, Served>()

  async function open(name: string, words: readonly string[], target: Target): Promise<void> {
    const data = join(temporaryFolder(), 'v')
    const schema = nextSchema()
    const { stdout } = await runCoffer([
      'init',
      '--data',
      data,
      '--store',
      server.url(schema),
      '--json',
    ])
    const { key } = JSON.parse(stdout) as { key: string }
    const running = await startCoffer(['serve', '--data', data, ...words])
    const made = async (path: string, by: string, body: object): Promise<Record<string, string>> =>
      JSON.parse((await askOnce(target, 'POST', path, { key: by, body })).text) as Record<
        string,
        string
      >
    const addApplication = async (transform: string): Promise<string> => {
      const rules = [{ priority: 1, container: '/', transform, permissions }]
      const application = { name: 'app', type: 'private', permissions, rules }
      return String((await made('/applications', key, application))['key'])
    }
    const [one, other] = [await addApplication('reveal'), await addApplication('redact')]
    const { id = '' } = await made('/tokens', other, token)
    vaults.set(name, { running, target, schema, one, other, id })
  }

  beforeAll(async () => {
    server = await sharedPostgres()
    const port = findPort()
    const unix = join(temporaryFolder(), 's')
    await open('one process', ['--socket', unix], { unix })
    const workers = ['--port', port, '--workers', '3']
    await open('three workers', workers, { hostname: '127.0.0.1', port: Number(port) })
  }, 300_000)
  afterAll(async () => {
    for (const { running } of vaults.values()) await running.end('SIGTERM')
  })

  afterEach(() => release())

  const servedBy = (name: string): Served => {
    const served = vaults.get(name)
    if (served === undefined) throw new Error('no such vault')
    return served
  }

  /** Holds a table of a vault until it is called. */
  async function held(
    { schema }: Served,
    table: string,
    mode: string,
  ): Promise<() => Promise<void>> {
    const end = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const lock = server.sql.begin(async sql => {
      await sql.unsafe(`LOCK TABLE ${schema}.${table} IN ${mode} MODE`)
      locked.resolve()
      await end.promise
    })
    await locked.promise
    release = async () => {
      end.resolve()
      await lock
    }
    return release
  }

  /** Waits until somebody waits for that table. */
  async function waitedFor({ schema }: Served, table: string): Promise<void> {
    const text = `SELECT 1 FROM pg_locks WHERE NOT granted
AND relation = '${schema}.${table}'::regclass`
    while ((await server.sql.unsafe(text)).length === 0) await Bun.sleep(10)
  }

  /** Reads, and tries again if it waited for too long, as on a busy machine. */
  async function readOf(target: Target, path: string, key: string) {
    let read = await askOnce(target, 'GET', path, { key })
    while (read.status === 503) read = await askOnce(target, 'GET', path, { key })
    return read
  }

  /** Sends many requests of one credential at once; `statuses` are the answers so far. */
  function flood({ target, one: key }: Served, count: number, path: string, body: object) {
    const statuses: number[] = []
    const all = Array.from({ length: count }, async () => {
      const { status } = await askOnce(target, 'POST', path, { key, body })
      statuses.push(status)
    })
    return { statuses, ended: Promise.all(all) }
  }

  /** Searches behind so many searches of another credential, while a table is locked. */
  async function searchBehind(served: Served, count: number) {
    const { target, other, id } = served
    const search = { query: 'type:token' }
    const end = await held(served, 'chunks', 'ACCESS EXCLUSIVE')
    const { statuses, ended } = flood(served, count, '/tokens/search', search)
    await waitedFor(served, 'chunks')
    const asked = askOnce(target, 'POST', '/tokens/search', { key: other, body: search })
    // A request that needs no page, or has no live key, has nothing to wait for.
    const read = await readOf(target, `/tokens/${id}`, other)
    const stranger = await askOnce(target, 'POST', '/tokens/search', { key: 'no', body: search })
    expect([read.status, stranger.status]).toEqual([200, 401])
    await end()
    const { status } = await asked
    const before = statuses.filter(each => each === 200).length
    await ended
    // Requests of the other caller may have waited for too long.
    expect(statuses.filter(each => each !== 200 && each !== 503)).toEqual([])
    return { status, before }
  }

  // proves E10.17
  test.each([
    ['one process', 300],
    ['three workers', 300],
  ])(
    '%s: a search is not behind the hundreds of another credential',
    async (name, count) => {
      const served = servedBy(name)
      let seen = await searchBehind(served, count)
      // A read waits for so long and no longer: on a busy machine all of them may have.
      while (seen.status === 503) seen = await searchBehind(served, count)
      expect(seen.status).toBe(200)
      expect(seen.before).toBeLessThan(count / 2)
    },
    300_000,
  )

  /** Creates behind so many creates of another credential, while no row can be written. */
  async function createBehind(served: Served, count: number) {
    const { target, other, id } = served
    const end = await held(served, 'rows', 'SHARE')
    const { statuses, ended } = flood(served, count, '/tokens', token)
    await waitedFor(served, 'rows')
    const read = await readOf(target, `/tokens/${id}`, other)
    const asked = askOnce(target, 'POST', '/tokens', { key: other, body: token })
    const refused = await askOnce(target, 'POST', '/tokens', { key: other, body: { type: 'no' } })
    expect([read.status, refused.status]).toEqual([200, 400])
    expect(statuses.filter(status => status !== 503)).toEqual([])
    await end()
    const { status } = await asked
    const before = statuses.length
    await ended
    return { before, statuses: [status, ...statuses] }
  }

  // proves E10.17
  test('a create is not behind all the hundreds of another credential', async () => {
    const served = servedBy('one process')
    const count = 900
    let seen = await createBehind(served, count)
    // A write waits for so long and no longer: on a busy machine some of them may have.
    while (seen.statuses.includes(503)) seen = await createBehind(served, count)
    expect(seen.statuses).toEqual(Array.from({ length: 1 + count }, () => 201))
    expect(seen.before).toBeLessThan(count - 100)
  }, 300_000)

  // proves C2.30
  test.each(['one process', 'three workers'])(
    '%s: a database that is away is waited for by a write that begins then, not by a read',
    async name => {
      const served = servedBy(name)
      const { target, other: key, id } = served
      const gone = await askOnce(target, 'POST', '/tokens', { key, body: token })
      const { id: goneId } = JSON.parse(gone.text) as { id: string }
      // Each credential is read there first.
      const end = await held(served, 'state', 'ACCESS EXCLUSIVE')
      let isBack = false
      const write = async (method: string, path: string, body?: object) => {
        const { status } = await askOnce(target, method, path, { key, body })
        return [status, isBack]
      }
      const writes = [
        write('POST', '/tokens', token),
        write('PATCH', `/tokens/${id}`, { metadata: { a: 'b' } }),
        write('DELETE', `/tokens/${goneId}`),
      ]
      const reads = await Promise.all([
        askOnce(target, 'GET', `/tokens/${id}`, { key }),
        askOnce(target, 'POST', '/tokens/search', { key, body: { query: 'type:token' } }),
      ])
      expect(reads.map(({ status }) => status)).toEqual([503, 503])
      isBack = true
      await end()
      const landed = await Promise.all(writes)
      expect(landed).toEqual([
        [201, true],
        [200, true],
        [204, true],
      ])
    },
    300_000,
  )
})
