/**
 * `coffer serve --backup-to` as a person runs it: backups at an interval, of a folder of their own.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { backupNameOf } from '../../src/server/backup/backup-place.ts'
import { cofferCommand, runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { writeDatedBackup } from '../support/dated-backup.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

const isRoot = process.getuid?.() === 0
const hour = 3_600_000
const secret = 'planted-5555444433331111'

let data: string
let masterKey: string

/** A vault of a few megabytes, so that there is time to end a backup of it. */
beforeAll(async () => {
  const folder = temporaryFolder()
  data = join(folder, 'vault')
  masterKey = join(folder, 'master.key')
  const words = ['--data', data, '--master-key-file', masterKey]
  const { stdout } = await runCoffer(['init', ...words, '--json'])
  const { key } = JSON.parse(stdout) as { key: string }
  const server = await startCoffer(['serve', ...words, '--port', '0'])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  const post = (path: string, by: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'SVC-API-KEY': by, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const permissions = ['token:create']
  const made = await post('/applications', key, { name: 'a', type: 'private', permissions })
  const { key: creator } = (await made.json()) as { key: string }
  for (let n = 0; n < 8; n += 1) {
    const items = Array.from({ length: 8 }, (_, at) => `${secret} ${n} ${at} ${'x'.repeat(90_000)}`)
    expect((await post('/tokenize', creator, items)).status).toBe(200)
  }
  expect(await server.end('SIGTERM')).toBe(0)
})

const serveFolder = (folder: string, ...more: string[]): Promise<Running> => {
  const where = ['--data', folder, '--master-key-file', masterKey]
  return startCoffer(['serve', ...where, '--port', '0', '--ops-port', '0', ...more])
}

const serve = (to: string, ...more: string[]): Promise<Running> =>
  serveFolder(data, '--backup-to', to, ...more)

const agoOf = (ms: number): string => backupNameOf(Date.now() - ms)
/** Writes a backup of the vault, made so many hours ago. */
const ownIn = (folder: string, hours: number): string =>
  writeDatedBackup(folder, masterKey, Date.now() - hours * hour)
const backupsIn = (folder: string): string[] =>
  readdirSync(folder).filter(name => name.endsWith('.backup'))

async function metricOf({ ready }: Running, line: string): Promise<number | undefined> {
  const ops = /http:\/\/127\.0\.0\.1:\d+/.exec(ready)?.[0] ?? ''
  const text = await (await fetch(`${ops}/metrics`)).text()
  const found = text.split('\n').find(one => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

const madeBy = (server: Running) => metricOf(server, 'coffer_backups_total{outcome="made"}')
const failedBy = (server: Running) => metricOf(server, 'coffer_backups_total{outcome="failed"}')
const ageOf = (server: Running) => metricOf(server, 'coffer_backup_age_seconds')

interface Line {
  readonly event: string
  readonly [fact: string]: unknown
}

/** Ends a server. @returns what it logged */
async function end(server: Running): Promise<Line[]> {
  expect(await server.end('SIGTERM')).toBe(0)
  const lines = (await server.stderr).split('\n').filter(line => line.startsWith('{'))
  return lines.map(line => JSON.parse(line) as Line)
}

async function expectRestorable(file: string): Promise<void> {
  const words = ['--master-key-file', masterKey, '--verify-only']
  expect(await runCoffer(['restore', file, ...words])).toMatchObject({ exitCode: 0, stderr: '' })
}

describe('a server that makes backups of itself', () => {
  test('makes one at once where there is none, and the oldest leave', async () => {
    const folder = temporaryFolder()
    const old = [90, 80, 70].map(hours => ownIn(folder, hours))
    const foreign = ['mine', 'coffer.backup', `${agoOf(99 * hour)}.txt`]
    for (const name of foreign) writeFileSync(join(folder, name), name)
    // The first is of a process that was killed before it marked it, the second of somebody else.
    mkdirSync(join(folder, `${agoOf(60 * hour)}.partial`))
    mkdirSync(join(folder, 'mine.partial'))
    const server = await serve(folder, '--backup-keep', '2')
    await until(async () => (await madeBy(server)) === 1)
    expect(await failedBy(server)).toBe(0)
    expect(await ageOf(server)).toBeLessThan(3_600)
    const [made] = (await end(server)).filter(({ event }) => event === 'backup_made')
    expect(made).toMatchObject({ level: 'info', removed: 2 })
    const name = String(made?.['name'])
    const left = [name, old[2] ?? '', 'mine.partial', ...foreign]
    expect(readdirSync(folder).sort()).toEqual(left.sort())
    for (const other of foreign) expect(readFileSync(join(folder, other), 'latin1')).toBe(other)
    await expectRestorable(join(folder, name))
  }, 300_000)

  test('makes none while the newest is young, however often it starts', async () => {
    const folder = temporaryFolder()
    const name = ownIn(folder, 2)
    for (let start = 0; start < 2; start += 1) {
      const server = await serve(folder, '--backup-every', '3h')
      await until(async () => (await ageOf(server)) !== undefined)
      expect([await madeBy(server), await failedBy(server)]).toEqual([0, 0])
      expect((await end(server)).filter(({ event }) => event.startsWith('backup'))).toEqual([])
    }
    expect(readdirSync(folder)).toEqual([name])
    const server = await serve(folder, '--backup-every', '1h')
    await until(async () => (await madeBy(server)) === 1)
    await end(server)
    expect(backupsIn(folder)).toHaveLength(2)
  }, 300_000)

  // proves E28.2
  test('counts none that its master key does not open, or that has another name', async () => {
    const folder = temporaryFolder()
    const own = ownIn(folder, 30)
    // By programs that may add files and remove none, or by another vault.
    const planted = [20, 10, 1].map(hours => agoOf(hours * hour))
    for (const name of planted) writeFileSync(join(folder, name), name)
    cpSync(join(folder, own), join(folder, agoOf(5 * hour)))
    const server = await serve(folder, '--backup-every', '3h', '--backup-keep', '2')
    await until(async () => (await madeBy(server)) === 1)
    const [made] = (await end(server)).filter(({ event }) => event === 'backup_made')
    expect(made).toMatchObject({ removed: 0 })
    expect(readdirSync(folder)).toContain(own)
  }, 300_000)

  // proves E28.2
  test('counts copies of one of its own backups once', async () => {
    const folder = temporaryFolder()
    const [older, newer] = [ownIn(folder, 50), ownIn(folder, 30)]
    // Names within the hour before its instant are those that a slow start might have given.
    const copies = [1, 2, 3].map(minutes => agoOf(30 * hour + minutes * 60_000))
    for (const name of copies) cpSync(join(folder, newer), join(folder, name))
    const server = await serve(folder, '--backup-every', '3h', '--backup-keep', '3')
    await until(async () => (await madeBy(server)) === 1)
    const [made] = (await end(server)).filter(({ event }) => event === 'backup_made')
    expect(made).toMatchObject({ removed: 0 })
    expect(readdirSync(folder)).toContain(older)
  }, 300_000)

  // proves E28.2
  test('counts no copy under a name of later than it is', async () => {
    const folder = temporaryFolder()
    const own = ownIn(folder, 1.9)
    cpSync(join(folder, own), join(folder, agoOf(hour)))
    const server = await serve(folder, '--backup-every', '90m')
    await until(async () => (await madeBy(server)) === 1)
    await end(server)
  }, 300_000)

  test('removes what lies behind the last one to keep, whoever put it there', async () => {
    const folder = temporaryFolder()
    ownIn(folder, 30)
    writeFileSync(join(folder, agoOf(40 * hour)), '')
    const server = await serve(folder, '--backup-keep', '1')
    await until(async () => (await madeBy(server)) === 1)
    await end(server)
    expect(backupsIn(folder)).toHaveLength(1)
  }, 300_000)

  test('of several workers makes one', async () => {
    const folder = temporaryFolder()
    const words = ['--data', data, '--master-key-file', masterKey, '--port', '0']
    const more = ['--workers', '2', '--backup-to', folder]
    const server = await startCoffer(['serve', ...words, ...more])
    // The working folder goes a moment after the backup is there; an end may come in between.
    await until(() => backupsIn(folder).length > 0 && readdirSync(folder).length === 1)
    const lines = await end(server)
    expect(lines.filter(({ event }) => event === 'backup_made').length).toBeLessThanOrEqual(1)
    expect(readdirSync(folder)).toHaveLength(1)
    await expectRestorable(join(folder, backupsIn(folder)[0] ?? ''))
  }, 300_000)

  test('that ends while one is made leaves nothing of it', async () => {
    const folder = temporaryFolder()
    const server = await serve(folder)
    // Its mark is in there: before that nobody can tell whose folder it is.
    await until(() => readdirSync(folder, { recursive: true }).length > 1)
    await end(server)
    expect(readdirSync(folder).filter(name => !backupsIn(folder).includes(name))).toEqual([])
  }, 300_000)

  test('that is killed while one is made has made none, and the next start clears up', async () => {
    const folder = temporaryFolder()
    const server = await serve(folder)
    await until(() => readdirSync(folder, { recursive: true }).length > 1)
    expect(await server.end('SIGKILL')).not.toBe(0)
    // Backups that were whole already count; nothing else has the name of a backup.
    const whole = backupsIn(folder)
    for (const name of whole) await expectRestorable(join(folder, name))
    const next = await serve(folder, '--backup-every', '14d')
    await until(async () => (await ageOf(next)) !== undefined)
    await end(next)
    expect(backupsIn(folder)).toHaveLength(1)
    expect(readdirSync(folder)).toHaveLength(1)
    await expectRestorable(join(folder, backupsIn(folder)[0] ?? ''))
  }, 300_000)

  test('takes away no folder that only looks like what it leaves', async () => {
    const folder = temporaryFolder()
    const mine = join(folder, `${agoOf(9 * hour)}.partial`)
    mkdirSync(mine)
    writeFileSync(join(mine, 'mine'), 'mine')
    const server = await serve(folder)
    await until(async () => (await madeBy(server)) === 1)
    await end(server)
    expect(readFileSync(join(mine, 'mine'), 'latin1')).toBe('mine')
  }, 300_000)
})

describe('a backup that fails', () => {
  test('is logged, counted and tried again, and says nothing that is stored', async () => {
    const copy = join(temporaryFolder(), 'damaged')
    cpSync(data, copy, { recursive: true })
    const path = join(copy, 'store', 'data.mdb')
    const database = readFileSync(path)
    // In the middle of a long sealed value: no page is wrong by itself.
    const at = Math.floor(database.length / 2)
    database[at] = (database[at] ?? 0) ^ 1
    writeFileSync(path, database)
    const folder = temporaryFolder()
    writeFileSync(join(folder, agoOf(90 * hour)), '')
    const before = readdirSync(folder)
    const server = await serveFolder(copy, '--backup-to', folder, '--backup-keep', '1')
    await until(async () => ((await failedBy(server)) ?? 0) >= 2)
    expect(await madeBy(server)).toBe(0)
    const lines = (await end(server)).filter(({ event }) => event === 'backup_failed')
    expect(lines[0]).toMatchObject({ level: 'error', code: 'refused' })
    expect(String(lines[0]?.['reason'])).toMatch(/is damaged, so no backup was made/)
    expect(JSON.stringify(lines)).not.toContain(secret)
    // The older backup stays, since no newer one counts.
    expect(readdirSync(folder)).toEqual(before)
  }, 300_000)

  test.skipIf(!isRoot)(
    'where there is no room for one',
    async () => {
      const disk = join(temporaryFolder(), 'disk')
      mkdirSync(disk)
      const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'none', disk])
      // A machine that lets nobody mount has the same refusal in the crash campaign.
      if (exitCode !== 0) return
      try {
        const server = await serve(disk)
        await until(async () => ((await failedBy(server)) ?? 0) >= 1)
        const [line] = (await end(server)).filter(({ event }) => event === 'backup_failed')
        expect(String(line?.['reason'])).toMatch(/too little space is free for a backup/)
        expect(readdirSync(disk)).toEqual([])
      } finally {
        Bun.spawnSync(['umount', disk])
      }
    },
    300_000,
  )
})

describe('a start is refused', () => {
  const refused = async (...more: string[]) => {
    const words = ['serve', '--data', data, '--master-key-file', masterKey, '--port', '0']
    const ended = await runCoffer([...words, ...more])
    expect([ended.stdout, ended.stderr.split('\n').length]).toEqual(['', 2])
    return [ended.exitCode, ended.stderr] as const
  }

  test('for a folder that is not there', async () => {
    const missing = join(temporaryFolder(), 'missing')
    const [code, text] = await refused('--backup-to', missing)
    expect(code).toBe(1)
    expect(text).toContain(`there is no folder for backups at ${missing}: make it first`)
    expect(existsSync(missing)).toBe(false)
  })

  test('for one that is a file', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    const [code, text] = await refused('--backup-to', join(file, 'in'))
    expect([code, text]).toEqual([1, expect.stringContaining('is not a folder')])
  })

  test.skipIf(!isRoot)('for one that it may not write to', async () => {
    const root = temporaryFolder()
    const own = join(root, 'vault')
    const key = join(own, 'master.key')
    cpSync(data, own, { recursive: true })
    cpSync(masterKey, key)
    chmodSync(root, 0o755)
    for (const name of ['', ...readdirSync(own, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(own, name), 65_534, 65_534)
    }
    const folder = join(root, 'backups')
    mkdirSync(folder, { mode: 0o755 })
    const prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    const words = ['serve', '--data', own, '--port', '0', '--backup-to', folder]
    const ended = await runCoffer(words, { prefix })
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ended.stderr).toContain(`cannot write to ${folder}: check its owner and mode`)
  })

  test.each([
    [['--backup-every', '6h'], 'COFFER_BACKUP_EVERY: expected with --backup-to'],
    [['--backup-keep', '3'], 'COFFER_BACKUP_KEEP: expected with --backup-to'],
    [['--backup-to', '.', '--backup-every', '59s'], '--backup-every or COFFER_BACKUP_EVERY'],
    [['--backup-to', '.', '--backup-every', '0m'], '--backup-every or COFFER_BACKUP_EVERY'],
    [['--backup-to', '.', '--backup-every', '15d'], 'from 1m to 14d'],
    [['--backup-to', '.', '--backup-every', '6'], 'from 1m to 14d'],
    [['--backup-to', '.', '--backup-keep', '0'], 'expected an integer from 1 to 1000'],
    [['--backup-to', '.', '--backup-keep', '1001'], 'expected an integer from 1 to 1000'],
    [['--backup-to', 's3://no_bucket'], 'an address such as s3://bucket/prefix'],
    [['--backup-to', 'ftp://host/there'], 'an address such as s3://bucket/prefix'],
    [['--backup-to', 's3://bucket/there'], 'expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
  ])('for %p', async (more, says) => {
    const [code, text] = await refused(...more)
    expect([code, text]).toEqual([2, expect.stringContaining(says)])
  })

  test('of the process that makes one, by anybody but a server', async () => {
    const ended = await runCoffer(['scheduled-backup'])
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' })
    const order = { parent: 1, folder: { data }, plan: { to: '.', everyMs: hour, keep: 1 } }
    const child = Bun.spawn([...cofferCommand, 'scheduled-backup'], {
      stdio: [Buffer.from(JSON.stringify(order)), 'pipe', 'pipe'],
    })
    expect(await child.exited).toBe(1)
    expect(await new Response(child.stderr).text()).toContain('not tied to the one that started it')
  })
})
