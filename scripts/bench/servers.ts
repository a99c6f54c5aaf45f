/**
 * Servers under test, started for one measurement and ended after it.
 * @module
 */
import { join, resolve } from 'node:path'
import { writeFileSync } from 'node:fs'
import { startChild, type RunOptions } from './child.ts'
import { ask, type LoadRequest } from './load.ts'
import type { Bench } from './scenario.ts'

export interface Server {
  /** `http://127.0.0.1:3333` */
  readonly address: string
  readonly pid: number
}

/** A server prints its address as the last word when it is ready. */
async function withServer<T>(
  command: readonly string[],
  use: (server: Server) => Promise<T>,
  options: RunOptions = {},
): Promise<T> {
  const child = await startChild(command, options)
  try {
    return await use({ address: child.ready.split(/\s/).at(-1) ?? '', pid: child.pid })
  } finally {
    await child.stop()
  }
}

const watching = ['--ops-port', '0', '--log-requests', 'all', '--log-format', 'json']

/** Serves a data folder. */
export function withCoffer<T>(
  { coffer, isWatched, folder: parent }: Bench,
  folder: string,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const command = [...coffer, 'serve', '--data', folder, '--port', '0']
  if (!isWatched) return withServer(command, use)
  return withServer([...command, ...watching], use, { log: join(parent, 'requests.log') })
}

const elysiaFloor = resolve(import.meta.dir, 'floors/elysia.ts')
/** Headers that the server makes for each answer. */
const serverHeaders = ['connection', 'content-length', 'date']

/**
 * Floor (a): a bare route of the framework that returns the same bytes and headers.
 * @param like  it gives the vault's answer to this request, to any request
 */
export async function withElysiaFloor<T>(
  bench: Bench,
  coffer: Server,
  like: LoadRequest,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const answer = await ask(coffer.address, like)
  const headers = Object.fromEntries(answer.headers)
  for (const name of serverHeaders) delete headers[name]
  const file = join(bench.folder, 'elysia-floor.json')
  writeFileSync(file, JSON.stringify({ body: await answer.text(), headers }))
  return withServer([process.execPath, elysiaFloor, file], use, { env: { NODE_ENV: 'production' } })
}

const handRolled = resolve(import.meta.dir, 'floors/fastify-vault.mjs')

/** Floor (c), on Node.js, as a small team would run it. @param database  folder of its socket */
export const withHandRolled = <T>(
  database: string,
  key: string,
  use: (server: Server) => Promise<T>,
): Promise<T> =>
  withServer(['node', handRolled], use, {
    env: {
      NODE_ENV: 'production',
      PGHOST: database,
      PGUSER: 'postgres',
      PGDATABASE: 'postgres',
      VAULT_API_KEY: key,
    },
  })
