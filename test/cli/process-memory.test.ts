/**
 * Memory of a running process: secrets that are no longer in it, users who may read it, and the
 * message if it cannot be locked.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, withoutWarnings } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isInMemoryOf } from '../support/process-memory.ts'
import { workersOf } from '../support/worker-processes.ts'

const isRoot = process.getuid?.() === 0
const nobody = 65_534
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
/** Root alone may become somebody else; everybody else is somebody else already. */
const unprivileged = isRoot ? asNobody : []

let root: string
let made: string

beforeAll(async () => {
  root = temporaryFolder()
  chmodSync(root, 0o711)
  made = join(root, 'made')
  expect((await runCoffer(['init', '--data', made])).exitCode).toBe(0)
})

/** A folder of an unprivileged user. */
function copyOfMade(name: string): string {
  const copy = join(root, name)
  cpSync(made, copy, { recursive: true })
  if (!isRoot) return copy
  for (const path of ['', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(copy, path), nobody, nobody)
  }
  return copy
}

const serving = (data: string, ...more: string[]): string[] => [
  'serve',
  '--data',
  data,
  '--port',
  '0',
  ...more,
]

// The memory of a guarded process is root's alone.
describe.skipIf(!isRoot)('the master key', () => {
  const digits = () => readFileSync(join(made, 'master.key'), 'latin1').trim()
  const forms = () => [Buffer.from(digits(), 'hex'), Buffer.from(digits(), 'latin1')]

  // proves E9, S28
  test('is in no process that serves alone', async () => {
    const server = await startCoffer(serving(made))
    for (const form of forms()) expect(isInMemoryOf(server.pid, form)).toBe(false)
    expect(isInMemoryOf(server.pid, Buffer.from('coffer data folder, format '))).toBe(true)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  // proves E9, S28
  test('is in no worker, and not in the process that watches over them', async () => {
    const server = await startCoffer(serving(made, '--workers', '2'))
    const workers = [...workersOf(server.pid).values()]
    expect(workers.length).toBe(2)
    for (const pid of [server.pid, ...workers]) {
      for (const form of forms()) expect([pid, isInMemoryOf(pid, form)]).toEqual([pid, false])
    }
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

/** Returns true if a process of the same user may read files that need the right to attach. */
async function mayBeReadByItsUser(pid: number): Promise<boolean> {
  const reader = Bun.spawn([...unprivileged, 'cat', `/proc/${pid}/environ`], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return (await reader.exited) === 0
}

const coreLimitOf = (pid: number): string[] =>
  /^Max core file size +(\S+) +(\S+)/m
    .exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))
    ?.slice(1) ?? []

describe('other processes of the same user', () => {
  test('may read what is not guarded', async () => {
    const child = Bun.spawn([...unprivileged, 'sleep', '60'], { env: {} })
    await Bun.sleep(100)
    expect(await mayBeReadByItsUser(child.pid)).toBe(true)
    child.kill()
    await child.exited
  })

  // proves E9.1, S29
  test.each([1, 2])('read no memory of a process that serves, with %i of them', async count => {
    const data = copyOfMade(`guarded-${count}`)
    const server = await startCoffer(serving(data, '--workers', `${count}`), {
      prefix: unprivileged,
    })
    const pids = [server.pid, ...workersOf(server.pid).values()]
    expect(pids.length).toBe(count === 1 ? 1 : 1 + count)
    for (const pid of pids) {
      expect(await mayBeReadByItsUser(pid)).toBe(false)
      expect(coreLimitOf(pid)).toEqual(['0', '0'])
    }
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

describe('memory that may not be locked', () => {
  const prefix = [...unprivileged, 'sh', '-c', 'ulimit -l 0; exec "$@"', 'sh']

  // proves E9.2, S30
  test('is told of in one line by serve, which serves all the same', async () => {
    const server = await startCoffer(serving(copyOfMade('unlocked')), { prefix })
    expect(await server.end('SIGTERM')).toBe(0)
    const lines = withoutWarnings(await server.stderr)
      .trimEnd()
      .split('\n')
    expect(lines.map(line => JSON.parse(line).event)).toEqual(['memory_not_locked'])
  })

  // proves E9.2, S30
  test('is told of by the doctor, with what helps; memory that may be is not', async () => {
    const data = copyOfMade('examined')
    const locked = await runCoffer(['doctor', '--data', data], { prefix: unprivileged })
    expect(locked.stdout).not.toContain('locked')
    const { exitCode, stdout } = await runCoffer(['doctor', '--data', data], { prefix })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^warning: memory: keys cannot be locked in memory.*LimitMEMLOCK/m)
  })
})
