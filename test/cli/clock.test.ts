/**
 * A serving process on a machine whose wall clock is moved while it runs and between its runs.
 * Source: contract section 10; hardening T6, F17, H114, D6.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sweepIntervalMs } from '../../src/limits.ts'
import { openLmdbStore } from '../../src/store/lmdb/open.ts'
import { runCoffer, startCoffer, type Running, withoutWarnings } from '../support/coffer-process.ts'
import { fakeTime, fakeTimeLibrary, fakeTimeMissing, type FakeTime } from '../support/fake-time.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'

const dayMs = 24 * 60 * 60 * 1_000
const yearsMs = 3_652 * dayMs
const permissions = ['token:create', 'token:read']

let root: string
let key: string
beforeAll(async () => {
  root = temporaryFolder()
  const data = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const managementKey = (JSON.parse(stdout) as { key: string }).key
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const body = { name: 'under test', type: 'private', permissions }
  const made = await send(server, requestOf('POST', '/applications', { key: managementKey, body }))
  key = String(made.body['key'])
  await server.end('SIGTERM')
})

async function send(server: Running, request: Request) {
  const { pathname } = new URL(request.url)
  const base = server.ready.trim().split(' ').at(-1) ?? ''
  const response = await fetch(new Request(base + pathname, request))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const read = async (server: Running, id: string) =>
  (await send(server, requestOf('GET', `/tokens/${id}`, { key }))).status

const create = async (server: Running, id: string, expiresAtMs: number) => {
  const expires_at = new Date(expiresAtMs).toISOString()
  const body = { id, type: 'token', data: 1, expires_at }
  return (await send(server, requestOf('POST', '/tokens', { key, body }))).status
}

async function readUntilGone(server: Running, id: string): Promise<void> {
  while ((await read(server, id)) === 200) await Bun.sleep(5)
  expect(await read(server, id)).toBe(404)
}

/** Waits until what is due is off the disk, beside the process that removes it. */
async function waitUntilSwept(data: string): Promise<void> {
  const store = await openLmdbStore({ path: join(data, 'store') })
  while ((await store.due(Date.now(), 1)).length > 0) await Bun.sleep(sweepIntervalMs / 20)
  await store.close()
}

const eventsOf = async (server: Running): Promise<unknown[]> =>
  withoutWarnings(await server.stderr)
    .split('\n')
    .filter(line => line !== '')
    .map(line => (JSON.parse(line) as { event: unknown }).event)

interface Place {
  readonly data: string
  readonly wall: FakeTime
  start(): Promise<Running>
}

function placeFor(name: string): Place {
  const data = join(root, name)
  cpSync(join(root, 'made'), data, { recursive: true })
  const wall = fakeTime(temporaryFolder())
  const args = ['serve', '--data', data, '--port', '0']
  return { data, wall, start: () => startCoffer(args, { env: wall.env }) }
}

test('a served folder has the file of the clock, for its owner alone, a new one none', async () => {
  const place = join(root, 'new')
  await runCoffer(['init', '--data', place])
  expect(() => statSync(join(place, 'clock'))).toThrow()
  const file = join(root, 'made', 'clock')
  expect(readFileSync(file, 'latin1')).toMatch(/^[0-9]{13}\n$/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

if (fakeTimeLibrary === undefined) console.info(`(skip) ${fakeTimeMissing}`)

describe.skipIf(fakeTimeLibrary === undefined)('a serving process, when its wall is moved', () => {
  test('back a day over a kill -9 shows nothing again that had expired', async () => {
    const { wall, start } = placeFor('set-back')
    const first = await start()
    const atMs = Date.now()
    expect(await create(first, 'lasting', atMs + 2 * dayMs)).toBe(201)
    expect(await create(first, 'brief', Date.now() + 1_500)).toBe(201)
    await readUntilGone(first, 'brief')
    await first.end('SIGKILL')
    wall.set(-dayMs)
    const second = await start()
    expect(await read(second, 'brief')).toBe(404)
    expect(await read(second, 'lasting')).toBe(200)
    // By its wall these instants are to come, by what it has told they are not.
    expect(await create(second, 'past', atMs - dayMs / 2)).toBe(400)
    expect(await create(second, 'ahead', atMs + dayMs)).toBe(201)
    await second.end('SIGTERM')
    expect(await eventsOf(second)).toEqual(['clock_behind'])
  })

  test('ten years ahead hides what that wall calls expired, and destroys nothing', async () => {
    const { data, wall, start } = placeFor('ahead')
    const server = await start()
    expect(await create(server, 'lasting', Date.now() + dayMs)).toBe(201)
    expect(await create(server, 'brief', Date.now() + 1_500)).toBe(201)
    wall.set(yearsMs)
    expect(await read(server, 'lasting')).toBe(404)
    await readUntilGone(server, 'brief')
    await Bun.sleep(1_500)
    await waitUntilSwept(data)
    wall.set(0)
    expect(await read(server, 'lasting')).toBe(404)
    await server.end('SIGTERM')
    expect(await eventsOf(server)).toEqual(['clock_jumped'])
    const again = await start()
    expect(await read(again, 'lasting')).toBe(200)
    expect(await read(again, 'brief')).toBe(404)
    await again.end('SIGTERM')
  })

  test('ten years ahead before it starts destroys nothing when it is soon set right', async () => {
    const { wall, start } = placeFor('started-ahead')
    const first = await start()
    expect(await create(first, 'lasting', Date.now() + dayMs)).toBe(201)
    await first.end('SIGTERM')
    wall.set(yearsMs)
    const jumped = await start()
    expect(await read(jumped, 'lasting')).toBe(404)
    await Bun.sleep(2 * sweepIntervalMs)
    await jumped.end('SIGTERM')
    wall.set(0)
    const right = await start()
    expect(await read(right, 'lasting')).toBe(200)
    await right.end('SIGTERM')
  })
})
