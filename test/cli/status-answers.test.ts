/**
 * `GET /status` of the binary: of one process, and of several, whichever of them is asked.
 * @module
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type Client } from '../../src/client/index.ts'
import { atEnd } from '../support/at-end.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { workerAfter, workerOf } from '../support/worker-processes.ts'

setDefaultTimeout(300_000)

interface Served {
  readonly server: Running
  readonly address: string
  readonly key: string
  readonly manager: Client
  readonly folder: string
}

async function serve(env: Record<string, string>, ...flags: readonly string[]): Promise<Served> {
  const folder = temporaryFolder()
  const data = join(folder, 'vault')
  const keyFile = join(folder, 'canary.key')
  const places = ['--data', data, '--master-key-file', keyFile]
  const { stdout } = await runCoffer(['init', ...places, '--json'])
  const { key } = JSON.parse(stdout) as { readonly key: string }
  const server = await startCoffer(['serve', ...places, '--port', '0', ...flags], { env })
  atEnd(() => server.end('SIGTERM'))
  const address = /http:\S+/.exec(server.ready)?.[0] ?? ''
  return { server, address, key, manager: createClient({ address, key }), folder }
}

/** Asks by a connection of its own each, so that the kernel spreads them. */
const askNew = async ({ address, key }: Served, path: string) => {
  const headers = { 'SVC-API-KEY': key, connection: 'close' }
  const answer = await fetch(address + path, { headers, keepalive: false })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

/** Asks until the answer is as wanted, and returns it. */
async function onceThat<T>(ask: () => Promise<T>, isWanted: (told: T) => boolean): Promise<T> {
  let told = await ask()
  await until(async () => {
    if (isWanted(told)) return true
    told = await ask()
    return isWanted(told)
  })
  return told
}

describe('one process', () => {
  let served: Served
  beforeAll(async () => {
    const backups = join(temporaryFolder(), 'backups')
    mkdirSync(backups)
    const file = join(temporaryFolder(), 'coffer.json')
    const members = { backup_to: backups, backup_every: '6h', strict_masks: false }
    writeFileSync(file, JSON.stringify(members, undefined, 2))
    const env = { COFFER_MASK_GUARD: 'false' }
    served = await serve(env, '--config', file, '--audit-days', '30')
  })

  // proves C19.1
  test('tells that it is well, and by what it knows so', async () => {
    const { manager } = served
    expect((await askNew(served, '/tokens')).status).toBe(403)
    const told = await onceThat(
      () => manager.status.get(),
      ({ backups }) => backups?.age_seconds !== undefined,
    )
    expect(told).toMatchObject({ is_ready: true, failing: [], store: 'folder', workers: 1 })
    expect(told.keys).toMatchObject({ source: 'file', data_keys: 1 })
    expect(told.keys?.master_key_age_seconds).toBeCloseTo(told.keys?.data_key_age_seconds ?? -9, 0)
    expect(told.backups).toMatchObject({ to: 'folder', every_seconds: 21_600, failed: 0 })
    expect(told.refusals).toContainEqual({ kind: 'forbidden', count: 1 })
    expect(told.answers?.refused).toBe(1)
    expect(told.answers?.p50_ms).toBeGreaterThan(0)
    for (const name of ['file_bytes', 'disk_free_bytes', 'log_bytes'] as const) {
      expect([name, told.levels?.[name]]).toEqual([name, expect.any(Number)])
    }
    expect(told.disk_bytes).toBeGreaterThanOrEqual(told.levels?.disk_free_bytes ?? Infinity)
    expect(told.findings).toContainEqual({
      level: 'warning',
      about: '--mask-guard',
      text: 'a mask may show a whole card number',
    })
  })

  // proves C19.2
  test('tells of the time up to this request, and of samples before', async () => {
    const { manager } = served
    const { samples } = await onceThat(
      () => manager.status.history(),
      history => history.samples.length > 1,
    )
    const counted = samples.reduce((sum, { answers }) => sum + answers.answered, 0)
    expect(counted).toBeGreaterThan(0)
    expect(samples.map(({ at }) => Date.parse(String(at)))).toEqual(
      samples.map(({ at }) => Date.parse(String(at))).toSorted((one, other) => one - other),
    )
  })

  // proves C19.3, S104
  test('tells each setting and its origin, and no place of the machine', async () => {
    const { settings } = await served.manager.status.settings()
    const of = (name: string) => settings.find(each => each.name === name)
    expect(of('audit_days')).toEqual({
      name: 'audit_days',
      value: 30,
      from: 'flag',
      by: '--audit-days',
    })
    expect(of('mask_guard')).toMatchObject({ from: 'environment', by: 'COFFER_MASK_GUARD' })
    expect(of('strict_masks')).toMatchObject({ value: false, from: 'file', by: 'line 4' })
    expect(of('port')).toMatchObject({ value: 0, from: 'flag' })
    expect(of('backup_every')).toMatchObject({ value: '6h', from: 'file' })
    expect(of('cors_origins')).toMatchObject({ value: ['*'], from: 'default' })
    expect(of('tls_key')).toEqual({ name: 'tls_key', from: 'default' })
    for (const name of ['data', 'master_key_file', 'backup_to']) {
      expect(of(name)).toMatchObject({ is_hidden: true })
      expect(of(name)?.value).toBeUndefined()
    }
    const { manager, folder } = served
    const all = [settings, await manager.status.get(), await manager.status.history()]
    expect(JSON.stringify(all)).not.toContain('canary')
    expect(JSON.stringify(all)).not.toContain(folder)
  })
})

describe('three workers', () => {
  let served: Served
  beforeAll(async () => {
    served = await serve({}, '--workers', '3')
  })

  // proves C19.1
  test('each tells of all of them', async () => {
    const asks = 24
    for (let n = 0; n < asks; n += 1) {
      expect((await askNew(served, '/applications/key')).status).toBe(200)
    }
    const told = await Promise.all(Array.from({ length: 12 }, () => askNew(served, '/status')))
    for (const { status, body } of told) {
      const { answered } = body['answers'] as { readonly answered: number }
      expect([status, body['workers'], answered >= asks]).toEqual([200, 3, true])
    }
  })

  // proves C19.1, C19.2
  test('one that is killed takes no count along, and its replacement tells as well', async () => {
    const answeredNow = async (): Promise<number> => {
      const { body } = await askNew(served, '/status')
      return (body['answers'] as { readonly answered: number }).answered
    }
    const before = await answeredNow()
    const pid = workerOf(served.server.pid, 1)
    process.kill(pid, 'SIGKILL')
    await workerAfter(served.server.pid, 1, pid)
    await until(async () => (await served.manager.status.get()).failing.length === 0)
    expect(await answeredNow()).toBeGreaterThan(before)
    const told = await Promise.all(
      Array.from({ length: 9 }, () => askNew(served, '/status/history')),
    )
    expect(told.map(({ status }) => status)).toEqual(told.map(() => 200))
  })

  test('one that hangs is told of', async () => {
    const pid = workerOf(served.server.pid, 2)
    process.kill(pid, 'SIGSTOP')
    try {
      // A connection may have come to the one that hangs, which answers later.
      const asked = Array.from({ length: 6 }, () => askNew(served, '/status'))
      const { body } = await Promise.race(asked)
      expect(body).toMatchObject({ is_ready: false })
      expect(body['failing']).toContainEqual(
        expect.objectContaining({ level: 'fault', check: 'workers' }),
      )
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  })
})
