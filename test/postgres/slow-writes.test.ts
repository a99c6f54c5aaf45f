/**
 * Requests that wait for a database for longer than a connection may idle: they are under way, and
 * get their answer. A connection that idles, or reads no answer, is ended as ever.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type NetConnectOpts } from 'node:net'
import { join } from 'node:path'
import { idleSecondsMax } from '../../src/limits/limits.ts'
import { selfSigned } from '../support/certificates.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import {
  isPostgresThere,
  nextSchema,
  sharedPostgres,
  type TestServer,
} from '../support/postgres.ts'

/** The server looks at its timers every 4 seconds. */
const waitMs = (idleSecondsMax + 5) * 1_000

interface Served {
  readonly name: string
  readonly running: Running
  readonly key: string
  readonly schema: string
  readonly ask: (method: string, path: string, body?: object) => Promise<Response>
}

const application = { name: 'app', type: 'private', permissions: ['token:create'] }

const bodyOf = (body: object | undefined) =>
  body === undefined ? {} : { body: JSON.stringify(body) }

describe.skipIf(!isPostgresThere)('while the database keeps writes waiting', () => {
  let server: TestServer
  const vaults: Served[] = []
  let path: string

  async function open(name: string, words: readonly string[], base: string, more: object = {}) {
    const data = join(temporaryFolder(), 'v')
    const schema = nextSchema()
    const init = ['init', '--data', data, '--store', server.url(schema), '--json']
    const { stdout } = await runCoffer(init)
    const { key } = JSON.parse(stdout) as { key: string }
    const running = await startCoffer(['serve', '--data', data, ...words])
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' }
    const ask = (method: string, path: string, body?: object): Promise<Response> =>
      fetch(base + path, { method, headers, ...bodyOf(body), ...more } as RequestInit)
    vaults.push({ name, running, key, schema, ask })
  }

  beforeAll(async () => {
    server = await sharedPostgres()
    const folder = temporaryFolder()
    const { cert, key } = selfSigned(folder, 'served')
    const [one, three, tls] = [findPort(), findPort(), findPort()]
    path = join(folder, 'served.sock')
    await open('one process', ['--port', one], `http://127.0.0.1:${one}`)
    const workers = ['--port', three, '--workers', '3']
    await open('three workers', workers, `http://127.0.0.1:${three}`)
    const files = ['--port', tls, '--tls-cert', cert, '--tls-key', key]
    const trusted = { tls: { rejectUnauthorized: false } }
    await open('TLS', files, `https://127.0.0.1:${tls}`, trusted)
    await open('a socket', ['--socket', path], 'http://vault', { unix: path })
  }, 300_000)
  afterAll(async () => {
    for (const { running } of vaults) await running.end('SIGTERM')
  })

  test('all are answered, without a body and with one', async () => {
    const apps = await Promise.all(
      vaults.map(async ({ ask }) => {
        const make = async (): Promise<string> => {
          const made = await ask('POST', '/applications', application)
          return ((await made.json()) as { id: string }).id
        }
        return [await make(), await make()] as const
      }),
    )
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const lock = server.sql.begin(async sql => {
      const tables = vaults.map(({ schema }) => `${schema}.rows`)
      await sql.unsafe(`LOCK TABLE ${tables.join(', ')} IN SHARE MODE`)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const note = async (name: string, what: string, answer: Promise<Response>) =>
      [name, what, await answer.then(({ status }) => status, String)] as const
    const asked = vaults.flatMap(({ name, ask }, index) => {
      const [gone, renewed] = apps[index] ?? []
      return [
        note(name, 'delete', ask('DELETE', `/applications/${gone}`)),
        note(name, 'regenerate', ask('POST', `/applications/${renewed}/regenerate`)),
        note(name, 'create', ask('POST', '/applications', application)),
      ]
    })
    await Bun.sleep(waitMs)
    held.resolve()
    await lock
    const expected = vaults.flatMap(({ name }) => [
      [name, 'delete', 204],
      [name, 'regenerate', 200],
      [name, 'create', 201],
    ])
    expect<unknown>(await Promise.all(asked)).toEqual(expected)
  }, 300_000)

  /** Returns the status that came until the connection ended, if any. */
  function endedBy(where: NetConnectOpts, text: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    let answer = ''
    const socket = connect(where, () => socket.write(text))
    socket.on('data', data => (answer += data.toString('latin1')))
    socket.on('close', () => resolve(answer.slice(0, 12)))
    return promise
  }

  test('and what idles after its answer, or begins and does not go on, still ends', async () => {
    const [{ key, running } = {} as Served] = vaults
    const port = Number(/:(\d+)/.exec(running.ready)?.[1])
    const head = `HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${key}\r\n`
    const gone = `DELETE /applications/nobody ${head}\r\n`
    const length = 'Content-Type: application/json\r\nContent-Length: 9'
    const stalled = `POST /applications ${head}${length}\r\n\r\n{`
    const onPort = { port, host: '127.0.0.1' }
    const all = [endedBy(onPort, gone), endedBy(onPort, stalled), endedBy({ path }, 'DELETE /ap')]
    expect(await Promise.all(all)).toEqual(['HTTP/1.1 404', '', ''])
  }, 300_000)
})
