/**
 * The sum over all rows of a database, as a person meets it: `coffer verify` finds rows that its
 * administrator put back or took away, also while vaults serve, and nothing in one that was used.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { cofferCommand, runCoffer, type Ended, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { dumpOf, isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { addReader, ask, serve } from './served.ts'

const slowMs = 300_000
const differ =
  'rows_differ: rows or entries of the log were put back, added or taken away, not by this vault'
const outdated = 'sum_outdated: the sum over all rows is not of the same moment as the audit log'
const missing = 'sum_missing: the sum over all rows was taken away'
const notBegun = 'rows put back with their index entries are not found yet: run coffer db sum once'

interface Vault {
  readonly data: string
  readonly schema: string
  readonly key: string
  readonly run: (sql: string) => Promise<unknown>
}

const socketOf = (): string => join(temporaryFolder(), 'socket')

async function makeVault(): Promise<Vault> {
  const server = await sharedPostgres()
  const schema = nextSchema()
  const data = join(temporaryFolder(), 'vault')
  const words = ['init', '--data', data, '--store', server.url(schema), '--json']
  const { key } = JSON.parse((await runCoffer(words)).stdout) as { key: string }
  const run = (sql: string) => server.sql.unsafe(sql.replaceAll('@', `${schema}.`))
  return { data, schema, key, run }
}

const verify = (data: string, ...more: string[]): Promise<Ended> =>
  runCoffer(['verify', '--data', data, ...more])

async function expectSound(data: string): Promise<void> {
  const { exitCode, stdout, stderr } = await verify(data, '--json')
  const { damages, sum } = JSON.parse(stdout) as Record<string, unknown>
  expect([exitCode, stderr, damages, sum]).toEqual([0, '', [], 'compared'])
}

async function findingsIn(data: string): Promise<string[]> {
  const { exitCode, stdout } = await verify(data)
  const lines = stdout.trimEnd().split('\n')
  expect([exitCode, lines.pop()]).toEqual([1, expect.stringMatching(/^rows: keyring 1, /)])
  return lines
}

async function command(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCoffer(words)
  expect([words, exitCode, stderr]).toEqual([words, 0, expect.any(String)])
  return stdout
}

const makeToken = async (socket: string, key: string, id: string): Promise<void> => {
  const { status } = await ask(socket, key, '/tokens', { id, type: 'token', data: `of ${id}` })
  expect(status).toBe(201)
}

const tables = ['rows', 'uniques', 'recent', 'sums', 'receipts']

/** A vault of which a copy of the tables was kept before a token was deleted. */
async function makeChanged() {
  const vault = await makeVault()
  const { data, run, key: managementKey } = vault
  const socket = socketOf()
  const server = await serve(data, socket)
  const key = await addReader(socket, managementKey)
  for (const id of ['goes', 'stays']) await makeToken(socket, key, id)
  for (const table of tables) await run(`CREATE TABLE @kept_${table} AS SELECT * FROM @${table}`)
  expect((await ask(socket, key, '/tokens/goes', undefined, 'DELETE')).status).toBe(204)
  const putBack = async (names = ['rows', 'uniques', 'recent']): Promise<void> => {
    for (const table of names) {
      await run(`INSERT INTO @${table} SELECT * FROM @kept_${table} ON CONFLICT DO NOTHING`)
    }
  }
  return { ...vault, key, socket, server, putBack }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault in a database, of which its administrator', () => {
  // proves S110
  test(
    'put a deleted token back serves it, and verify tells, while it is served and afterwards',
    async () => {
      const { data, key, socket, server, putBack } = await makeChanged()
      await expectSound(data)
      await putBack()
      expect((await ask(socket, key, '/tokens/goes')).body).toMatchObject({ data: 'of goes' })
      expect(await findingsIn(data)).toEqual([differ])
      await makeToken(socket, key, 'later')
      await server.end('SIGTERM')
      expect(await findingsIn(data)).toEqual([differ])
      for (const words of [['rotate'], ['retire'], ['rekey']]) {
        await command('keys', ...words, '--data', data)
        expect(await findingsIn(data)).toEqual([differ])
      }
      const moving = await runCoffer(['move', '--data', data, '--to', 'folder'])
      expect([moving.exitCode, moving.stderr]).toEqual([1, expect.stringContaining('is damaged')])
      const summing = await runCoffer(['db', 'sum', '--data', data])
      expect([summing.exitCode, summing.stderr]).toEqual([1, expect.stringContaining('is damaged')])
    },
    slowMs,
  )

  // proves S111
  test(
    'took parts of the sum away, or put them back with the rows, is told as well',
    async () => {
      const { data, run, server, putBack } = await makeChanged()
      await server.end('SIGTERM')
      await run('CREATE TABLE @now AS SELECT * FROM @sums')
      await run('DELETE FROM @sums WHERE writer = (SELECT writer FROM @sums LIMIT 1)')
      expect(await findingsIn(data)).toContain(differ)
      await run('DROP TABLE @sums')
      expect(await findingsIn(data)).toEqual([missing])
      for (const table of tables.slice(0, 3)) await run(`DELETE FROM @${table}`)
      await putBack(tables)
      expect(await findingsIn(data)).toEqual([differ, outdated])
    },
    slowMs,
  )
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault whose database does not have what it answered', () => {
  // proves S140
  test(
    'says so at its next write, and nothing of the kind before',
    async () => {
      const { key, socket, server, putBack, run } = await makeChanged()
      await makeToken(socket, key, 'more')
      expect(server.said()).not.toContain('writes_lost')
      for (const table of tables.slice(0, 4)) await run(`DELETE FROM @${table}`)
      await putBack(tables.slice(0, 4))
      await makeToken(socket, key, 'later')
      const { length } = server.said().match(/"level":"error","event":"writes_lost"/g) ?? []
      expect(length).toBeGreaterThan(0)
      expect((await ask(socket, key, '/tokens/goes')).status).toBe(200)
      await server.end('SIGTERM')
    },
    slowMs,
  )
})

const unfit = 'the rows do not fit the sum that its vaults kept'

/** Begins to move a vault into its folder, and returns once no other process may open it. */
async function beginMove({ data, run }: Vault) {
  const words = [...cofferCommand, 'move', '--data', data, '--to', 'folder']
  const moving = Bun.spawn(words, { stdout: 'ignore', stderr: 'pipe' })
  const isBegun = async () => ((await run('SELECT FROM @state WHERE format = -2')) as []).length > 0
  while (moving.exitCode === null && !(await isBegun())) await Bun.sleep(5)
  return moving
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault that moves out of a database', () => {
  // proves S110
  test(
    'stays there if rows are put back after its check, and verify still tells',
    async () => {
      const vault = await makeChanged()
      await vault.server.end('SIGTERM')
      const moving = await beginMove(vault)
      await vault.putBack()
      expect(await new Response(moving.stderr).text()).toContain(unfit)
      expect([await moving.exited, existsSync(join(vault.data, 'store', 'data.mdb'))]).toEqual([
        1,
        false,
      ])
      expect(await findingsIn(vault.data)).toEqual([differ])
    },
    slowMs,
  )

  // proves S110
  test(
    'stays there if rows are put back while its move is cut off, and moves without them',
    async () => {
      const vault = await makeChanged()
      const { data, run, server, socket, key } = vault
      await server.end('SIGTERM')
      const moving = await beginMove(vault)
      moving.kill('SIGKILL')
      await moving.exited
      await run('CREATE TABLE @now_rows AS SELECT * FROM @rows')
      await vault.putBack()
      const again = await runCoffer(['move', '--data', data, '--to', 'folder'])
      expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining(unfit)])
      for (const table of ['uniques', 'recent', 'rows']) {
        await run(`DELETE FROM @${table} WHERE ordinal NOT IN (SELECT ordinal FROM @now_rows)`)
      }
      await command('move', '--data', data, '--to', 'folder')
      await expectSound(data)
      const own = await serve(data, socket)
      expect((await ask(socket, key, '/tokens/goes')).status).toBe(404)
      expect((await ask(socket, key, '/tokens/stays')).status).toBe(200)
      await own.end('SIGTERM')
    },
    slowMs,
  )
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault in a database that was only used', () => {
  let vault: Vault
  beforeEach(async () => {
    vault = await makeVault()
  })

  /** Makes, changes and deletes tokens until the vault ends. */
  async function use(socket: string, key: string, name: string, count: number): Promise<void> {
    const ids = Array.from({ length: count }, (_, i) => `${name}-${i}`)
    await Promise.all(
      ids.map(async (id, i) => {
        await ask(socket, key, '/tokens', { id, type: 'token', data: id, metadata: { a: 'b' } })
        if (i % 3 === 0) await ask(socket, key, `/tokens/${id}`)
        if (i % 4 === 0) await ask(socket, key, `/tokens/${id}`, undefined, 'DELETE')
      }),
    )
  }

  test(
    'is sound while two serve it, at any moment, and after a kill of both',
    async () => {
      const { data, key: managementKey } = vault
      const sockets = [socketOf(), socketOf()]
      const other = join(temporaryFolder(), 'other')
      const url = (await sharedPostgres()).url(vault.schema)
      const served: Running[] = [await serve(data, sockets[0] ?? '')]
      const master = ['--master-key-file', join(data, 'master.key'), '--store', url]
      served.push(await serve(other, sockets[1] ?? '', ...master))
      const key = await addReader(sockets[0] ?? '', managementKey)
      const working = sockets.map((socket, at) => use(socket, key, `first-${at}`, 60))
      for (let looks = 0; looks < 3; looks += 1) await expectSound(data)
      await Promise.all(working)
      await expectSound(data)
      const cut = sockets.map((socket, at) =>
        use(socket, key, `cut-${at}`, 200).catch(() => undefined),
      )
      for (const server of served) await server.end('SIGKILL')
      await Promise.all(cut)
      await expectSound(data)
    },
    slowMs,
  )

  test(
    'is sound after keys were rotated, retired and replaced, a dump, and a move there and back',
    async () => {
      const { data, schema, run } = vault
      for (const words of [['rotate'], ['retire'], ['rekey']]) {
        await command('keys', ...words, '--data', data)
        await expectSound(data)
      }
      const server = await sharedPostgres()
      const dump = await dumpOf(server, schema)
      await command('move', '--data', data, '--to', 'folder')
      await expectSound(data)
      await run(`DROP SCHEMA ${schema} CASCADE`)
      await command('move', '--data', data, '--to', server.url(schema))
      await expectSound(data)
      expect(dump).toContain('sums')
      expect(await command('db', 'sum', '--data', data)).toContain('and they fit it')
    },
    slowMs,
  )
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault in a database that an earlier coffer made', () => {
  const vectors = resolve(import.meta.dir, '../vectors/format-4/folder')

  async function unpack(): Promise<string> {
    const data = join(temporaryFolder(), 'vault')
    mkdirSync(join(data, 'store'), { recursive: true, mode: 0o700 })
    for (const file of ['format', 'master.key']) {
      writeFileSync(join(data, file), readFileSync(join(vectors, file)), { mode: 0o600 })
    }
    const database = gunzipSync(readFileSync(join(vectors, 'data.mdb.gz')))
    writeFileSync(join(data, 'store', 'data.mdb'), database, { mode: 0o600 })
    return data
  }

  test(
    'keeps no sum, which verify says, until it is begun',
    async () => {
      const data = await unpack()
      const server = await sharedPostgres()
      const schema = nextSchema()
      const refused = await runCoffer(['db', 'sum', '--data', data])
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('compact')])
      await command('move', '--data', data, '--to', server.url(schema))
      // As the coffer that made it left it.
      await server.sql.unsafe(`DROP TABLE ${schema}.sums`)
      const serving = await serve(data, socketOf())
      const { exitCode, stdout } = await verify(data)
      expect([exitCode, stdout.trimEnd().split('\n').at(-1)]).toEqual([0, notBegun])
      const other = join(temporaryFolder(), 'other')
      const at = ['--master-key-file', join(data, 'master.key'), '--store', server.url(schema)]
      const busy = await runCoffer(['db', 'sum', '--data', other, ...at])
      expect([busy.exitCode, busy.stderr]).toEqual([1, expect.stringContaining('is served')])
      await serving.end('SIGTERM')
      await command('db', 'sum', '--data', data)
      await expectSound(data)
      await (await serve(data, socketOf())).end('SIGTERM')
      await expectSound(data)
      await server.sql.unsafe(`DELETE FROM ${schema}.sums`)
      expect(await findingsIn(data)).toEqual([missing])
    },
    slowMs,
  )
})
