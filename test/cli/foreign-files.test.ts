/**
 * Files where a command is to write, replace or remove one: a device, a pipe, a socket, a link or a
 * folder stays as it is. Devices are made here: none of the machine's is ever named.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

let root: string
/** A data folder that tests copy and never change. */
let made: string
const servers: Server[] = []

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  await runCoffer(['init', '--data', made])
})

afterAll(() => {
  for (const server of servers) server.close()
})

/** Things that a user makes without root; a device needs root. */
const makers: Readonly<Record<string, (path: string) => void | Promise<void>>> = {
  'a pipe': path => run('mkfifo', path),
  'a socket': path =>
    new Promise(resolve => {
      servers.push(createServer().listen(path, resolve))
    }),
  'a link to an empty file': path => {
    writeFileSync(`${path}.target`, '')
    symlinkSync(`${path}.target`, path)
  },
  'a link to nothing': path => symlinkSync(`${path}.target`, path),
  'a folder': path => void mkdirSync(path),
  ...(process.geteuid?.() === 0
    ? { 'a device': (path: string) => run('mknod', path, 'c', '1', '3') }
    : {}),
}

function run(...words: string[]): void {
  expect([words[0], Bun.spawnSync(words).exitCode]).toEqual([words[0], 0])
}

/** State of a path and of what it leads to, so that any change of it shows. */
function stateOf(path: string): unknown {
  const { mode, rdev, ino, size } = lstatSync(path)
  const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  const isBehind = target !== undefined && existsSync(target)
  return { mode, rdev, ino, size, target, behind: isBehind ? readFileSync(target, 'latin1') : null }
}

let count = 0

/** Makes one of a kind at a path. @returns what asserts that it stands as it was */
async function put(kind: string, path: string): Promise<() => void> {
  await makers[kind]?.(path)
  const before = stateOf(path)
  return () => expect([kind, stateOf(path)]).toEqual([kind, before])
}

const fresh = (name: string): string => join(root, `${name}-${(count += 1)}`)

function copyOfVault(): string {
  const data = fresh('vault')
  cpSync(made, data, { recursive: true })
  return data
}

/** Bounds a command, since one that waits for the other end of a pipe would never end. */
const limited = (args: readonly string[]): Promise<Ended> =>
  runCoffer(args, { prefix: ['timeout', '--foreground', '20'] })

function expectRefusal({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

const kinds = Object.keys(makers)

describe.each(kinds)('%s', kind => {
  // proves S6
  test('is no place for a master key, and no vault is made', async () => {
    const key = fresh('key')
    const data = fresh('data')
    const expectSame = await put(kind, key)
    const ended = await limited(['init', '--data', data, '--master-key-file', key])
    expectRefusal(ended, /stays as it is|is no file/)
    expectSame()
    expect(readdirSync(data).filter(name => name !== 'lock')).toEqual([])
  })

  test('is no place for a new API key', async () => {
    const key = fresh('api-key')
    const expectSame = await put(kind, key)
    expectRefusal(
      await limited(['app', 'create', '--data', copyOfVault(), '--key-file', key]),
      /a file is at .* already/,
    )
    expectSame()
  })

  test('is no place for joined shares, nor for one of several', async () => {
    const data = copyOfVault()
    const shares = fresh('shares')
    const words = ['keys', 'split', '--data', data, '--shares', '3', '--threshold', '2']
    const key = fresh('joined')
    const expectSameKey = await put(kind, key)
    const joined = await limited(['keys', 'join', '--master-key-file', key])
    expectRefusal(joined, /is there already/)
    expectSameKey()
    mkdirSync(shares)
    const expectSame = await put(kind, join(shares, 'share-2'))
    expectRefusal(await limited([...words, '--to-dir', shares]), /is there already/)
    expectSame()
    expect(existsSync(join(shares, 'share-1'))).toBe(false)
  })

  // proves S6
  test('is no place for a backup, nor for the folder that it is made in', async () => {
    const data = copyOfVault()
    const to = fresh('backup')
    const expectSame = await put(kind, to)
    expectRefusal(await limited(['backup', '--data', data, '--to', to]), /there is something at/)
    expectSame()
    if (kind === 'a folder') return
    const other = fresh('backup')
    const expectSameStaging = await put(kind, `${other}.partial`)
    const ended = await limited(['backup', '--data', data, '--to', other])
    expectRefusal(ended, /is in the way, and is not of coffer/)
    expectSameStaging()
    expect(existsSync(other)).toBe(false)
  })

  test('is no place for what a restore or a look makes', async () => {
    if (kind === 'a folder') return
    const to = fresh('backup')
    await runCoffer(['backup', '--data', made, '--to', to])
    const expectSame = await put(kind, `${to}.restoring`)
    const key = ['--master-key-file', join(made, 'master.key')]
    const trial = await limited(['restore', to, '--verify-only', ...key])
    expectRefusal(trial, /is in the way, and is not of coffer/)
    expectSame()
  })

  // proves S6
  test('in the place of what a command writes in a data folder stays', async () => {
    const data = copyOfVault()
    const probe = await put(kind, join(data, 'doctor.probe'))
    const doctor = await limited(['doctor', '--data', data, '--port', '0'])
    expect([doctor.exitCode, doctor.stdout]).toEqual([1, expect.stringContaining('is in the way')])
    probe()
    if (kind === 'a folder') return
    const compacting = await put(kind, join(data, 'compacting'))
    expectRefusal(await limited(['compact', '--data', data]), /is in the way, and is no folder/)
    compacting()
    const next = copyOfVault()
    const nextKey = await put(kind, join(next, 'master.key.next'))
    const rekey = await limited(['keys', 'rekey', '--data', next])
    expect([rekey.exitCode, rekey.stdout]).toEqual([1, ''])
    nextKey()
  })

  test('in the place of the lock is not opened', async () => {
    const data = copyOfVault()
    renameSync(join(data, 'lock'), join(data, '..', `${fresh('lock').split('/').at(-1)}`))
    const expectSame = await put(kind, join(data, 'lock'))
    const ended = await limited(['verify', '--data', data])
    expectRefusal(ended, /is no regular file, and stays as it is/)
    expectSame()
  })
})

test('a link to a master key is read, as where a key is mounted', async () => {
  const key = fresh('linked')
  symlinkSync(join(made, 'master.key'), key)
  const words = ['--data', fresh('data'), '--master-key-file', key]
  expect((await runCoffer(['init', ...words])).exitCode).toBe(0)
  expect(lstatSync(key).isSymbolicLink()).toBe(true)
  expect((await runCoffer(['verify', ...words])).exitCode).toBe(0)
})

// proves S6
test('another vault whose name is that of a folder for a backup or a look stays', async () => {
  const data = copyOfVault()
  const names = { verifying: join(data, 'verifying'), backup: fresh('to'), linked: fresh('linked') }
  cpSync(made, names.verifying, { recursive: true })
  cpSync(made, `${names.backup}.partial`, { recursive: true })
  symlinkSync(copyOfVault(), `${names.linked}.partial`)
  const vaults = [names.verifying, `${names.backup}.partial`, `${names.linked}.partial`]
  for (const command of [
    ['verify', '--online', '--data', data],
    ['backup', '--data', data, '--to', names.backup],
    ['backup', '--data', data, '--to', names.linked],
  ]) {
    expectEnd(await limited(command))
  }
  for (const vault of vaults) {
    expect((await runCoffer(['verify', '--data', vault])).exitCode).toBe(0)
  }
})

function expectEnd({ exitCode, stderr }: Ended): void {
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/is not of coffer: move it/)])
}

test('a database that is a link is not compacted, which would leave the old one', async () => {
  const data = copyOfVault()
  const elsewhere = fresh('elsewhere')
  renameSync(join(data, 'store/data.mdb'), elsewhere)
  symlinkSync(elsewhere, join(data, 'store/data.mdb'))
  expectRefusal(await limited(['compact', '--data', data]), /is no regular file/)
  expect(lstatSync(join(data, 'store/data.mdb')).isSymbolicLink()).toBe(true)
})

test('a socket for datagrams, such as that of a log, is taken for no other', async () => {
  const path = fresh('log')
  const script = `import socket,sys,time
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print(1,flush=True)
time.sleep(60)`
  const holder = Bun.spawn(['python3', '-c', script, path], { stdout: 'pipe' })
  try {
    await holder.stdout.getReader().read()
    const ended = await limited(['serve', '--data', copyOfVault(), '--socket', path])
    expect([ended.exitCode, ended.stderr]).toEqual([1, expect.stringContaining('in use')])
    expect(lstatSync(path).isSocket()).toBe(true)
  } finally {
    holder.kill()
    await holder.exited
  }
})

test('a file that is no socket is not removed for the control socket', async () => {
  const data = copyOfVault()
  writeFileSync(join(data, 'control'), 'precious')
  const ended = await limited(['serve', '--data', data, '--port', '0'])
  expect([ended.exitCode, ended.stderr]).toEqual([1, expect.stringContaining('move away what is')])
  expect(readFileSync(join(data, 'control'), 'latin1')).toBe('precious')
})

test('a folder with the name of a backup is neither the newest nor one too many', async () => {
  const data = copyOfVault()
  const backups = fresh('backups')
  mkdirSync(join(backups, 'coffer-20200101T000000Z.backup'), { recursive: true })
  const words = ['serve', '--data', data, '--port', '0', '--backup-to', backups]
  const server = await startCoffer([...words, '--backup-keep', '1'])
  const namesOf = () => readdirSync(backups).filter(name => name.endsWith('.backup'))
  await until(() => namesOf().length > 1)
  expect(await server.end('SIGTERM')).toBe(0)
  expect(namesOf()).toHaveLength(2)
  expect(await server.stderr).not.toContain('backup_failed')
})

describe('a store that is that of another vault', () => {
  const commands: readonly (readonly string[])[] = [
    ['serve', '--port', '0'],
    ['doctor'],
    ['verify'],
    ['status'],
    ['compact'],
    ['backup', '--to', '/dev/null'],
    ['app', 'list'],
    ['keys', 'rotate'],
    ['audit', 'verify'],
    ['audit', 'export'],
  ]
  const makeOther = (): string => {
    const data = fresh('linked')
    cpSync(made, data, { recursive: true })
    return data
  }

  // proves E12.27
  test.each(commands.map(words => [words]))('behind a link is refused by %p', async words => {
    const data = makeOther()
    renameSync(join(data, 'store'), `${data}.own`)
    symlinkSync(join(made, 'store'), join(data, 'store'))
    const before = stateOf(join(made, 'store', 'data.mdb'))
    const { exitCode, stdout, stderr } = await runCoffer([...words, '--data', data])
    const lines = `${stdout}${stderr}`.trim().split('\n')
    const told = `store leads to the store of the vault in ${made}: name that folder by --data`
    expect(lines.filter(line => line.includes(told))).toHaveLength(1)
    // Doctor goes on with what it can look at.
    expect([exitCode, lines.length === 1 || words[0] === 'doctor']).toEqual([1, true])
    expect(stateOf(join(made, 'store', 'data.mdb'))).toEqual(before)
  })

  // proves E12.27
  test('is refused as a file of it, too', async () => {
    const data = makeOther()
    const file = join(data, 'store', 'data.mdb')
    renameSync(file, `${data}.own`)
    symlinkSync(join(made, 'store', 'data.mdb'), file)
    const { exitCode, stderr } = await runCoffer(['verify', '--data', data])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('data.mdb leads to the store')])
  })

  test('is taken on another disk, where no vault is, and behind a link to the folder', async () => {
    const data = makeOther()
    renameSync(join(data, 'store'), `${data}.disk`)
    symlinkSync(`${data}.disk`, join(data, 'store'))
    symlinkSync(data, `${data}.link`)
    for (const path of [data, `${data}.link`]) {
      expect(await runCoffer(['verify', '--data', path])).toMatchObject({ exitCode: 0 })
    }
  })
})
