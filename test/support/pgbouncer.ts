/**
 * PgBouncer in front of a PostgreSQL of tests, pooling by transaction.
 * @module
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseAddress } from '../../src/store/postgres/address.ts'
import { findPort } from './free-port.ts'
import { asPostgres, run, throughPort, type TestServer } from './postgres.ts'

const program = '/usr/sbin/pgbouncer'

/** Installed by `.ci/run`; elsewhere its tests are skipped. */
export const isPgbouncerThere = existsSync(program)

export interface Bouncer {
  /** The same database, through it. */
  readonly through: (address: DatabaseAddress) => DatabaseAddress
  readonly stop: () => Promise<void>
}

const settingsOf = (folder: string, port: string, server: TestServer): string => `[databases]
* = host=${server.folder} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 1000
logfile = ${join(folder, 'log')}
pidfile = ${join(folder, 'pid')}
`

async function untilListens(port: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: Number(port),
        socket: { data() {} },
      })
      socket.end()
      return
    } catch (error) {
      if (tries > 8_000) throw error
      await Bun.sleep(25)
    }
  }
}

/** It refuses to run as root, as the server does. */
export async function startPgbouncer(server: TestServer): Promise<Bouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-pgbouncer-'))
  const port = findPort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(settings, settingsOf(folder, port, server))
  if (process.getuid?.() === 0) run(['chown', '-R', 'postgres', folder])
  const child = Bun.spawn([...asPostgres([program, settings])], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await untilListens(port)
  return {
    through: address => ({ ...throughPort(address, Number(port)), prepare: false }),
    async stop() {
      child.kill()
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
