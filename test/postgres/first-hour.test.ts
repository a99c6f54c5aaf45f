/**
 * Mistakes of an operator in the first hour of a vault in PostgreSQL: each is one line that says
 * what to do.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mountDisk, type Disk } from '../crash/disk-full/disk.ts'
import { runCoffer, startCoffer, withoutWarnings } from '../support/coffer-process.ts'
import { fakeTime, fakeTimeLibrary } from '../support/fake-time.ts'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import { isPgbouncerThere, startPgbouncer } from '../support/pgbouncer.ts'
import {
  isPostgresThere,
  nextSchema,
  run,
  startPostgres,
  type TestServer,
} from '../support/postgres.ts'
import { expectRefused } from './refused.ts'
import { addReader, ask } from './served.ts'

const init = (data: string, url: string, ...words: string[]) =>
  runCoffer(['init', '--data', data, '--store', url, '--json', ...words])
const keyIn = (stdout: string): string => (JSON.parse(stdout) as { key: string }).key

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('in the first hour', () => {
  let server: TestServer
  let port: string
  let data: string
  let schema: string
  const urlAt = (host: string, at = port): string =>
    `postgres://postgres@${host}:${at}/postgres?schema=${schema}`

  beforeAll(async () => {
    port = findPort()
    server = await startPostgres({ port })
    schema = nextSchema()
    data = join(temporaryFolder(), 'v')
    expect(await init(data, urlAt('127.0.0.1'))).toMatchObject({ exitCode: 0 })
  }, 300_000)
  afterAll(() => server.stop())

  test('a database that does not exist is to be made', async () => {
    const url = `postgres://postgres@127.0.0.1:${port}/nowhere`
    const refused = await init(join(temporaryFolder(), 'v'), url)
    expectRefused(refused, 'is not there: make it with CREATE DATABASE')
    expectRefused(refused, '(SQLSTATE 3D000)')
  })

  test.skipIf(!isPgbouncerThere)('a pool of transactions is to be named as one', async () => {
    // Its settings name the usual port of the socket.
    const behind = await startPostgres()
    const bouncer = await startPgbouncer(behind)
    const through = String(bouncer.through(behind.address(schema)).port)
    const plain = await init(join(temporaryFolder(), 'v'), urlAt('127.0.0.1', through))
    expectRefused(plain, 'behind PgBouncer add pgbouncer=true to its URL (SQLSTATE 08P01)')
    const pooled = `${urlAt('127.0.0.1', through)}&pgbouncer=true`
    expect(await init(join(temporaryFolder(), 'w'), pooled)).toMatchObject({ exitCode: 0 })
    await bouncer.stop()
    await behind.stop()
  })

  test('several hosts in a URL are one too many', async () => {
    for (const host of ['127.0.0.1,127.0.0.2', `127.0.0.1:${port},127.0.0.2`]) {
      const refused = await init(join(temporaryFolder(), 'v'), urlAt(host))
      expectRefused(refused, 'expected one host: give a name, or a proxy', 2)
    }
  })

  test('a folder whose database has moved is told its new URL in store/database', async () => {
    const moved = urlAt('localhost')
    const words = ['keys', 'status', '--data', data]
    expectRefused(await runCoffer([...words, '--store', moved]), 'write its new URL into store/')
    writeFileSync(join(data, 'store', 'database'), JSON.stringify({ url: moved }))
    expect(await runCoffer([...words, '--store', moved])).toMatchObject({ exitCode: 0 })
    expect(await runCoffer(words)).toMatchObject({ exitCode: 0 })
  })

  describe('a file of a password', () => {
    let file: string
    const serveUntold = async (mode: number): Promise<string> => {
      chmodSync(file, mode)
      const words = ['serve', '--data', data, '--port', '0', '--store-password-file', file]
      const vault = await startCoffer(words)
      await vault.end('SIGTERM')
      return vault.stderr
    }
    beforeAll(() => {
      file = join(temporaryFolder(), 'password')
      writeFileSync(file, 'hunter2\n')
    })

    test('that others may read is told of at each start, and by doctor', async () => {
      const told = await serveUntold(0o644)
      const lines = told.split('\n').filter(line => line.includes('"--store-password-file"'))
      expect(lines).toEqual([expect.stringMatching(/"event":"unsafe".*chmod 600 it/)])
      expect(told).not.toContain('hunter2')
      const { stdout } = await runCoffer(['doctor', '--data', data])
      expect(stdout).toMatch(/^warning: --store-password-file: .*chmod 600 it$/m)
    })

    test("that is its owner's alone is not", async () => {
      expect(await serveUntold(0o600)).not.toContain('--store-password-file')
      const { stdout } = await runCoffer(['doctor', '--data', data])
      expect(stdout).not.toContain('--store-password-file:')
    })

    test('is for doctor the one that is given, which it does not remember', async () => {
      const place = join(data, 'store', 'database')
      const before = readFileSync(place, 'utf8')
      const doctor = (given: string) =>
        runCoffer(['doctor', '--data', data, '--port', '0', '--store-password-file', given])
      const none = await doctor('/nowhere')
      expect(none.stdout).toContain('the file of --store-password-file cannot be read')
      expect(none.exitCode).toBe(1)
      writeFileSync(place, JSON.stringify({ ...JSON.parse(before), password_file: '/nowhere' }))
      expect(await doctor(file)).toMatchObject({ exitCode: 0 })
      expect(readFileSync(place, 'utf8')).toContain('/nowhere')
      writeFileSync(place, before)
    })
  })

  test.skipIf(fakeTimeLibrary === undefined).each([60_000, -60_000])(
    'a clock that is off by %d ms at a start ends it with what to do',
    async aheadMs => {
      const wall = fakeTime(temporaryFolder())
      wall.set(aheadMs)
      const ended = await runCoffer(['serve', '--data', data, '--port', '0'], { env: wall.env })
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      const [event = '', line] = withoutWarnings(ended.stderr).trim().split('\n')
      const told = JSON.parse(event) as { event: string; ahead_ms: number }
      expect(told.event).toBe('clock_off')
      expect(Math.abs(told.ahead_ms - aheadMs)).toBeLessThan(300_000)
      expect(line).toContain('off by more than 5 s from that of the database: set it right')
    },
  )
})

function tryDisk(): Disk | undefined {
  try {
    return mountDisk('tmpfs', temporaryFolder(), 5_000)
  } catch {
    return undefined
  }
}

// Mounting needs root.
const disk = isPostgresThere ? tryDisk() : undefined

describe.skipIf(disk === undefined)('a vault whose database has a full disk', () => {
  afterAll(() => disk?.unmount())

  test('is not ready while writes have no space, and ready again by itself', async () => {
    const { path = '', fillTo, free } = disk ?? { fillTo() {}, free() {} }
    for (const each of [path, join(path, '..')]) run(['chmod', '777', each])
    // Without space for its log the database ends.
    const log = join(temporaryFolder(), 'log')
    mkdirSync(log)
    run(['chown', '-R', 'postgres', log])
    run(['chmod', '755', join(log, '..')])
    const server = await startPostgres({ parent: path, initdb: ['-X', join(log, 'wal')] })
    const data = join(temporaryFolder(), 'v')
    const made = await init(data, server.url(nextSchema()))
    const socket = join(data, 'api.sock')
    const vault = await startCoffer([
      'serve',
      '--data',
      data,
      '--socket',
      socket,
      '--ops-port',
      '0',
    ])
    const ops = vault.ready.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0] ?? ''
    const ready = async () => {
      const answer = await fetch(`${ops}/readyz`)
      return [answer.status, await answer.text()]
    }
    const key = await addReader(socket, keyIn(made.stdout))
    const create = async (): Promise<number> =>
      (await ask(socket, key, '/tokens', { type: 'token', data: 'x'.repeat(60_000) })).status
    expect([await create(), await ready()]).toEqual([201, [200, 'ready\n']])
    fillTo(256 * 1_024)
    let status = 201
    for (let tries = 0; tries < 60 && status === 201; tries += 1) status = await create()
    expect([status, await ready()]).toEqual([507, [503, 'not ready: disk\n']])
    free()
    expect(await create()).toBe(201)
    while ((await ready())[0] !== 200) await Bun.sleep(200)
    await vault.end('SIGTERM')
    await server.stop()
  }, 300_000)
})
