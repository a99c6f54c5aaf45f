/**
 * Folders that exist before a vault does: mounts, targets of links, volumes of others, and
 * leftovers of file systems and tools.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
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
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const isRoot = process.getuid?.() === 0
/** The user nobody, and a group that no file names. */
const nobody = 65_534
const volumeGroup = 65_532
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, `--groups=${volumeGroup}`]

let root: string
let made: string
let backup: string
let keyArgs: readonly string[]
/** The same key, in a file of nobody. */
let nobodyKeyArgs: readonly string[]

beforeAll(async () => {
  root = temporaryFolder()
  chmodSync(root, 0o755)
  made = join(root, 'made')
  await runCoffer(['init', '--data', made])
  backup = join(root, 'backup')
  expect((await runCoffer(['backup', '--data', made, '--to', backup])).exitCode).toBe(0)
  const keys = [join(root, 'key'), join(root, 'key-of-nobody')]
  for (const key of keys) copyFileSync(join(made, 'master.key'), key)
  const argsOf = keys.map(key => ['--master-key-file', key])
  keyArgs = argsOf[0] ?? []
  nobodyKeyArgs = argsOf[1] ?? []
  if (isRoot) for (const path of [backup, keys[1] ?? '']) chownSync(path, nobody, nobody)
})

let count = 0
const fresh = (name: string): string => join(root, `${name}-${(count += 1)}`)

const restoreWords = (data: string, from = backup, key = keyArgs): string[] =>
  ['restore', from, '--data', data, '--keep-keys'].concat(key)

const restoreAsNobody = (data: string): string[] => restoreWords(data, backup, nobodyKeyArgs)

const namesIn = (folder: string) => readdirSync(folder).toSorted()
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

function expectFailure({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

const expectDone = (ended: Ended) => expect(ended).toMatchObject({ exitCode: 0, stderr: '' })

async function expectServed(data: string, prefix: readonly string[] = []): Promise<void> {
  const key = prefix.length > 0 ? nobodyKeyArgs : keyArgs
  const args = ['serve', '--data', data, '--port', '0', ...key]
  const server = await startCoffer(args, { prefix })
  expect(await server.end('SIGTERM')).toBe(0)
}

/** Puts files there as file systems, systems and tools leave them. */
function leaveThings(data: string): readonly string[] {
  for (const folder of ['lost+found', '.snapshot', '.Trash-1000']) mkdirSync(join(data, folder))
  writeFileSync(join(data, 'lost+found', '#1'), 'found')
  for (const file of ['.DS_Store', '.gitkeep', 'Thumbs.db']) writeFileSync(join(data, file), 'left')
  return namesIn(data)
}

function expectThings(data: string, names: readonly string[]): void {
  expect(namesIn(data)).toEqual(expect.arrayContaining([...names]))
  expect(readFileSync(join(data, 'lost+found', '#1'), 'latin1')).toBe('found')
  expect(readFileSync(join(data, '.gitkeep'), 'latin1')).toBe('left')
}

describe('a volume with what others leave in it', () => {
  test.each([
    ['init', (data: string) => ['init', '--data', data]],
    ['restore', (data: string) => restoreWords(data)],
  ])('is empty for %s, and what is there stays', async (command, wordsOf) => {
    const data = fresh('volume')
    mkdirSync(data)
    const names = leaveThings(data)
    // A command that fails takes nothing away either.
    const failing =
      command === 'init'
        ? ['init', '--data', data, '--key-file', join(root, 'no', 'folder')]
        : restoreWords(data, made)
    expect((await runCoffer(failing)).exitCode).toBe(1)
    expect(namesIn(data)).toEqual([...names])
    expectDone(await runCoffer(wordsOf(data)))
    expectThings(data, names)
    if (command === 'restore') await expectServed(data)
  })

  test('is empty for serve --init', async () => {
    const data = fresh('volume')
    mkdirSync(data)
    const names = leaveThings(data)
    const args = ['serve', '--data', data, '--port', '0', '--init', '--master-key-file']
    const server = await startCoffer([...args, fresh('new-key')])
    // The lines of init come before the vault counts.
    for (let n = 0; n < 60_000 && !existsSync(join(data, 'control')); n += 1) await Bun.sleep(1)
    expect(await server.end('SIGTERM')).toBe(0)
    expectThings(data, names)
    expect(namesIn(data)).toEqual(expect.arrayContaining(['format', 'store']))
  })

  test.each(['notes', '.env', 'lost+found.old', 'data.mdb'])('is not with %j', async name => {
    const data = fresh('volume')
    mkdirSync(data)
    writeFileSync(join(data, name), 'precious')
    expectFailure(await runCoffer(['init', '--data', data]), /is not empty/)
    expectFailure(await runCoffer(restoreWords(data)), /is not empty/)
    expect(namesIn(data)).toEqual([name])
  })
})

describe('restoring into an empty folder', () => {
  test('keeps its mode, and leaves nothing beside or in it', async () => {
    const parent = fresh('parent')
    const data = join(parent, 'data')
    mkdirSync(data, { recursive: true })
    chmodSync(data, 0o750)
    const { ino } = statSync(data)
    expectDone(await runCoffer(restoreWords(data)))
    expect([modeOf(data), statSync(data).ino]).toEqual(['750', ino])
    expect([namesIn(data), namesIn(parent)]).toEqual([['format', 'lock', 'store'], ['data']])
    await expectServed(data)
  })

  test.each([0o777, 0o1777, 0o702])('that others may write, mode %o, makes nothing', async mode => {
    const data = fresh('open')
    mkdirSync(data)
    chmodSync(data, mode)
    const says = /open-\d+ may be written by others: chmod go-w it/
    expectFailure(await runCoffer(restoreWords(data)), says)
    expect([namesIn(data), modeOf(data)]).toEqual([[], mode.toString(8)])
  })

  test('to which a link leads keeps the link', async () => {
    const data = fresh('target')
    mkdirSync(data)
    const link = fresh('link')
    symlinkSync(data, link)
    expectDone(await runCoffer(restoreWords(link)))
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(namesIn(data)).toEqual(['format', 'lock', 'store'])
    await expectServed(link)
    rmSync(data, { recursive: true })
    expectFailure(await runCoffer(restoreWords(link)), /is a link that leads nowhere/)
  })

  test.skipIf(!isRoot)('works below a parent that root owns', async () => {
    const data = join(fresh('parent'), 'data')
    mkdirSync(data, { recursive: true })
    chownSync(data, nobody, nobody)
    expectDone(await runCoffer(restoreAsNobody(data), { prefix: asNobody }))
    await expectServed(data, asNobody)
    const looked = ['verify', '--online', '--data', data, ...nobodyKeyArgs]
    expectDone(await runCoffer(looked, { prefix: asNobody }))
    expect(namesIn(data).filter(name => name.startsWith('verif'))).toEqual([])
  })

  test.skipIf(!isRoot)('by root gives what is in it to its owner', async () => {
    const data = fresh('given')
    mkdirSync(data)
    chownSync(data, nobody, nobody)
    expectDone(await runCoffer(restoreWords(data)))
    for (const path of ['', ...readdirSync(data, { recursive: true }).map(String)]) {
      expect([path, statSync(join(data, path)).uid]).toEqual([path, nobody])
    }
    await expectServed(data, asNobody)
  })

  test.skipIf(!isRoot)('that fails leaves nothing, as of another key', async () => {
    const data = fresh('failed')
    mkdirSync(data, { mode: 0o755 })
    const other = fresh('other-key')
    writeFileSync(other, `${'0'.repeat(64)}\n`, { mode: 0o600 })
    const words = ['restore', backup, '--data', data, '--keep-keys', '--master-key-file', other]
    expectFailure(await runCoffer(words), /the master key is not the one/)
    expect([namesIn(data), modeOf(data)]).toEqual([[], '755'])
  })
})

describe('a restore that was cut off', () => {
  test('at whatever moment is taken up by the next, and is no place for a new vault', async () => {
    for (let round = 0; round < 3; round += 1) {
      const data = fresh('killed')
      mkdirSync(data)
      const child = Bun.spawn([...cofferCommand, ...restoreWords(data)], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      for (let n = 0; n < 5_000 && namesIn(data).length === 0; n += 1) await Bun.sleep(1)
      await Bun.sleep(round * 16)
      child.kill('SIGKILL')
      await child.exited
      if (!existsSync(join(data, 'format'))) {
        const init = ['serve', '--init', '--data', data, '--port', '0', ...keyArgs]
        expect((await runCoffer(init)).exitCode).toBe(1)
        expectDone(await runCoffer(restoreWords(data)))
      }
      await expectServed(data)
      expect(namesIn(data)).not.toContain('restoring')
    }
  }, 300_000)

  test('before its own mark is taken up by the next', async () => {
    const data = fresh('unmarked')
    mkdirSync(join(data, 'restoring'), { recursive: true })
    writeFileSync(join(data, 'lock'), '')
    expectDone(await runCoffer(restoreWords(data)))
    await expectServed(data)
    expect(namesIn(data)).not.toContain('restoring')
  })

  test.each([
    ['before its stamp', ['lock', 'restoring', 'store'], true],
    ['before it began', ['lock', 'restoring'], true],
    ['with something of others', ['lock', 'notes', 'restoring'], false],
  ])('%s is taken up unless others have put something there', async (_, names, isTaken) => {
    const data = fresh('cut')
    cpSync(made, join(data, 'restoring'), { recursive: true })
    writeFileSync(join(data, 'restoring', 'coffer.staging'), '')
    writeFileSync(join(data, 'lock'), '')
    if (names.includes('notes')) writeFileSync(join(data, 'notes'), '')
    if (names.includes('store')) {
      renameSync(join(data, 'restoring', 'store'), join(data, 'store'))
    }
    const says = names.includes('store') ? /file format is lost/ : /is not empty/
    expectFailure(await runCoffer(['init', '--data', data]), says)
    const ended = await runCoffer(restoreWords(data))
    if (!isTaken) expectFailure(ended, /is not empty/)
    else expectDone(ended)
    expect(namesIn(data)).toEqual(isTaken ? ['format', 'lock', 'store'] : names)
  })

  test('is none where a vault has lost its stamp', async () => {
    const data = fresh('lost')
    cpSync(made, data, { recursive: true })
    rmSync(join(data, 'format'))
    mkdirSync(join(data, 'restoring'))
    writeFileSync(join(data, 'restoring', 'coffer.staging'), '')
    const before = namesIn(data)
    expectFailure(await runCoffer(restoreWords(data)), /is not empty/)
    expect(namesIn(data)).toEqual(before)
  })

  test('behind its stamp is a vault, whose next start clears it', async () => {
    const data = fresh('behind')
    cpSync(made, data, { recursive: true })
    mkdirSync(join(data, 'restoring'))
    writeFileSync(join(data, 'restoring', 'coffer.staging'), '')
    await expectServed(data)
    expect(existsSync(join(data, 'restoring'))).toBe(false)
  })
})

describe.skipIf(!isRoot)('a volume of root whose group is that of the process', () => {
  const volume = (mode: number): string => {
    const data = fresh('volume')
    mkdirSync(data)
    chownSync(data, 0, volumeGroup)
    chmodSync(data, mode)
    return data
  }

  test.each([
    ['init', (data: string) => ['init', '--data', data, ...nobodyKeyArgs]],
    ['restore', restoreAsNobody],
  ])('is taken by %s as it is, and served', async (_, wordsOf) => {
    const data = volume(0o2775)
    expectDone(await runCoffer(wordsOf(data), { prefix: asNobody }))
    expect([statSync(data).uid, modeOf(data)]).toEqual([0, '2775'])
    await expectServed(data, asNobody)
  })

  test('is not where everybody may write it', async () => {
    const data = volume(0o2777)
    const ended = await runCoffer(['init', '--data', data], { prefix: asNobody })
    expectFailure(ended, /may be written by others: chmod go-w it/)
    expect(namesIn(data)).toEqual([])
  })
})
