/**
 * Holder of a data folder: it ends itself when lock or database is taken; a process that is refused
 * the folder is told who holds it. Source: src/server/folder/folder-lock.ts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { folderLookMs } from '../../src/limits/operation-limits.ts'
import { lockHolder } from '../../src/server/folder/instance-lock.ts'
import { cofferCommand, runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { isRunning, workersOf } from '../support/worker-processes.ts'

setDefaultTimeout(300_000)

const started: Running[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.end('SIGKILL')))
})

let root: string
beforeAll(async () => {
  root = temporaryFolder()
  await runCoffer(['init', '--data', join(root, 'made')])
})

let count = 0
function copyOfVault(): string {
  const data = join(root, `vault-${(count += 1)}`)
  cpSync(join(root, 'made'), data, { recursive: true })
  return data
}

async function serve(data: string, ...args: string[]): Promise<Running> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0', ...args])
  started.push(server)
  return server
}

/** Ways to take a folder from its holder. */
const losses: readonly (readonly [string, (data: string) => void])[] = [
  ['its lock removed', data => rmSync(join(data, 'lock'))],
  ['all of it removed', data => rmSync(data, { recursive: true })],
  ['the folder moved, and another one in its place', replaceFolder],
  ['another database in its place', replaceDatabase],
]

function replaceFolder(data: string): void {
  renameSync(data, `${data}.moved`)
  cpSync(join(root, 'made'), data, { recursive: true })
}

function replaceDatabase(data: string): void {
  const database = join(data, 'store', 'data.mdb')
  copyFileSync(database, `${database}.copy`)
  renameSync(`${database}.copy`, database)
}

describe.each([
  ['one process', []],
  ['three workers', ['--workers', '3']],
])('a server of %s', (_, args) => {
  // proves E18.1
  test.each(losses)('with %s ends itself, and says why', async (_name, lose) => {
    const data = copyOfVault()
    const server = await serve(data, ...args)
    const pids = [server.pid, ...workersOf(server.pid).values()]
    await Bun.sleep(2 * folderLookMs)
    expect(pids.filter(isRunning)).toEqual(pids)
    lose(data)
    expect(await server.exited).not.toBe(0)
    await until(() => !pids.some(isRunning))
    const ends = (await server.stderr).split('\n').filter(line => line.includes('store_failed'))
    expect(ends).toHaveLength(1)
    expect(ends[0]).toContain('"cause":"ESTALE"')
  })

  // proves E18.1
  test('whose lock was removed is gone before another one serves the folder', async () => {
    const data = copyOfVault()
    const first = await serve(data, ...args)
    const pids = [first.pid, ...workersOf(first.pid).values()]
    rmSync(join(data, 'lock'))
    const second = await serve(data, ...args)
    expect(pids.filter(isRunning)).toEqual([])
    expect(await second.end('SIGTERM')).toBe(0)
  })

  test('whose lock was replaced is gone before compact writes its database anew', async () => {
    const data = copyOfVault()
    const server = await serve(data, ...args)
    let isGone = false
    void server.exited.then(() => {
      isGone = true
    })
    rmSync(join(data, 'lock'))
    writeFileSync(join(data, 'lock'), '')
    const inode = statSync(join(data, 'store', 'data.mdb')).ino
    const compact = runCoffer(['compact', '--data', data])
    await until(() => isGone || statSync(join(data, 'store', 'data.mdb')).ino !== inode)
    expect(isGone).toBe(true)
    expect((await compact).exitCode).toBe(0)
  })

  // proves E18.1
  test('whose lock was removed is gone before verify looks at the folder', async () => {
    const data = copyOfVault()
    const { pid } = await serve(data, ...args)
    rmSync(join(data, 'lock'))
    expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
    expect(isRunning(pid)).toBe(false)
  })
})

test('a sealed server whose lock was removed ends itself', async () => {
  const data = copyOfVault()
  const key = join(root, `key-${count}`)
  mkdirSync(key)
  renameSync(join(data, 'master.key'), join(key, 'master.key'))
  const server = await serve(data, '--sealed')
  rmSync(join(data, 'lock'))
  expect(await server.exited).not.toBe(0)
})

const asking = (data: string, name: string): readonly string[] =>
  name === 'serve' ? ['serve', '--data', data, '--port', '0'] : [name, '--data', data]

/** Stops a command while it has the folder. */
async function holdBy(data: string, command: readonly string[]): Promise<Bun.Subprocess> {
  const lock = join(data, 'lock')
  const child = Bun.spawn([...cofferCommand, ...command, '--data', data], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  while (lockHolder(lock) === undefined) await Bun.sleep(1)
  process.kill(child.pid, 'SIGSTOP')
  return child
}

describe.skipIf(process.platform !== 'linux')('the holder of a folder', () => {
  test('is named by its command and process to a command that would serve it or asks', async () => {
    const data = copyOfVault()
    const child = await holdBy(data, ['keys', 'rotate'])
    try {
      for (const name of ['serve', 'status', 'verify', 'doctor']) {
        const { stdout, stderr } = await runCoffer(asking(data, name))
        expect([name, stdout + stderr]).toEqual([
          name,
          expect.stringContaining(`(coffer keys rotate, process ${child.pid})`) as string,
        ])
      }
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
  })

  test('is named where it serves and its socket was removed', async () => {
    const data = copyOfVault()
    const { pid } = await serve(data)
    rmSync(join(data, 'control'))
    const { exitCode, stderr } = await runCoffer(['status', '--data', data])
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(`(coffer serve, process ${pid})`) as string,
    ])
  })

  test('is nobody where nobody has it: no process is named', async () => {
    const data = copyOfVault()
    const { exitCode, stderr } = await runCoffer(['status', '--data', data])
    expect([exitCode, stderr]).toEqual([1, `coffer: no server runs on ${data}: see coffer serve\n`])
  })
})
