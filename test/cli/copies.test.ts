/**
 * Copies of a vault that stopped or killed commands leave: rows deleted and keys retired later are
 * in them, so destruction has to know them.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { openFilesOf } from '../support/worker-processes.ts'

let root: string
let made: string
/** Backup of the vault. */
let kept: string
let count = 0

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', made, '--json'])
  const { key } = JSON.parse(stdout) as { key: string }
  const server = await startCoffer(['serve', '--data', made, '--port', '0'])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  const send = (own: string, path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'SVC-API-KEY': own, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const body = { name: 'all', type: 'private', permissions: ['token:create'] }
  const application = (await (await send(key, '/applications', body)).json()) as { key: string }
  for (let number = 0; number < 40; number += 1) {
    const data = 'some data '.repeat(20_000)
    const { status } = await send(application.key, '/tokens', { type: 'token', data })
    expect(status).toBe(201)
  }
  expect(await server.end('SIGTERM')).toBe(0)
  kept = join(root, 'kept')
  expect((await runCoffer(['backup', '--data', made, '--to', kept])).exitCode).toBe(0)
})

const keyOfMade = () => ['--master-key-file', join(made, 'master.key')]

function copyOfMade(): string {
  const data = join(root, `vault-${(count += 1)}`)
  cpSync(made, data, { recursive: true })
  return data
}

/** Returns true if the process has the copy's database open, by `/proc`. */
function isCopying(pid: number, staging: string): boolean {
  try {
    return openFilesOf(pid).includes(join(staging, 'store', 'data.mdb'))
  } catch {
    // It has just ended.
    return false
  }
}

/**
 * Starts a command and stops it while it writes a copy.
 * @returns what lets it go on, or kills it
 */
async function stoppedAt(words: readonly string[], staging: string) {
  for (let round = 0; round < 20; round += 1) {
    const child = Bun.spawn([...cofferCommand, ...words], { stdout: 'ignore', stderr: 'ignore' })
    while (child.exitCode === null && !isCopying(child.pid, staging)) await Bun.sleep(1)
    child.kill('SIGSTOP')
    const isStopped = existsSync(join(staging, 'store', 'data.mdb')) && child.exitCode === null
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      child.kill(signal)
      child.kill('SIGCONT')
      await child.exited
    }
    if (isStopped) return end
    await end('SIGKILL')
  }
  throw new Error('no copy was met while it was written')
}

const doctor = async (data: string) => {
  const { stdout } = await runCoffer(['doctor', '--data', data, '--port', '0', '--json'])
  const { findings } = JSON.parse(stdout) as { findings: { about: string; text: string }[] }
  return findings.filter(({ about }) => about === 'copies').map(({ text }) => text)
}

/** By data folder: the place of the copy, and the command that makes it. */
const commands: readonly [string, (data: string) => readonly [string, readonly string[]]][] = [
  [
    'a backup elsewhere',
    data => [`${data}-elsewhere.partial`, ['backup', '--data', data, '--to', `${data}-elsewhere`]],
  ],
  ['a look', data => [join(data, 'verifying'), ['verify', '--online', '--data', data]]],
  [
    'a trial of a backup',
    data => [
      `${kept}.restoring`,
      ['restore', kept, '--verify-only', '--data', data, ...keyOfMade()],
    ],
  ],
]

describe.each(commands)('the copy of %s', (_, commandOf) => {
  // proves E8.2, S13
  test('under way is named, and nothing is compacted; killed, it is removed and told', async () => {
    const data = copyOfMade()
    const [staging, words] = commandOf(data)
    const end = await stoppedAt(words, staging)
    expect(await doctor(data)).toEqual([expect.stringContaining(`${staging} is a copy that anoth`)])
    const refused = await runCoffer(['compact', '--data', data])
    expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain(`${staging} is a copy that another command works on`)
    const retired = await runCoffer(['keys', 'retire', '--data', data, '--json'])
    expect(JSON.parse(retired.stdout)).toMatchObject({ copies_left: [staging] })
    expect([retired.exitCode, retired.stderr]).toEqual([1, expect.stringContaining(staging)])
    expect(existsSync(staging)).toBe(true)
    await end('SIGKILL')
    expect(await doctor(data)).toEqual([expect.stringContaining(`${staging} is a copy that a com`)])
    const compacted = await runCoffer(['compact', '--data', data])
    expect([compacted.exitCode, compacted.stderr]).toEqual([0, ''])
    expect(compacted.stdout).toContain(`looked at ${staging}: removed`)
    expect(existsSync(staging)).toBe(false)
    expect(readdirSync(data).filter(name => name.startsWith('copy-'))).toEqual([])
    expect(await doctor(data)).toEqual([])
  }, 300_000)

  // proves E8.2
  test('that was killed goes at the next start, and with keys retire', async () => {
    const data = copyOfMade()
    const [staging, words] = commandOf(data)
    await (
      await stoppedAt(words, staging)
    )('SIGKILL')
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    expect(existsSync(staging)).toBe(false)
    await (
      await stoppedAt(words, staging)
    )('SIGKILL')
    const retired = await runCoffer(['keys', 'retire', '--data', data, '--json'])
    expect([retired.exitCode, JSON.parse(retired.stdout)]).toMatchObject([
      0,
      { files_looked_at: [join(data, 'store/data.mdb'), staging], copies_left: [] },
    ])
    expect(existsSync(staging)).toBe(false)
    expect(await server.end('SIGTERM')).toBe(0)
  }, 300_000)

  test('that was killed goes at the start of three workers', async () => {
    const data = copyOfMade()
    const [staging, words] = commandOf(data)
    await (
      await stoppedAt(words, staging)
    )('SIGKILL')
    const server = await startCoffer(['serve', '--data', data, '--port', '0', '--workers', '3'])
    expect(existsSync(staging)).toBe(false)
    expect(await server.end('SIGTERM')).toBe(0)
  }, 300_000)

  test('that ends leaves nothing behind', async () => {
    const data = copyOfMade()
    const [staging, words] = commandOf(data)
    const before = readdirSync(data).sort()
    expect((await runCoffer(words)).exitCode).toBe(0)
    expect([existsSync(staging), readdirSync(data).sort()]).toEqual([false, before])
  })
})

/** Leaves a copy as a killed process does. */
function leave(staging: string): void {
  mkdirSync(join(staging, 'store'), { recursive: true })
  writeFileSync(join(staging, 'coffer.staging'), '')
  copyFileSync(join(made, 'store/data.mdb'), join(staging, 'store/data.mdb'))
}

// proves E8.2
test.each([
  ['an upload', (data: string) => join(data, 'uploading')],
  ['a restore', (data: string) => `${data}.restoring`],
  ['a restore within it', (data: string) => join(data, 'restoring')],
  ['a look beside it', (data: string) => `${data}.verifying`],
])('the leftovers of %s are removed by compact', async (_, stagingOf) => {
  const data = copyOfMade()
  leave(stagingOf(data))
  expect(await doctor(data)).toEqual([expect.stringContaining(stagingOf(data))])
  const { stdout } = await runCoffer(['compact', '--data', data])
  expect(stdout).toContain(`looked at ${stagingOf(data)}: removed`)
  expect(existsSync(stagingOf(data))).toBe(false)
})

// proves E8.2
test('a copy that was killed before its folder had a mark is known and removed', async () => {
  const data = copyOfMade()
  const begun = [join(data, 'verifying'), `${data}-elsewhere.partial`]
  for (const path of begun) mkdirSync(path)
  writeFileSync(join(data, 'copy-0123456789abcdef'), `${data}-elsewhere.partial\n`)
  expect(await doctor(data)).toEqual(begun.map(path => expect.stringContaining(path)))
  const retired = await runCoffer(['keys', 'retire', '--data', data, '--json'])
  expect(JSON.parse(retired.stdout)).toMatchObject({ copies_left: [] })
  expect(begun.filter(path => existsSync(path))).toEqual([])
})

test('a backup that is refused leaves no note, and what is in its way', async () => {
  const data = copyOfMade()
  const inTheWay = `${data}-elsewhere.partial`
  mkdirSync(join(inTheWay, 'mine'), { recursive: true })
  const before = readdirSync(data).sort()
  const refused = await runCoffer(['backup', '--data', data, '--to', `${data}-elsewhere`])
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('in the way')])
  expect([readdirSync(data).sort(), readdirSync(inTheWay)]).toEqual([before, ['mine']])
})

test('a copy that compact itself has left is named, and removed', async () => {
  const data = copyOfMade()
  cpSync(join(data, 'store'), join(data, 'compacting'), { recursive: true })
  expect(await doctor(data)).toEqual([expect.stringContaining(join(data, 'compacting'))])
  const { stdout } = await runCoffer(['compact', '--data', data])
  expect(stdout).toContain(`looked at ${join(data, 'compacting')}: removed`)
})

// proves S13
test('the file of before a move is named by retire and doctor, removed by compact', async () => {
  const data = copyOfMade()
  const moved = join(data, 'store/data.mdb.moved')
  copyFileSync(join(data, 'store/data.mdb'), moved)
  expect(await doctor(data)).toEqual([expect.stringContaining(moved)])
  const retired = await runCoffer(['keys', 'retire', '--data', data])
  expect([retired.exitCode, retired.stderr]).toEqual([1, expect.stringContaining(moved)])
  expect(retired.stdout).toContain(`looked at ${moved}`)
  expect(existsSync(moved)).toBe(true)
  const compacted = await runCoffer(['compact', '--data', data])
  expect([compacted.exitCode, existsSync(moved)]).toEqual([0, false])
  expect(compacted.stdout).toContain(`looked at ${moved}: removed`)
  expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(0)
})

// proves S13
test('a database that has a copy is named until an operator has seen to it', async () => {
  const data = copyOfMade()
  const left = join(data, 'store/database.left')
  writeFileSync(left, '{"url":"postgres://u@127.0.0.1/d"}\n')
  for (const words of [['compact'], ['keys', 'retire']]) {
    const ended = await runCoffer([...words, '--data', data])
    expect([ended.exitCode, ended.stderr]).toEqual([1, expect.stringContaining(left)])
  }
  renameSync(left, join(root, 'seen-to'))
  expect((await runCoffer(['compact', '--data', data])).exitCode).toBe(0)
})

test('a folder of somebody else that a note names stays', async () => {
  const data = copyOfMade()
  const mine = join(root, 'mine')
  mkdirSync(mine)
  writeFileSync(join(mine, 'precious'), '')
  writeFileSync(join(data, 'copy-0123456789abcdef'), `${mine}\n`)
  expect((await runCoffer(['compact', '--data', data])).exitCode).toBe(0)
  expect(existsSync(join(mine, 'precious'))).toBe(true)
})
