/**
 * A serving process on a machine whose wall clock is moved while it runs and between its runs.
 * Source: contract section 10; hardening T6, F17, H114, D6.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clockStartHoldMs } from '../../src/limits/operation-limits.ts'
import { sweepIntervalMs } from '../../src/limits/work-limits.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { runCoffer, startCoffer, type Running, withoutWarnings } from '../support/coffer-process.ts'
import { fakeTime, fakeTimeLibrary, fakeTimeMissing, type FakeTime } from '../support/fake-time.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'

const minuteMs = 60_000
/** Long enough that a busy machine has made the token by then. */
const briefMs = 8_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
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
  start(...args: readonly string[]): Promise<Running>
}

function placeFor(name: string): Place {
  const data = join(root, name)
  cpSync(join(root, 'made'), data, { recursive: true })
  // With this file, the minute that it takes to come here would first count as a jump.
  rmSync(join(data, 'clock'))
  const wall = fakeTime(temporaryFolder())
  const args = ['serve', '--data', data, '--port', '0']
  return { data, wall, start: (...more) => startCoffer([...args, ...more], { env: wall.env }) }
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
  // proves C10.8, H114, S70
  test('back a day over a kill -9 shows nothing again that had expired', async () => {
    const { wall, start } = placeFor('set-back')
    const first = await start()
    const atMs = Date.now()
    expect(await create(first, 'lasting', atMs + 2 * dayMs)).toBe(201)
    expect(await create(first, 'brief', Date.now() + briefMs)).toBe(201)
    await readUntilGone(first, 'brief')
    await first.end('SIGKILL')
    wall.set(-dayMs)
    const second = await start()
    expect(await read(second, 'brief')).toBe(404)
    expect(await read(second, 'lasting')).toBe(200)
    // These instants lie ahead by its wall, but not by the time that it has told.
    expect(await create(second, 'past', atMs - dayMs / 2)).toBe(400)
    expect(await create(second, 'ahead', atMs + dayMs)).toBe(201)
    await second.end('SIGTERM')
    expect(await eventsOf(second)).toEqual(['clock_behind'])
  })

  // proves C10.9, H114
  test('ten years ahead hides what that wall calls expired, and destroys nothing', async () => {
    const { data, wall, start } = placeFor('ahead')
    const server = await start()
    expect(await create(server, 'lasting', Date.now() + dayMs)).toBe(201)
    const briefEndsMs = Date.now() + briefMs
    expect(await create(server, 'brief', briefEndsMs)).toBe(201)
    wall.set(yearsMs)
    expect(await read(server, 'lasting')).toBe(404)
    await readUntilGone(server, 'brief')
    // This is the clock of the test, to which the wall is set back below.
    await Bun.sleep(Math.max(0, briefEndsMs + 1_000 - Date.now()))
    await waitUntilSwept(data)
    wall.set(0)
    expect(await read(server, 'lasting')).toBe(404)
    await server.end('SIGTERM')
    expect(await eventsOf(server)).toEqual(['clock_jumped', 'clock_behind'])
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

/** Returns the events of the clock, without requests on the control socket. */
const clockEventsOf = async (server: Running): Promise<unknown[]> =>
  (await eventsOf(server)).filter(event => event !== 'controlled')

/** Returns the doctor's findings on the clock of that machine. */
async function clockFindings({ data, wall }: Place): Promise<readonly string[]> {
  const args = ['doctor', '--data', data, '--port', '0', '--json']
  const { exitCode, stdout } = await runCoffer(args, { env: wall.env })
  expect(exitCode).toBe(0)
  const { findings } = JSON.parse(stdout) as {
    findings: Record<'level' | 'about' | 'text', string>[]
  }
  return findings
    .filter(({ about }) => about === 'clock')
    .map(({ level, text }) => `${level}: ${text}`)
}

async function clockAheadSeconds({ data, wall }: Place): Promise<number> {
  const { stdout } = await runCoffer(['status', '--data', data, '--json'], { env: wall.env })
  return (JSON.parse(stdout) as { clock_ahead_seconds: number }).clock_ahead_seconds
}

/** Returns the clock's state as the health listener and the metric tell it. */
async function toldBy({ ready }: Running) {
  const ops = ready.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0] ?? ''
  const readiness = await fetch(`${ops}/readyz`)
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  return {
    ready: [readiness.status, await readiness.text()],
    aheadSeconds: Number(/^coffer_clock_ahead_seconds (.*)$/m.exec(metrics)?.[1]),
  }
}

const soon = () => Date.now() + 10 * minuteMs

describe.skipIf(fakeTimeLibrary === undefined)('a vault that is ahead of its clock', () => {
  // proves S71
  test('since a jump was set right says so everywhere until a restart ends it', async () => {
    const place = placeFor('jumped')
    const { wall, start } = place
    const server = await start('--ops-port', '0')
    expect(await toldBy(server)).toEqual({ ready: [200, 'ready\n'], aheadSeconds: 0 })
    expect([await clockAheadSeconds(place), await clockFindings(place)]).toEqual([0, []])
    wall.set(5 * hourMs)
    expect((await toldBy(server)).ready).toEqual([200, 'ready\n'])
    wall.set(0)
    expect(await create(server, 'refused', soon())).toBe(400)
    expect(await create(server, 'taken', Date.now() + dayMs)).toBe(201)
    const { ready, aheadSeconds } = await toldBy(server)
    expect(ready).toEqual([200, 'ready, but: clock_ahead\n'])
    expect(Math.round(aheadSeconds / 60)).toBe(300)
    expect(Math.round((await clockAheadSeconds(place)) / 60)).toBe(300)
    const [finding, ...more] = await clockFindings(place)
    expect([finding, more]).toEqual([expect.stringMatching(/^warning: .*, restart the vault$/), []])
    await server.end('SIGTERM')
    expect(await clockEventsOf(server)).toEqual(['clock_jumped', 'clock_behind'])
    expect(await clockFindings(place)).toEqual([])
    const again = await start('--ops-port', '0')
    expect(await create(again, 'soon', soon())).toBe(201)
    expect([await read(again, 'soon'), await read(again, 'taken')]).toEqual([200, 200])
    expect(await toldBy(again)).toEqual({ ready: [200, 'ready\n'], aheadSeconds: 0 })
    await again.end('SIGTERM')
  })

  // proves S71
  test.each([
    ['one process', []],
    ['three workers', ['--workers', '3']],
  ])(
    'since a start believed it says so until its mark is gone, with %s',
    async (name, workers) => {
      const place = placeFor(name)
      const { data, wall, start } = place
      wall.set(5 * hourMs)
      const jumped = await start(...workers)
      expect(await create(jumped, 'gone', soon() + 5 * hourMs)).toBe(201)
      const markMs = () => Number(readFileSync(join(data, 'clock'), 'latin1'))
      while (markMs() < Date.now() + 4 * hourMs) await Bun.sleep(clockStartHoldMs / 100)
      wall.set(0)
      expect(await create(jumped, 'refused', soon())).toBe(400)
      const remedy = `remove ${join(data, 'clock')}, and start it`
      const told = [expect.stringContaining(remedy)]
      expect(Math.round((await clockAheadSeconds(place)) / 60)).toBe(300)
      expect(await clockFindings(place)).toEqual(told)
      await jumped.end('SIGTERM')
      expect(new Set(await clockEventsOf(jumped))).toEqual(new Set(['clock_behind']))
      expect(await clockFindings(place)).toEqual(told)
      const again = await start(...workers)
      expect(await create(again, 'refused', soon())).toBe(400)
      await again.end('SIGTERM')
      rmSync(join(data, 'clock'))
      const right = await start(...workers)
      expect(await create(right, 'soon', soon())).toBe(201)
      expect(await read(right, 'soon')).toBe(200)
      expect([await clockAheadSeconds(place), await clockFindings(place)]).toEqual([0, []])
      await right.end('SIGTERM')
    },
    300_000,
  )

  test('is looked at without its file being made, or changed where it is damaged', async () => {
    const place = placeFor('looked-at')
    const file = join(place.data, 'clock')
    expect(await clockFindings(place)).toEqual([])
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, 'no instant')
    expect(await clockFindings(place)).toEqual([])
    expect(readFileSync(file, 'latin1')).toBe('no instant')
  })

  test('that is stopped amid its work keeps no doctor waiting for good', async () => {
    const place = placeFor('halted')
    const server = await place.start()
    process.kill(server.pid, 'SIGSTOP')
    const findings = await clockFindings(place)
    process.kill(server.pid, 'SIGCONT')
    expect(findings).toEqual([])
    await server.end('SIGTERM')
  })
})
