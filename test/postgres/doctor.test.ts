/**
 * Findings of `coffer doctor` on the database of a vault.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judgeDatabase } from '../../src/cli/doctor/database-findings.ts'
import { parseDatabase } from '../../src/store/postgres/address.ts'
import type { DatabaseFacts } from '../../src/store/postgres/database-facts.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPgbouncerThere, startPgbouncer } from '../support/pgbouncer.ts'
import {
  isPostgresThere,
  nextSchema,
  startPostgres,
  startStandby,
  type TestServer,
} from '../support/postgres.ts'

const direct = parseDatabase('postgres://localhost/coffer')
const pooled = parseDatabase('postgres://localhost/coffer?pgbouncer=true')

const well: DatabaseFacts = {
  version: 150_018,
  isStandby: false,
  settings: {
    default_transaction_read_only: 'off',
    synchronous_commit: 'on',
    synchronous_standby_names: '',
    fsync: 'on',
    full_page_writes: 'on',
    statement_timeout: '0',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
    standard_conforming_strings: 'on',
    bytea_output: 'hex',
    array_nulls: 'on',
    idle_in_transaction_session_timeout: '15000',
    search_path: 'pg_catalog',
    row_security: 'off',
  },
  connectionsMax: 97,
  skewMs: 0,
  tls: undefined,
  isOnOneMachine: true,
  maySeeStandbys: true,
}

const set = (settings: DatabaseFacts['settings']): Partial<DatabaseFacts> => ({
  settings: { ...well.settings, ...settings },
})

describe('of a database', () => {
  const judged = (facts: Partial<DatabaseFacts>, address = direct): string[] =>
    judgeDatabase(address, { ...well, ...facts }).map(
      ({ level, about, text }) => `${level}: ${about}: ${text}`,
    )

  test.each([
    ['that is well', {}],
    ['whose user may not see standbys, of which there are none', { maySeeStandbys: false }],
    ['with a standby that is waited for', set({ synchronous_standby_names: '*' })],
    [
      'whose commits wait for no standby, of which there is none',
      set({ synchronous_commit: 'local' }),
    ],
    ['whose clock is nearly ours', { skewMs: 900 }],
    ['whose statements may take long', set({ statement_timeout: '30000' })],
    ['with as many connections as a vault takes', { connectionsMax: 9 }],
    ['over TLS', { tls: 'TLSv1.3', isOnOneMachine: false }],
  ])('%s nothing is told', (_, facts) => {
    expect(judged(facts)).toEqual([])
  })

  test.each<[string, Partial<DatabaseFacts>, string]>([
    ['older than 14', { version: 130_022 }, 'fault: database: is older than PostgreSQL 14'],
    ['a standby', { isStandby: true }, 'fault: database: is a standby'],
    [
      'to be read alone',
      set({ default_transaction_read_only: 'on' }),
      'fault: database: is to be read alone by this user',
    ],
    [
      'with writes that are answered too early',
      set({ synchronous_commit: 'off' }),
      'fault: database: synchronous_commit is off',
    ],
    [
      'with a standby that is not waited for',
      set({ synchronous_commit: 'remote_write', synchronous_standby_names: '*' }),
      'warning: database: synchronous_commit waits for the disk of no standby',
    ],
    [
      'whose user may not see how far the standby is that is waited for',
      { ...set({ synchronous_standby_names: '*' }), maySeeStandbys: false },
      'warning: database: this user may not see how far standbys are',
    ],
    ['without fsync', set({ fsync: 'off' }), 'warning: database: fsync is off'],
    [
      'without whole pages',
      set({ full_page_writes: 'off' }),
      'warning: database: full_page_writes is off',
    ],
    [
      'that ends statements',
      set({ statement_timeout: '5000' }),
      'warning: database: ends what takes longer than its statement_timeout',
    ],
    [
      'with few connections',
      { connectionsMax: 8 },
      'warning: database: has fewer connections for this user than a vault takes: up to 9',
    ],
    ['with an old TLS', { tls: 'TLSv1.1' }, 'warning: database: speaks a TLS before 1.2'],
    [
      'behind whose clock this one is',
      { skewMs: -1_500 },
      'warning: clock: that of this machine is 1.5 s behind that of the database',
    ],
    [
      'far ahead of whose clock this one is',
      { skewMs: 60_000 },
      'fault: clock: that of this machine is 60.0 s ahead of that of the database: serve',
    ],
  ])('%s one line is told', (_, facts, line) => {
    const lines = judged(facts)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toStartWith(line)
  })

  test('behind a pool the settings of its user count, and TLS from there on', () => {
    const settings = { enable_seqscan: 'on', idle_in_transaction_session_timeout: '0' }
    expect(judged({ ...set(settings), connectionsMax: 3, isOnOneMachine: false }, pooled)).toEqual([
      expect.stringContaining('user: ALTER ROLE … SET enable_seqscan = off'),
      expect.stringContaining('idle_in_transaction_session_timeout is not 15000 for this user'),
      expect.stringContaining('without TLS from the pool'),
    ])
    expect(judged({}, pooled)).toEqual([])
  })
})

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('coffer doctor', () => {
  let server: TestServer
  let schema: string
  let data: string

  beforeAll(async () => {
    server = await startPostgres()
    schema = nextSchema()
    data = join(temporaryFolder(), 'v')
    const made = await runCoffer(['init', '--data', data, '--store', server.url(schema)])
    expect(made.exitCode).toBe(0)
  }, 300_000)
  afterAll(() => server.stop())

  interface Told {
    readonly exitCode: number
    readonly lines: readonly string[]
  }

  /** Returns the doctor's findings on the database, its clock and the folder. */
  async function doctor(...words: string[]): Promise<Told> {
    const { exitCode, stdout } = await runCoffer(['doctor', ...words])
    expect(stdout).not.toMatch(/postgres:\/\/|hunter2|[0-9a-f]{32}/)
    const lines = stdout.split('\n').filter(line => /: (?:database|clock|data folder): /.test(line))
    return { exitCode, lines }
  }

  /** Runs the doctor as another user, for a folder that is yet to come. */
  const as = (role: string, of = schema): Promise<Told> =>
    doctor(
      '--data',
      join(temporaryFolder(), 'none'),
      '--store',
      server.url(of).replace('postgres@', `${role}@`),
    )

  const noFsync = expect.stringContaining('warning: database: fsync is off')
  const noFolder = expect.stringContaining('note: data folder: there is none yet')

  test('finds a vault well, but that the database of tests has no fsync', async () => {
    expect(await doctor('--data', data)).toEqual({ exitCode: 0, lines: [noFsync] })
    const again = ['--data', data, '--store', server.url(schema)]
    expect(await doctor(...again)).toEqual({ exitCode: 0, lines: [noFsync] })
  })

  test('looks at a database before there is a folder, and makes none', async () => {
    const folder = join(temporaryFolder(), 'none')
    const told = await doctor('--data', folder, '--store', server.url(schema))
    expect(told).toEqual({ exitCode: 0, lines: [noFolder, noFsync] })
    expect(existsSync(folder)).toBe(false)
  })

  test('tells of a user whose writes are answered too early', async () => {
    await server.sql.unsafe('CREATE ROLE early LOGIN SUPERUSER')
    await server.sql.unsafe('ALTER ROLE early SET synchronous_commit = off')
    const { exitCode, lines } = await as('early')
    expect([exitCode, lines[1]]).toEqual([1, expect.stringContaining('synchronous_commit is off')])
  })

  test('tells of a user with few connections, and of one that may not look', async () => {
    await server.sql.unsafe('CREATE ROLE few LOGIN CONNECTION LIMIT 8')
    const { exitCode, lines } = await as('few')
    const refused = expect.stringContaining('refuses this user')
    const few = expect.stringContaining('has fewer connections for this user')
    expect([exitCode, lines]).toEqual([1, [noFolder, refused, noFsync, few]])
  })

  test('tells of a database without a vault, or with one of another format', async () => {
    const none = await as('postgres', 'nothing')
    expect(none).toEqual({
      exitCode: 1,
      lines: [noFolder, expect.stringContaining('has no vault'), noFsync],
    })
    await server.sql.unsafe(`UPDATE ${schema}.state SET format = format + 1`)
    const { exitCode, lines } = await doctor('--data', data)
    await server.sql.unsafe(`UPDATE ${schema}.state SET format = format - 1`)
    expect([exitCode, lines[0]]).toEqual([1, expect.stringContaining('use the newer coffer')])
  })

  test('tells of one that is down, and of a folder that does not say which one', async () => {
    const words = ['--data', join(temporaryFolder(), 'none'), '--store']
    const down = await doctor(...words, 'postgres://coffer@127.0.0.1:1/coffer')
    const line = expect.stringMatching(/^fault: database: .* does not answer/)
    expect(down).toEqual({ exitCode: 1, lines: [noFolder, line] })
    const other = join(temporaryFolder(), 'v')
    await runCoffer(['init', '--data', other, '--store', server.url(nextSchema())])
    writeFileSync(join(other, 'store', 'database'), '{}')
    const damaged = expect.stringContaining('store/database')
    expect(await doctor('--data', other)).toEqual({ exitCode: 1, lines: [damaged] })
  })

  test('tells of vaults that are ahead of its clock, until their mark is taken away', async () => {
    const hours = 5 * 60 * 60 * 1_000
    await server.sql.unsafe(`UPDATE ${schema}.state SET clock_ms = ${Date.now() + hours}`)
    const ahead = expect.stringMatching(
      /^warning: clock: .* 299 minutes ahead .*many-machines\.md$/,
    )
    expect(await doctor('--data', data)).toEqual({ exitCode: 0, lines: [noFsync, ahead] })
    const readiness = async () => {
      const vault = await startCoffer(['serve', '--data', data, '--port', '0', '--ops-port', '0'])
      const [ops = ''] = vault.ready.match(/http:\/\/127\.0\.0\.1:\d+/) ?? []
      const text = await (await fetch(`${ops}/readyz`)).text()
      const told = await doctor('--data', data)
      expect(await vault.end('SIGTERM')).toBe(0)
      return [text, told.lines]
    }
    expect(await readiness()).toEqual(['ready, but: clock_ahead\n', [noFsync, ahead]])
    await server.sql.unsafe(`UPDATE ${schema}.state SET clock_ms = 0`)
    expect(await readiness()).toEqual(['ready\n', [noFsync]])
  })

  test('tells of a standby', async () => {
    const standby = await startStandby(server)
    const words = ['--data', join(temporaryFolder(), 'none'), '--store', standby.url(schema)]
    const { exitCode, lines } = await doctor(...words)
    await standby.stop()
    expect([exitCode, lines[1]]).toEqual([
      1,
      'fault: database: is a standby, which takes no writes: name the primary',
    ])
  }, 300_000)

  test.skipIf(!isPgbouncerThere)('tells of what a user lacks behind a pool', async () => {
    const bouncer = await startPgbouncer(server)
    const { port } = bouncer.through(server.address(schema))
    const url = `postgres://postgres@127.0.0.1:${port}/postgres?schema=${schema}&pgbouncer=true`
    const words = ['--data', join(temporaryFolder(), 'none'), '--store', url]
    // `coffer init` leaves it as it is: another application may have tables that it finds.
    const path = expect.stringContaining('search_path is not pg_catalog for this user')
    const policies = expect.stringContaining('row_security is not off for this user')
    const lines = [noFolder, noFsync, path, policies]
    expect(await doctor(...words)).toEqual({ exitCode: 0, lines })
    await server.sql.unsafe('ALTER ROLE postgres IN DATABASE postgres RESET enable_seqscan')
    const fresh = await startPgbouncer(server)
    const through = fresh.through(server.address(schema))
    const again = url.replace(`:${port}/`, `:${through.port}/`)
    const lacks = expect.stringContaining('enable_seqscan is not off for this user')
    expect(await doctor(...words.slice(0, -1), again)).toEqual({
      exitCode: 0,
      lines: [noFolder, noFsync, lacks, path, policies],
    })
    await server.sql.unsafe('ALTER ROLE postgres IN DATABASE postgres SET enable_seqscan = off')
    await Promise.all([bouncer.stop(), fresh.stop()])
  })
})
