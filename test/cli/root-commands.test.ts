/**
 * Commands that root runs where another user may make, rename and link files: nothing of root's is
 * given away, written or removed. Only root may give a file away, so the others prove it here too.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { signingFile } from '../../src/server/folder/signing-file.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { isRoot, openVaultsOfOthers, otherUser } from '../support/vaults-of-others.ts'

const statsAt = (path: string) => lstatSync(path, { throwIfNoEntry: false })

const { fresh, copyOfVault, giveAway } = await openVaultsOfOthers()

describe('an empty file of another user, who has it open', () => {
  const put = (): string => {
    const path = fresh('waiting')
    writeFileSync(path, '')
    chownSync(path, otherUser, otherUser)
    return path
  }

  // proves S7
  test.skipIf(!isRoot).each([
    [
      'a master key',
      (path: string) => ['init', '--data', fresh('data'), '--master-key-file', path],
    ],
    ['an API key', (path: string) => ['init', '--data', fresh('data'), '--key-file', path]],
    [
      'another master key',
      (path: string) => ['keys', 'rekey', '--data', copyOfVault(), '--new-master-key-file', path],
    ],
  ])('is no place for %s', async (_, wordsFor) => {
    const path = put()
    const { exitCode, stderr } = await runCoffer(wordsFor(path))
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^coffer: [^\n]+\n$/)])
    expect(readFileSync(path, 'latin1')).toBe('')
    expect(statSync(path).uid).toBe(otherUser)
  })
})

// proves S7
test.each([
  'keys status',
  'verify',
  'compact',
  'backup --to /nowhere/backup',
  'serve --port 0',
  'audit verify',
  'audit key',
])('a link in the place of the lock of the engine is refused by %s', async command => {
  const data = copyOfVault()
  const target = fresh('target')
  writeFileSync(target, 'of somebody else\n')
  rmSync(join(data, 'store', 'lock.mdb'), { force: true })
  symlinkSync(target, join(data, 'store', 'lock.mdb'))
  const { exitCode, stderr } = await runCoffer([...command.split(' '), '--data', data])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('lock.mdb is no regular file, and stays as it is')
  expect(readFileSync(target, 'latin1')).toBe('of somebody else\n')
})

// proves S7
test.skipIf(!isRoot)(
  'a file that is given to the owner of the folder is the one that was made',
  async () => {
    const data = copyOfVault()
    giveAway(data)
    const target = fresh('target')
    writeFileSync(target, '')
    const kept = join(data, 'master.key.before')
    const ended = runCoffer(['keys', 'rekey', '--data', data])
    // The owner may do this at any moment: a link takes the place of the file that was just made.
    const endMs = performance.now() + 300_000
    while (statsAt(kept) === undefined && performance.now() < endMs);
    renameSync(kept, `${kept}.away`)
    symlinkSync(target, kept)
    await ended
    expect(statSync(target).uid).toBe(0)
    expect(statSync(`${kept}.away`).uid).toBe(otherUser)
  },
)

// proves S7, E12.26
test.each(['clock', 'store/lock.mdb'])(
  'a second name of a file of somebody else in the place of %s is neither written nor given away',
  async name => {
    const data = copyOfVault()
    if (isRoot) giveAway(data)
    const target = fresh('target')
    writeFileSync(target, 'of somebody else\n')
    rmSync(join(data, name), { force: true })
    linkSync(target, join(data, name))
    await runCoffer(['app', 'list', '--data', data])
    expect(readFileSync(target, 'latin1')).toBe('of somebody else\n')
    expect(statSync(target).uid).toBe(process.getuid?.() ?? 0)
  },
)

// proves S7, E12.26
test('nor in the place of the keys that sign the log', () => {
  const [target, key] = [fresh('target'), fresh('key')]
  writeFileSync(target, 'of somebody else\n')
  linkSync(target, key)
  const { read, write } = signingFile(key)
  expect(() => write(Uint8Array.of(1))).toThrow('no regular file of one name')
  expect(read).toThrow('no regular file of one name')
  expect(readFileSync(target, 'latin1')).toBe('of somebody else\n')
})

// proves S7, E12.26
test('a link to the control socket of another vault is not followed', async () => {
  const [data, other] = [copyOfVault(), copyOfVault()]
  const serving = await startCoffer(['serve', '--data', other, '--port', '0'])
  symlinkSync(join(other, 'control'), join(data, 'control'))
  const { exitCode, stderr } = await runCoffer(['seal', '--data', data])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('control leads elsewhere')])
  expect(serving.said()).not.toContain('sealed')
  await serving.end('SIGTERM')
})

// proves S7, E12.26
test.skipIf(!isRoot)(
  'nor is a socket asked that is of another user than the folder, as one put there in turns',
  async () => {
    const data = copyOfVault()
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const control = join(data, 'control')
    expect((await runCoffer(['status', '--data', data])).exitCode).toBe(0)
    giveAway(data)
    const { exitCode, stderr } = await runCoffer(['seal', '--data', data])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('control leads elsewhere')])
    chownSync(control, otherUser, otherUser)
    expect((await runCoffer(['seal', '--data', data])).exitCode).toBe(0)
    await server.end('SIGTERM')
  },
)

// proves S7, E12.26
describe.skipIf(!isRoot)('a folder that another user has a name lead to', () => {
  const commands: readonly (readonly [string, readonly string[]])[] = [
    ['seal', []],
    ['status', []],
    ['verify', []],
    ['compact', []],
    ['app', ['create']],
    ['keys', ['rekey']],
    ['backup', ['--to', '/dev/null/none']],
  ]

  test('is no vault of theirs, for no command of root', async () => {
    const place = fresh('place')
    mkdirSync(place)
    const own = join(place, 'own')
    renameSync(copyOfVault(), own)
    const [data, link] = [copyOfVault(), join(place, 'link')]
    symlinkSync(data, link)
    giveAway(own)
    chownSync(place, otherUser, otherUser)
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    for (const [command, rest] of commands) {
      const { exitCode, stderr } = await runCoffer([command, ...rest, '--data', link])
      const says = `${place} belongs to another user, who may change it`
      expect([command, exitCode, stderr]).toEqual([command, 1, expect.stringContaining(says)])
    }
    expect((await runCoffer(['app', 'list', '--data', own])).exitCode).toBe(0)
    expect((await runCoffer(['status', '--data', data])).stdout).not.toContain('sealed')
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('gets no vault', async () => {
    const place = fresh('place')
    const empty = fresh('empty')
    for (const folder of [place, empty]) mkdirSync(folder)
    symlinkSync(empty, join(place, 'link'))
    chownSync(place, otherUser, otherUser)
    const { exitCode, stderr } = await runCoffer(['init', '--data', join(place, 'link')])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('belongs to another user')])
    expect(readdirSync(empty)).toEqual([])
  })
})

// proves S7, E12.26
test.skipIf(!isRoot)('a folder that the owner of a vault has named is not removed', async () => {
  const data = copyOfVault()
  giveAway(data)
  const [shared, empty] = [fresh('shared.partial'), fresh('empty')]
  const marked = `${shared}/of-all.partial`
  mkdirSync(marked, { recursive: true })
  mkdirSync(empty)
  chmodSync(marked, 0o1777)
  writeFileSync(join(marked, 'kept'), '')
  writeFileSync(join(marked, 'coffer.staging'), '')
  chownSync(join(marked, 'coffer.staging'), otherUser, otherUser)
  for (const [at, path] of [marked, empty].entries()) {
    writeFileSync(join(data, `copy-${String(at).padStart(16, '0')}`), `${path}\n`)
  }
  expect((await runCoffer(['compact', '--data', data])).exitCode).toBe(0)
  expect([existsSync(join(marked, 'kept')), existsSync(empty)]).toEqual([true, true])
})

// proves S7, E12.26, E12.29
test('a folder that takes the place of one in which a vault is made loses nothing', async () => {
  const [data, other] = [fresh('new'), copyOfVault()]
  chmodSync(other, 0o755)
  const names = readdirSync(other)
  const inodes = names.map(name => statsAt(join(other, name))?.ino)
  const ended = runCoffer(['init', '--data', data])
  const endMs = performance.now() + 300_000
  while (statsAt(join(data, 'lock')) === undefined && performance.now() < endMs);
  renameSync(data, `${data}.away`)
  symlinkSync(other, data)
  await ended
  expect(names.map(name => statsAt(join(other, name))?.ino)).toEqual(inodes)
  expect(statSync(other).mode & 0o777).toBe(0o755)
})

describe('a folder whose name leads elsewhere in turns', () => {
  /** Turns a name between the folder of a killed command and that of another user. */
  const turning = (own: string) => `
    const fs = require('node:fs')
    const [sw, real, link] = ['sw', 'real', 'link'].map(name => ${JSON.stringify(own)} + '/' + name)
    for (;;) {
      try {
        fs.mkdirSync(sw + '/y.partial', { recursive: true })
        fs.writeFileSync(sw + '/y.partial/coffer.staging', '')
      } catch {}
      for (let turn = 0; turn < 3; turn += 1) {
        fs.renameSync(sw, real)
        fs.renameSync(link, sw)
        fs.renameSync(sw, link)
        fs.renameSync(real, sw)
      }
    }`
  let turner: Bun.Subprocess | undefined
  afterAll(() => turner?.kill())

  // proves S7
  test('is not removed, nor what is in it', async () => {
    const data = copyOfVault()
    const own = fresh('own')
    const others = fresh('others')
    mkdirSync(join(own, 'sw', 'y.partial'), { recursive: true })
    mkdirSync(join(others, 'y.partial', 'deep'), { recursive: true })
    writeFileSync(join(others, 'y.partial', 'deep', 'kept'), '')
    symlinkSync(others, join(own, 'link'))
    for (let index = 0; index < 2_000; index += 1) {
      const note = join(data, `copy-${index.toString(16).padStart(16, '0')}`)
      writeFileSync(
        note,
        `${own}/sw${'/.'.repeat(index % 500)}${'/'.repeat(1 + index / 500)}y.partial\n`,
      )
    }
    turner = Bun.spawn([process.execPath, '-e', turning(own)])
    await runCoffer(['compact', '--data', data])
    turner.kill()
    expect(existsSync(join(others, 'y.partial', 'deep', 'kept'))).toBe(true)
  })
})
