/**
 * Trouble that an operator meets between two commands: backups that would go into the vault itself,
 * a stamp that is lost, a snapshot that nobody may write to, a port that is taken.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Ended, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const isRoot = process.getuid?.() === 0

let root: string
let data: string
let key: string[]

const run = (command: string, at: string, ...more: readonly string[]): Promise<Ended> =>
  runCoffer([...command.split(' '), '--data', at, ...key, ...more])

const fill = (disk: string) =>
  Bun.spawnSync(['dd', 'if=/dev/zero', `of=${join(disk, 'full')}`, 'bs=64k'])

/** Does nothing on a machine that lets nobody mount: the crash campaign has such refusals too. */
async function onSmallDisk(task: (disk: string) => Promise<void>): Promise<void> {
  const disk = join(root, 'disk')
  mkdirSync(disk, { recursive: true })
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'none', disk])
  if (exitCode !== 0) return
  try {
    await task(disk)
  } finally {
    Bun.spawnSync(['umount', disk])
  }
}

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  key = ['--master-key-file', join(root, 'master.key')]
  await run('init', data)
  cpSync(data, join(root, 'made'), { recursive: true })
})

function copyOf(name: string): string {
  const copy = join(root, name)
  cpSync(join(root, 'made'), copy, { recursive: true })
  return copy
}

function expectFailure(ended: Ended, exitCode: number, says: RegExp): void {
  expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(ended.stderr).toMatch(says)
}

describe('backups', () => {
  test.each(['itself', 'a folder in it', 'a link to it'])(
    'are not put into the data folder: %s',
    async into => {
      const inside = join(data, 'store')
      const link = join(root, 'link')
      if (!existsSync(link)) symlinkSync(data, link)
      const folder = into === 'itself' ? data : into === 'a folder in it' ? inside : link
      const before = readdirSync(folder)
      const says = /is in the data folder, with which backups would be lost: name a folder/
      expectFailure(await run('backup', data, '--to', join(folder, 'one')), 2, says)
      expect(readdirSync(folder)).toEqual(before)
    },
  )

  test('are not put there by a server either, and doctor says so', async () => {
    const words = ['--port', '0', '--backup-to', data]
    const [served, told] = [await run('serve', data, ...words), await run('doctor', data, ...words)]
    expectFailure(served, 2, /is in the data folder/)
    expect([told.exitCode, told.stdout]).toEqual([
      1,
      expect.stringMatching(/^fault: --backup-to: /),
    ])
  })

  test('beside it, by a name that begins as its own, are made', async () => {
    const beside = join(root, 'vault-backups')
    mkdirSync(beside)
    expect((await run('backup', data, '--to', join(beside, 'one'))).exitCode).toBe(0)
  })

  test.skipIf(!isRoot)('say where room is missing, and how much is needed and free', () =>
    onSmallDisk(async disk => {
      const ended = await run('backup', data, '--to', join(disk, 'one'))
      expectFailure(ended, 1, /too little space is free for a backup on the disk of .*\/disk: /)
      expect(ended.stderr).toMatch(/: \d+ MiB are needed, 8 MiB are free\n$/)
      expect(readdirSync(disk)).toEqual([])
    }),
  )
})

describe.skipIf(!isRoot)('on a disk without room', () => {
  test('no vault is made', () =>
    onSmallDisk(async disk => {
      const made = await run('init', join(disk, 'vault'))
      expectFailure(made, 1, /too little space is free for a new vault on the disk of /)
      expect(readdirSync(disk)).toEqual([])
    }))

  test('no vault is made whose key could not be written', () =>
    onSmallDisk(async disk => {
      fill(disk)
      const made = join(root, 'made-without-room')
      const words = ['--data', made, '--master-key-file', join(disk, 'master.key')]
      const ended = await runCoffer(['init', ...words])
      expectFailure(ended, 1, /cannot write the master key to .*: make room on its disk/)
      expect(readdirSync(made)).toEqual([])
    }))

  test('no key is made that could not be written', () =>
    onSmallDisk(async disk => {
      fill(disk)
      const listed = async () => (await run('app list', data)).stdout
      const before = await listed()
      const words = ['--name', 'x', '--type', 'public', '--permission', 'token:create']
      const made = await run('app create', data, ...words, '--key-file', join(disk, 'key'))
      expectFailure(made, 1, /the key cannot be written to .*\/key: make room on its disk/)
      expect(await listed()).toBe(before)
      expect(readdirSync(disk)).toEqual(['full'])
    }))
})

describe('a vault whose format is lost', () => {
  test.each([
    'verify',
    'serve',
    'backup --to elsewhere',
    'init',
    'serve --init-new',
    'serve --init',
  ])('is said to be one by %s, and stays as it is', async command => {
    const lost = join(root, 'lost')
    if (!existsSync(lost)) rmSync(join(copyOf('lost'), 'format'))
    const before = readFileSync(join(lost, 'store', 'data.mdb'))
    const ended = await run(command, lost)
    expectFailure(ended, 1, /lost holds a vault, whose file format is lost: put that file back/)
    expect(ended.stderr).not.toContain('make one with')
    expect(readFileSync(join(lost, 'store', 'data.mdb')).equals(before)).toBe(true)
    expect(readdirSync(lost).sort()).toEqual(['lock', 'store'])
  })
})

describe.skipIf(!isRoot)('a snapshot that nobody may write to', () => {
  /** Returns the prefix of a command that mounts a folder anew for it, read-only. */
  const readOnly = (at: string): readonly string[] => {
    const mount = `mount --bind ${at} ${at} && mount -o remount,bind,ro ${at}`
    return ['unshare', '-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh']
  }
  const mayMount = (at: string) => Bun.spawnSync([...readOnly(at), 'true']).exitCode === 0

  test('is verified where its file system is read-only, and nothing stays elsewhere', async () => {
    const at = copyOf('read-only')
    if (!mayMount(at)) return
    const before = readdirSync(at, { recursive: true }).sort()
    const prefix = readOnly(at)
    const temporary = temporaryFolder()
    const options = { prefix, env: { TMPDIR: temporary } }
    const verify = ['verify', '--data', at, ...key]
    const ended = await runCoffer([...verify, '--json'], options)
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    expect(JSON.parse(ended.stdout)).toMatchObject({ damages: [], rows: { application: 1 } })
    expect(readdirSync(at, { recursive: true }).sort()).toEqual(before)
    expect(readdirSync(temporary).filter(name => name.startsWith('coffer-verify'))).toEqual([])
    // A command that needs to write there says so, in one line.
    const says = /cannot write to/
    expectFailure(await runCoffer([...verify, '--online'], options), 1, says)
    const backup = ['backup', '--data', at, ...key, '--to', join(root, 'of-snapshot')]
    expectFailure(await runCoffer(backup, options), 1, says)
    expect(existsSync(join(root, 'of-snapshot'))).toBe(false)
  })

  test('is verified by a user who may read it alone', async () => {
    const at = copyOf('unwritable')
    chmodSync(root, 0o755)
    Bun.spawnSync(['chown', '-R', '65534', at])
    Bun.spawnSync(['chmod', '-R', 'a-w', at])
    const own = join(root, 'unwritable.key')
    cpSync(key[1] ?? '', own)
    Bun.spawnSync(['chown', '65534', own])
    const prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    const words = ['verify', '--data', at, '--master-key-file', own]
    const ended = await runCoffer(words, { prefix })
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    const database = join(at, 'store', 'data.mdb')
    const bytes = readFileSync(database)
    bytes.fill(0xff, bytes.length - 4_096)
    writeFileSync(database, bytes)
    const damaged = await runCoffer(words, { prefix })
    expect(damaged.exitCode).toBe(1)
    expect(damaged.stderr).toMatch(/is damaged/)
  })

  test('is not verified while it is served', async () => {
    const at = copyOf('served')
    if (!mayMount(at)) return
    const server = await startCoffer(['serve', '--data', at, ...key, '--port', '0'])
    const prefix = readOnly(at)
    const ended = await runCoffer(['verify', '--data', at, ...key], { prefix })
    await server.end('SIGTERM')
    expectFailure(ended, 1, /another coffer runs on this data folder/)
  })
})

describe('beside a server', () => {
  let server: Running
  let address: string

  beforeAll(async () => {
    server = await startCoffer(['serve', '--data', data, ...key, '--port', '0'])
    address = /http:\/\/[\d.:]+/.exec(server.ready)?.[0] ?? ''
  })
  afterAll(() => server.end('SIGKILL'))

  test('status tells of its process, and where it listens', async () => {
    const { stdout } = await runCoffer(['status', '--data', data, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      process_id: server.pid,
      address,
      ops_address: null,
      backup_to: null,
    })
    const told = await runCoffer(['status', '--data', data])
    expect(told.stdout).toMatch(/^backup to {2,}none$/m)
  })

  test('status of workers tells of health and backups, which are of the one above', async () => {
    const at = copyOf('of workers')
    const backups = join(root, 'backups of workers')
    mkdirSync(backups, { mode: 0o700 })
    const more = ['--workers', '3', '--backup-to', backups, '--ops-port', '0']
    const workers = await startCoffer(['serve', '--data', at, ...key, '--port', '0', ...more])
    const ask = async (): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse((await runCoffer(['status', '--data', at, '--json'])).stdout)
    let told = await ask()
    while (told['backups_made'] !== 1) told = await ask()
    await workers.end('SIGTERM')
    expect(told).toMatchObject({
      process_id: workers.pid,
      ops_address: /metrics are on (\S+)/.exec(workers.ready)?.[1],
      backup_to: backups,
      backup_age_seconds: expect.any(Number),
      backups_failed: 0,
      backup_overdue: false,
    })
  })

  test('doctor tells where it listens, and tries another port that it is told', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const other = await run('doctor', data, '--port', String(taken.port))
    expect(other.stdout).toContain(`and listens on ${address}: the others that were told are tried`)
    expect(other.stdout).toContain(`fault: --host, --port: port ${taken.port} is in use`)
    const own = await run('doctor', data, '--port', address.split(':').at(-1) ?? '')
    expect([own.exitCode, own.stdout]).toEqual([
      0,
      expect.stringContaining(`and listens on ${address}: no address is tried`),
    ])
    await taken.stop(true)
  })
})
