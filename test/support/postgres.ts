/**
 * Debian's PostgreSQL for tests: one server per run, one schema per test.
 * @module
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { SQL } from 'bun'
import { parseDatabase, type DatabaseAddress } from '../../src/store/postgres/address.ts'
import { atEnd } from './at-end.ts'

const versions = '/usr/lib/postgresql'

/** Folder of its programs; `undefined` if it is not installed. */
const postgresPrograms: string | undefined = existsSync(versions)
  ? readdirSync(versions)
      .toSorted((a, b) => Number(b) - Number(a))
      .map(version => join(versions, version, 'bin'))
      .find(folder => existsSync(join(folder, 'postgres')))
  : undefined

/** The server runs as an unprivileged user: it refuses to run as root. */
export const asPostgres = (command: readonly string[]): readonly string[] =>
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...command]
    : command

/** @throws Error with its output */
export function run(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], { stdout: 'ignore', stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr.toString()}`)
}

/** Installed by `.ci/run`; elsewhere its tests are skipped. */
export const isPostgresThere = postgresPrograms !== undefined

export interface TestServer {
  readonly folder: string
  readonly socket: string
  readonly url: (schema: string) => string
  readonly address: (schema: string) => DatabaseAddress
  /** Connection of its administrator. */
  readonly sql: SQL
  readonly stop: () => Promise<void>
}

const settings = ['listen_addresses=', 'fsync=off', 'max_connections=500', 'shared_buffers=64MB']

/** Deviations from the default server. */
export interface ServerOptions {
  /** Port of loopback to listen on as well. */
  readonly port?: string
  readonly settings?: readonly string[]
  /** Lines of pg_hba.conf, before the administrator's for the socket. */
  readonly hba?: readonly string[]
  /** Parent of its folder, instead of the temporary ones: on a small disk. */
  readonly parent?: string
  /** More flags of `initdb`. */
  readonly initdb?: readonly string[]
  /** Makes the data, in place of `initdb`. */
  readonly make?: (data: string) => void
}

const initdbFlags = ['-U', 'postgres', '-A', 'trust', '--no-sync']
const templates = resolve(import.meta.dir, '../../node_modules/.cache/coffer')

/** @param data a folder that does not exist yet, where the server's user may write */
function runInitdb(programs: string, data: string, flags: readonly string[] = []): void {
  run(asPostgres([join(programs, 'initdb'), '-D', data, ...initdbFlags, ...flags]))
}

/** Keeps the output of `initdb` for later servers; among parallel ones, the first wins. */
function keepTemplate(data: string, template: string): void {
  mkdirSync(templates, { recursive: true })
  const copy = mkdtempSync(`${template}-`)
  run(['cp', '-a', data, join(copy, 'data')])
  try {
    renameSync(join(copy, 'data'), template)
  } catch (error) {
    if (!existsSync(template)) throw error
  }
  rmSync(copy, { recursive: true })
}

/** `initdb` takes more processor time than the rest of a start, so its output is copied. */
function copyTemplate(programs: string, data: string): void {
  const key = Bun.hash.crc32([programs, ...initdbFlags].join(' ')).toString(16)
  const template = join(templates, `postgres-${key}`)
  if (existsSync(template)) return run(['cp', '-a', template, data])
  runInitdb(programs, data)
  keepTemplate(data, template)
}

function makeData(
  programs: string,
  data: string,
  { hba = [], initdb = [], make }: ServerOptions,
): void {
  if (make !== undefined) return make(data)
  if (initdb.length > 0) runInitdb(programs, data, initdb)
  else copyTemplate(programs, data)
  if (hba.length === 0) return
  writeFileSync(
    join(data, 'pg_hba.conf'),
    ['local all postgres trust', ...hba].map(each => `${each}\n`).join(''),
  )
}

const openAdministrator = (socket: string): SQL =>
  new SQL({
    adapter: 'postgres',
    path: socket,
    database: 'postgres',
    username: 'postgres',
    password: '',
    tls: false,
    max: 2,
  })

async function untilAnswered(socket: string): Promise<SQL> {
  for (let tries = 0; ; tries += 1) {
    const sql = openAdministrator(socket)
    try {
      await sql.unsafe('SELECT 1')
      return sql
    } catch (error) {
      if (tries > 4_000) throw error
      await sql.close({ timeout: 0 }).catch(() => {})
      await Bun.sleep(50)
    }
  }
}

export async function startPostgres(options: ServerOptions = {}): Promise<TestServer> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed')
  const folder = mkdtempSync(join(options.parent ?? tmpdir(), 'coffer-postgres-'))
  if (process.getuid?.() === 0) run(['chown', 'postgres', folder])
  const data = join(folder, 'data')
  makeData(postgresPrograms, data, options)
  const { port = '5432' } = options
  const listening = options.port === undefined ? [] : ['listen_addresses=127.0.0.1']
  const flags = [...settings, ...listening, `port=${port}`, ...(options.settings ?? [])].flatMap(
    each => ['-c', each],
  )
  const server = Bun.spawn(
    [...asPostgres([join(postgresPrograms, 'postgres'), '-D', data, '-k', folder, ...flags])],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const socket = join(folder, `.s.PGSQL.${port}`)
  const sql = await untilAnswered(socket)
  const place = `localhost:${port}/postgres?host=${encodeURIComponent(folder)}`
  const url = (schema: string) => `postgres://postgres@${place}&schema=${schema}`
  return {
    folder,
    socket,
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

/** The same database by a port of loopback in place of a socket; a proxy there passes it on. */
export function throughPort(address: DatabaseAddress, port: number): DatabaseAddress {
  const { path: _, ...rest } = address
  return { ...rest, hostname: '127.0.0.1', port }
}

/** Starts a read-only server that follows another. */
export const startStandby = ({ folder: of }: TestServer): Promise<TestServer> =>
  startPostgres({
    make: data => {
      const program = join(postgresPrograms ?? '', 'pg_basebackup')
      const words = ['-h', of, '-U', 'postgres', '-D', data, '-R', '-X', 'stream', '-c', 'fast']
      run(asPostgres([program, ...words]))
    },
  })

/** Dumps a whole schema as text. */
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
