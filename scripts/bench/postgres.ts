/**
 * A PostgreSQL cluster for floor (c): temporary, with default settings.
 *
 * The defaults are durable: fsync and synchronous commits are on. It listens on a socket alone.
 * @module
 */
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runToEnd } from './child.ts'

const debianFolder = '/usr/lib/postgresql'
const owner = 'postgres'
const isRoot = process.getuid?.() === 0

/** Returns the folder with the programs of the newest server, if any. */
export function findPostgres(): string | undefined {
  if (!existsSync(debianFolder)) return undefined
  const versions = readdirSync(debianFolder).toSorted((a, b) => Number(b) - Number(a))
  return versions
    .map(version => join(debianFolder, version, 'bin'))
    .find(folder => existsSync(join(folder, 'initdb')))
}

/** The server refuses to run as root. */
const asOwner = (command: readonly string[]): string[] =>
  isRoot ? ['runuser', '-u', owner, '--', ...command] : [...command]

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-bench-postgres-'))
  const home = '/var/lib/postgresql'
  if (isRoot && existsSync(home)) {
    const { uid, gid } = statSync(home)
    chownSync(folder, uid, gid)
  }
  return folder
}

export interface Cluster {
  /** Folder of its socket; `PGHOST`. */
  readonly host: string
  readonly version: string
  readonly query: (sql: string) => Promise<string>
}

/** @param programs  of `findPostgres` */
export async function withPostgres<T>(
  programs: string,
  use: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const folder = makeFolder()
  const data = join(folder, 'data')
  const cwd = { cwd: folder }
  const program = (name: string, ...words: string[]) => asOwner([join(programs, name), ...words])
  const stopNow = program('pg_ctl', 'stop', '-D', data, '-m', 'immediate')
  const abandon = () => {
    Bun.spawnSync(stopNow, { ...cwd, stdio: ['ignore', 'ignore', 'ignore'] })
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', abandon)
  try {
    await runToEnd(program('initdb', '-D', data, '-A', 'trust', '-U', owner), cwd)
    const settings = `-k ${folder} -c listen_addresses=''`
    const start = ['start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', settings]
    await runToEnd(program('pg_ctl', ...start), cwd)
    const connection = ['-h', folder, '-U', owner, '-d', 'postgres', '-X', '-A', '-t']
    const query = (sql: string) => runToEnd(program('psql', ...connection, '-c', sql), cwd)
    return await use({ host: folder, version: await query('show server_version'), query })
  } finally {
    abandon()
    process.off('exit', abandon)
  }
}
