/**
 * A PostgreSQL of Debian for tests: one server for a run, a schema for each test.
 * @module
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { parseDatabase, type DatabaseAddress } from '../../src/store/postgres/address.ts'
import { atEnd } from './at-end.ts'

const versions = '/usr/lib/postgresql'

/** Where its programs are; `undefined` where it is not installed. */
const postgresPrograms: string | undefined = existsSync(versions)
  ? readdirSync(versions)
      .toSorted((a, b) => Number(b) - Number(a))
      .map(version => join(versions, version, 'bin'))
      .find(folder => existsSync(join(folder, 'postgres')))
  : undefined

/** The server runs as nobody that may do anything else: it refuses to be root. */
const asPostgres = (command: readonly string[]): readonly string[] =>
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...command]
    : command

function run(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], { stdout: 'ignore', stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr.toString()}`)
}

/** `.ci/run` installs it; tests of it are skipped elsewhere. */
export const isPostgresThere = postgresPrograms !== undefined

export interface TestServer {
  /** Of the socket. */
  readonly folder: string
  readonly url: (schema: string) => string
  readonly address: (schema: string) => DatabaseAddress
  /** As its administrator. */
  readonly sql: SQL
  readonly stop: () => Promise<void>
}

const settings = ['listen_addresses=', 'fsync=off', 'max_connections=500', 'shared_buffers=64MB']

async function startPostgres(more: readonly string[] = []): Promise<TestServer> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'coffer-postgres-'))
  if (process.getuid?.() === 0) run(['chown', 'postgres', folder])
  const data = join(folder, 'data')
  const initdb = [
    join(postgresPrograms, 'initdb'),
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '--no-sync',
  ]
  run(asPostgres(initdb))
  const options = [...settings, ...more].flatMap(each => ['-c', each])
  const server = Bun.spawn(
    [...asPostgres([join(postgresPrograms, 'postgres'), '-D', data, '-k', folder, ...options])],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const path = join(folder, '.s.PGSQL.5432')
  const open = () =>
    new SQL({
      adapter: 'postgres',
      path,
      database: 'postgres',
      username: 'postgres',
      password: '',
      tls: false,
      max: 2,
    })
  let sql = open()
  for (let tries = 0; ; tries += 1) {
    try {
      await sql.unsafe('SELECT 1')
      break
    } catch (error) {
      if (tries > 200) throw error
      await sql.close({ timeout: 0 }).catch(() => {})
      await Bun.sleep(50)
      sql = open()
    }
  }
  const url = (schema: string) =>
    `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}&schema=${schema}`
  return {
    folder,
    url,
    address: schema => parseDatabase(url(schema)),
    sql,
    async stop() {
      await sql.close({ timeout: 0 }).catch(() => {})
      server.kill('SIGQUIT')
      await server.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** All of a schema, as text. */
export async function dumpOf({ folder }: TestServer, schema: string): Promise<string> {
  const program = join(postgresPrograms ?? '', 'pg_dump')
  const words = ['-h', folder, '-U', 'postgres', '-n', schema, 'postgres']
  const child = Bun.spawn([program, ...words], { stdout: 'pipe', stderr: 'pipe' })
  const [text, trouble] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`pg_dump: ${trouble}`)
  return text
}

let shared: Promise<TestServer> | undefined

/** One server for all tests of a process. */
export function sharedPostgres(): Promise<TestServer> {
  shared ??= startPostgres().then(server => {
    atEnd(async () => {
      shared = undefined
      await server.stop()
    })
    return server
  })
  return shared
}

let schemas = 0

/** A name that no other test of this process has. */
export const nextSchema = (): string => `t${process.pid}_${(schemas += 1)}`
