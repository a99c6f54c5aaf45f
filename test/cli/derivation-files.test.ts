/**
 * Files beside a backup, in a folder that may be another user's: the file of a passphrase is
 * copied, and no other one.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const foreign = 'root:planted:19000:0:99999:7:::\n'
const derivation = {
  version: 1,
  algorithm: 'argon2id',
  passes: 3,
  memory_bytes: 8_192,
  salt: '0'.repeat(32),
  check: '0'.repeat(16),
}

let data: string
let masterKey: string
let file: string

const words = (folder: string) => ['--data', folder, '--master-key-file', masterKey]
const restore = (backup: string, to: string): Promise<Ended> =>
  runCoffer(['restore', backup, ...words(to), '--keep-keys'])

function expectRefusal({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^(reading: [^\n]+\n)?coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
  expect(stderr).not.toContain('planted')
}

const makePipe = (path: string): void => {
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
}

function linkElsewhere(path: string): void {
  const other = join(temporaryFolder(), 'foreign')
  writeFileSync(other, foreign)
  symlinkSync(other, path)
}

const kinds: readonly (readonly [string, (path: string) => void])[] = [
  ['a link to another file', linkElsewhere],
  ['a pipe', makePipe],
  ['a folder', path => mkdirSync(path)],
  ['a link to a device', path => symlinkSync('/dev/zero', path)],
  ['another file', path => writeFileSync(path, foreign)],
  [
    'a file that is too long',
    path => {
      writeFileSync(path, `${JSON.stringify(derivation)}\n`)
      truncateSync(path, 4 * 1024 ** 3)
    },
  ],
]

beforeAll(async () => {
  const root = temporaryFolder()
  data = join(root, 'vault')
  masterKey = join(root, 'master.key')
  file = join(root, 'one.backup')
  expect((await runCoffer(['init', ...words(data)])).exitCode).toBe(0)
  expect((await runCoffer(['backup', ...words(data), '--to', file])).exitCode).toBe(0)
})

describe('in the place of the file of a passphrase,', () => {
  // proves E8.7
  test.each(kinds)('%s beside a backup is not put into a folder', async (_, put) => {
    const root = temporaryFolder()
    const backup = join(root, 'x.backup')
    copyFileSync(file, backup)
    put(`${backup}.kdf`)
    expectRefusal(await restore(backup, join(root, 'to')), /x\.backup\.kdf is damaged/)
    expect(readdirSync(root).sort()).toEqual(['x.backup', 'x.backup.kdf'])
  })

  // proves E8.7
  test.each(kinds)('%s in a folder is not put beside a backup', async (_, put) => {
    const root = temporaryFolder()
    const folder = join(root, 'vault')
    cpSync(data, folder, { recursive: true })
    put(join(folder, 'master.kdf'))
    const to = join(root, 'y.backup')
    const ended = await runCoffer(['backup', ...words(folder), '--to', to])
    expectRefusal(ended, /master\.kdf is damaged/)
    expect(readdirSync(root)).toEqual(['vault'])
  })

  test('the file itself goes both ways, by a link as well, for its owner alone', async () => {
    const root = temporaryFolder()
    const backup = join(root, 'x.backup')
    copyFileSync(file, backup)
    writeFileSync(join(root, 'kept'), `${JSON.stringify(derivation)}\n`, { mode: 0o644 })
    symlinkSync(join(root, 'kept'), `${backup}.kdf`)
    const to = join(root, 'to')
    expect((await restore(backup, to)).exitCode).toBe(0)
    const again = join(root, 'z.backup')
    expect((await runCoffer(['backup', ...words(to), '--to', again])).exitCode).toBe(0)
    for (const path of [join(to, 'master.kdf'), `${again}.kdf`]) {
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(derivation)
      expect(statSync(path).mode & 0o777).toBe(0o600)
    }
  })
})

test.each([
  ['a pipe', makePipe],
  ['a folder', (path: string): void => void mkdirSync(path)],
])('%s in the place of a backup is refused at once', async (_, put) => {
  const root = temporaryFolder()
  const backup = join(root, 'x.backup')
  put(backup)
  expectRefusal(await restore(backup, join(root, 'to')), /x\.backup is no regular file/)
  expect(existsSync(join(root, 'to'))).toBe(false)
})
