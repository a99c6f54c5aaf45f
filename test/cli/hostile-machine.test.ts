/**
 * A machine short of resources, and a data folder that somebody has changed. Hardening H166, H168
 * to H170.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { giveByList, hasLists } from '../support/access-list.ts'
import {
  runCoffer,
  startCoffer,
  type Ended,
  type RunOptions,
  type Running,
  withoutWarnings,
} from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let root: string
let made: string
let key: string
let otherKey: string

const initialise = async (data: string): Promise<string> => {
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  return (JSON.parse(stdout) as { key: string }).key
}

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  key = await initialise(made)
  otherKey = await initialise(join(root, 'other'))
})

const copyOf = (from: string, name: string): string => {
  const copy = join(root, name.replaceAll(' ', '-'))
  cpSync(from, copy, { recursive: true })
  return copy
}

const serve = (data: string, options: RunOptions = {}): Promise<Running> =>
  startCoffer(['serve', '--data', data, '--port', '0'], options)

const portOf = ({ ready }: Running): number => Number(/:(\d+)\s*$/.exec(ready)?.[1])

async function statusOf(server: Running, ownKey = key): Promise<number> {
  const headers = { 'SVC-API-KEY': ownKey }
  const answer = await fetch(`http://127.0.0.1:${portOf(server)}/applications/key`, { headers })
  return answer.status
}

function expectRefusal({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

const database = (data: string): Buffer => readFileSync(join(data, 'store/data.mdb'))

/** A shell that lowers a limit of the process, and becomes it. */
const within = (limit: string): RunOptions => ({
  prefix: ['sh', '-c', `ulimit ${limit}; exec "$@"`, 'sh'],
})

describe('H168: a process that may have little', () => {
  // With less than about 500 MB the runtime itself may not start.
  // proves H168
  test.each(['1000000', '20000000', '70000000'])(
    'of the address space (%s KiB) is refused, and the data stays as it is',
    async kibibytes => {
      const data = copyOf(made, `little-space-${kibibytes}`)
      const before = database(data)
      const limited = within(`-v ${kibibytes}`)
      const serving = ['serve', '--data', data, '--port', '0']
      expectRefusal(await runCoffer(serving, limited), /address space/)
      expect(database(data)).toEqual(before)
      const fresh = join(root, `never-made-${kibibytes}`)
      expectRefusal(await runCoffer(['init', '--data', fresh], limited), /address space/)
      expect((await runCoffer(['version'], limited)).exitCode).toBe(0)
      const server = await serve(data)
      expect(await statusOf(server)).toBe(200)
      expect(await server.end('SIGTERM')).toBe(0)
    },
  )

  // proves H25, H168
  test('open files outlives many connections, and answers again when they are gone', async () => {
    const server = await serve(copyOf(made, 'few-files'), within('-n 64'))
    const sockets: Socket[] = Array.from({ length: 200 }, () =>
      connect(portOf(server), '127.0.0.1'),
    )
    for (const socket of sockets) socket.on('error', () => {})
    await Bun.sleep(300)
    for (const socket of sockets) socket.destroy()
    expect(await statusOf(server)).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
    expect(withoutWarnings(await server.stderr)).toBe('')
  })
})

describe('H169: lock files that are', () => {
  const changes: readonly (readonly [string, (path: string) => void])[] = [
    ['deleted', path => rmSync(path)],
    ['garbage', path => writeFileSync(path, Buffer.alloc(8_192, 0xa5))],
    ['empty', path => writeFileSync(path, '')],
  ]

  // proves H169
  test.each(changes)('%s keep nothing from starting, and damage no data', async (name, change) => {
    const data = copyOf(made, `locks ${name}`)
    for (const file of ['lock', 'store/lock.mdb']) change(join(data, file))
    const server = await serve(data)
    expect(await statusOf(server)).toBe(200)
    expect((await runCoffer(['serve', '--data', data, '--port', '0'])).stderr).toMatch(/another/)
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(0)
  })

  // proves H169
  test('left by a killed process keep nothing from starting', async () => {
    const data = copyOf(made, 'locks left')
    const killed = await serve(data)
    await killed.end('SIGKILL')
    const server = await serve(data)
    expect(await statusOf(server)).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(0)
  })
})

describe('H170: a database of another installation', () => {
  // proves H170, S39
  test('is refused under this master key, and stays as it is', async () => {
    const data = copyOf(made, 'swapped')
    cpSync(join(root, 'other/store/data.mdb'), join(data, 'store/data.mdb'))
    const before = database(data)
    expectRefusal(
      await runCoffer(['serve', '--data', data, '--port', '0']),
      /the master key is not the one/,
    )
    expect(database(data)).toEqual(before)
  })

  test('is served with its own master key, to its own keys alone', async () => {
    const data = copyOf(made, 'whole swap')
    for (const file of ['store/data.mdb', 'master.key']) {
      cpSync(join(root, 'other', file), join(data, file))
    }
    const server = await serve(data)
    expect(await statusOf(server, otherKey)).toBe(200)
    expect(await statusOf(server, key)).toBe(401)
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

describe('H166: a data folder', () => {
  // proves H166
  test('that is a file is refused', async () => {
    const file = join(root, 'a-file')
    writeFileSync(file, 'canary')
    expectRefusal(await runCoffer(['serve', '--data', file, '--port', '0']), /not a data folder/)
    expect(readFileSync(file, 'latin1')).toBe('canary')
  })

  // Only root may give a folder away, and become somebody else.
  // proves H166
  test.skipIf(process.getuid?.() !== 0)('of another owner is refused in one line', async () => {
    const data = copyOf(made, 'foreign owner')
    chmodSync(root, 0o755)
    const before = database(data)
    const prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    expectRefusal(await runCoffer(['serve', '--data', data, '--port', '0'], { prefix }), /cannot/)
    expect(database(data)).toEqual(before)
    const server = await serve(data)
    expect(await statusOf(server)).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  // proves H166
  test('that others may read is served, and the doctor says so', async () => {
    const data = copyOf(made, 'wide')
    const care = await runCoffer(['doctor', '--data', data])
    expect(care.stdout + care.stderr).not.toMatch(/used by others/)
    chmodSync(data, 0o755)
    const server = await serve(data)
    expect(await statusOf(server)).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
    const { stdout, stderr } = await runCoffer(['doctor', '--data', data])
    expect(stdout + stderr).toMatch(/warning: .* can be used by others than its owner/)
  })
})

describe('a vault that others may write', () => {
  /** Refused by one process and by several, as a fault for the doctor, and unchanged. */
  async function expectRefused(data: string, says: RegExp, more: string[] = []): Promise<void> {
    const before = database(data)
    for (const workers of ['1', '2']) {
      const args = ['serve', '--data', data, '--port', '0', '--workers', workers, ...more]
      expectRefusal(await runCoffer(args), says)
    }
    const { exitCode, stdout } = await runCoffer(['doctor', '--data', data, ...more])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^fault: /m)
    expect(database(data)).toEqual(before)
  }

  // proves E12.4, S35
  test.each([
    ['', 0o777],
    ['', 0o1777],
    ['format', 0o602],
    ['store', 0o702],
    ['store/lock.mdb', 0o606],
  ])('in %j (mode %o) is refused', async (name, mode) => {
    const data = copyOf(made, `writable ${name.replace('/', ' ')} ${mode}`)
    chmodSync(join(data, name), mode)
    await expectRefused(data, /may be written by others: chmod go-w it/)
  })

  // Only root may give a file to a group that it is not in.
  describe.skipIf(process.getuid?.() !== 0)('by a group', () => {
    const groupOfAnother = 1
    const groupOfNobody = 65_532

    // proves S35
    test.each([
      ['', 0o720],
      ['', 0o2775],
      ['lock', 0o620],
      ['store/data.mdb', 0o660],
    ])(
      'in %j (mode %o) is refused where another user is in it, else served',
      async (name, mode) => {
        const data = copyOf(made, `group ${name.replace('/', ' ')} ${mode}`)
        chownSync(join(data, name), 0, groupOfAnother)
        chmodSync(join(data, name), mode)
        await expectRefused(data, /may be written by others: chmod go-w it/)
        chownSync(join(data, name), 0, groupOfNobody)
        const server = await serve(data)
        expect(await statusOf(server)).toBe(200)
        expect(await server.end('SIGTERM')).toBe(0)
      },
    )
  })

  // A file system may be mounted without them.
  // proves S35
  test.skipIf(!hasLists()).each([
    ['', 7],
    ['store/data.mdb', 6],
  ])('in %j by a list of access is refused', async (name, rights) => {
    const data = copyOf(made, `list ${name.replace('/', ' ')}`)
    expect(giveByList(join(data, name), 65_530, rights)).toBe(true)
    await expectRefused(data, /may be written by others: chmod go-w it/)
  })

  test.each(['database', 'database.left'])(
    'by store/%s, which names where its rows are, is refused before that is asked',
    async name => {
      const data = copyOf(made, `writable ${name}`)
      const file = join(data, 'store', name)
      writeFileSync(file, '{"url":"postgres://coffer@127.0.0.1:1/coffer"}\n')
      chmodSync(file, 0o666)
      await expectRefused(data, /may be written by others: chmod go-w it/)
    },
  )

  // proves E12.4, S35
  test('by the folder of its master key is refused, but not in a place like /tmp', async () => {
    const data = copyOf(made, 'key elsewhere')
    const place = join(root, 'place-of-key')
    mkdirSync(place)
    renameSync(join(data, 'master.key'), join(place, 'key'))
    const more = ['--master-key-file', join(place, 'key')]
    chmodSync(place, 0o757)
    await expectRefused(data, /place-of-key may be written by others/, more)
    chmodSync(place, 0o1777)
    const server = await startCoffer(['serve', '--data', data, '--port', '0', ...more])
    expect(await statusOf(server)).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  describe('by a symbolic link', () => {
    /** Makes a key as secret stores mount it: `key` leads to `..data/key`, and `..data` on. */
    function linked(name: string): { data: string; place: string; more: string[] } {
      const data = copyOf(made, name)
      const place = join(root, `${name}-secrets`)
      mkdirSync(join(place, '..2026'), { recursive: true })
      renameSync(join(data, 'master.key'), join(place, '..2026', 'key'))
      symlinkSync('..2026', join(place, '..data'))
      symlinkSync('..data/key', join(place, 'key'))
      return { data, place, more: ['--master-key-file', join(place, 'key')] }
    }

    // proves E12.21, S35
    test('E12.21: of its key is served where the way is safe, else refused', async () => {
      const { data, place, more } = linked('linked-key')
      const server = await startCoffer(['serve', '--data', data, '--port', '0', ...more])
      expect(await statusOf(server)).toBe(200)
      expect(await server.end('SIGTERM')).toBe(0)
      chmodSync(join(place, '..2026'), 0o777)
      await expectRefused(data, /\.\.2026 may be written by others/, more)
    })

    // Only root may give a link away.
    // proves E12.22
    test.skipIf(process.getuid?.() !== 0)('E12.22: that another user owns is refused', async () => {
      const { data, place, more } = linked('foreign-link')
      lchownSync(join(place, '..data'), 65_534, 65_534)
      await expectRefused(data, /\.\.data belongs to another user/, more)
    })

    test('that leads nowhere, or round, is told of', async () => {
      const { data, place, more } = linked('lost-link')
      rmSync(join(place, '..data'))
      symlinkSync('..data', join(place, '..data'))
      expectRefusal(
        await runCoffer(['serve', '--data', data, '--port', '0', ...more]),
        /master key file cannot be read/,
      )
    })
  })

  // proves E12.23, S35
  test('E12.23: by a folder above it is refused, but not in a place like /tmp', async () => {
    const above = join(root, 'above')
    mkdirSync(join(above, 'between'), { recursive: true })
    const data = join(above, 'between', 'data')
    cpSync(made, data, { recursive: true })
    chmodSync(above, 0o757)
    await expectRefused(data, /above may be written by others: chmod go-w it/)
    chmodSync(above, 0o1777)
    const server = await serve(data)
    expect(await statusOf(server)).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  describe('by the file of its settings', () => {
    /** Makes a folder as a ConfigMap is mounted: of mode 777, and read-only. */
    function configured(name: string): { data: string; file: string; more: string[] } {
      const data = copyOf(made, name)
      const place = join(root, `${name}-settings`)
      mkdirSync(join(place, '..2026'), { recursive: true })
      chmodSync(place, 0o777)
      const file = join(place, '..2026', 'coffer.json')
      writeFileSync(file, '{"strict_masks": true}\n', { mode: 0o644 })
      symlinkSync('..2026/coffer.json', join(place, 'coffer.json'))
      return { data, file, more: ['--config', join(place, 'coffer.json')] }
    }

    // proves E12.24, S35
    test('is refused, and served where nobody else may write that file', async () => {
      const { data, file, more } = configured('open-settings')
      const server = await startCoffer(['serve', '--data', data, '--port', '0', ...more])
      expect(await statusOf(server)).toBe(200)
      expect(await server.end('SIGTERM')).toBe(0)
      chmodSync(file, 0o646)
      await expectRefused(data, /coffer\.json may be written by others: chmod go-w it/, more)
    })

    // Only root may give a file away.
    // proves E12.24, S35
    test.skipIf(process.getuid?.() !== 0)('which another user owns is refused', async () => {
      const { data, file, more } = configured('foreign-settings')
      chownSync(file, 65_534, 65_534)
      await expectRefused(data, /coffer\.json belongs to another user/, more)
    })
  })

  // Only root may give a file away.
  // proves E12.4
  test.skipIf(process.getuid?.() !== 0).each(['', 'master.key', 'store/data.mdb'])(
    'as it owns %j is refused',
    async name => {
      const data = copyOf(made, `owned ${name.replace('/', ' ')}`)
      chownSync(join(data, name), 65_534, 65_534)
      const args = ['serve', '--data', data, '--port', '0']
      expectRefusal(await runCoffer(args), /belongs to another user/)
    },
  )
})
