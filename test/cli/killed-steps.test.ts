/**
 * Commands killed at each of their steps on the names that say how far a folder is: the same
 * command then succeeds, or the folder is whole.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTracer } from '../crash/faults/trace-answers.ts'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

// `.ci/run` installs strace, which may trace there.
const tracer = findTracer()
const calls = ['openat', 'write', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2'] as const

let root: string
let made: string
let key: string
let backup: string

beforeAll(async () => {
  root = temporaryFolder()
  ;[made, key, backup] = [join(root, 'made'), join(root, 'key'), join(root, 'backup')]
  await runCoffer(['init', '--data', made])
  copyFileSync(join(made, 'master.key'), key)
  await runCoffer(['backup', '--data', made, '--to', backup])
})

interface Step {
  readonly call: (typeof calls)[number]
  /** Counts the calls on any of the paths. */
  readonly when: number
}

/** Kills a command as it begins a step. @returns if it came to that */
async function kill(args: readonly string[], paths: readonly string[], { call, when }: Step) {
  const watched = paths.flatMap(path => ['-P', path])
  const tracing = ['strace', '-D', '-f', '-o', '/dev/null', ...watched, '-e', `trace=${call}`]
  tracing.push('-e', `inject=${call}:signal=KILL:when=${when}`)
  const child = Bun.spawn([...tracing, ...cofferCommand, ...args], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await child.exited
  return child.signalCode === 'SIGKILL'
}

interface Killed {
  readonly name: string
  readonly args: (data: string) => readonly string[]
  /** Paths whose calls are the steps. */
  readonly steps: (data: string) => readonly string[]
}

const killed: readonly Killed[] = [
  {
    name: 'init',
    args: data => ['init', '--data', data],
    steps: data => [join(data, 'format.new'), join(data, 'format')],
  },
  {
    name: 'restore to a new folder',
    args: data => ['restore', backup, '--data', data, '--keep-keys', '--master-key-file', key],
    steps: data => [
      `${data}.restoring`,
      join(`${data}.restoring`, 'coffer.staging'),
      join(data, 'coffer.staging'),
      data,
    ],
  },
]

/** Checks that the same command succeeds after a kill, unless it was done. */
async function checkAfter(data: string, args: readonly string[], step: Step): Promise<void> {
  const wasDone = existsSync(join(data, 'format'))
  const again = await runCoffer(args)
  expect([step, wasDone ? 0 : again.exitCode]).toEqual([step, 0])
  const master = existsSync(join(data, 'master.key')) ? join(data, 'master.key') : key
  const verified = await runCoffer(['verify', '--data', data, '--master-key-file', master])
  expect([step, verified.exitCode, verified.stderr]).toEqual([step, 0, ''])
  const listed = ['app', 'list', '--data', data, '--master-key-file', master]
  expect((await runCoffer(listed)).exitCode).toBe(0)
  // Opening the folder removes the mark of a copy that has become the folder.
  expect([step, existsSync(join(data, 'coffer.staging'))]).toEqual([step, false])
  expect([step, existsSync(`${data}.restoring`)]).toEqual([step, false])
}

test.skipIf(tracer !== undefined).each(killed)(
  '$name, killed at any step, is repeated with success, or was done',
  async ({ args, steps }) => {
    const data = join(root, 'd')
    let times = 0
    for (const call of calls) {
      for (let when = 1; ; when += 1) {
        for (const left of [data, `${data}.restoring`])
          rmSync(left, { recursive: true, force: true })
        if (!(await kill(args(data), steps(data), { call, when }))) break
        times += 1
        await checkAfter(data, args(data), { call, when })
      }
    }
    expect(times).toBeGreaterThan(2)
  },
  300_000,
)

test('room for a key that a kill left is used, and a file with anything is not', async () => {
  mkdirSync(join(root, 'keys'))
  const [left, taken] = [join(root, 'keys', 'left'), join(root, 'keys', 'taken')]
  const room = Buffer.alloc(128)
  writeFileSync(left, room, { mode: 0o600 })
  const data = join(root, 'room')
  expect((await runCoffer(['init', '--data', data, '--key-file', left])).exitCode).toBe(0)
  room[127] = 1
  writeFileSync(taken, room, { mode: 0o600 })
  const refused = await runCoffer(['app', 'create', '--data', data, '--key-file', taken])
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toMatch(/a file is at .* already/)
})
