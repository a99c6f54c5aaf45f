/**
 * A master key as Kubernetes and Swarm mount it for a process that is not root.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { giveByList, hasLists } from '../support/access-list.ts'
import { temporaryFolder } from '../support/folders.ts'

let vault: string
let digits: string

beforeAll(async () => {
  const root = temporaryFolder()
  vault = join(root, 'vault')
  const words = ['--data', vault, '--master-key-file', join(root, 'key')]
  expect(await runCoffer(['init', ...words])).toMatchObject({ exitCode: 0 })
  digits = readFileSync(join(root, 'key'), 'latin1').trim()
})

// Only root may give a file away, and become somebody else.
describe.skipIf(process.getuid?.() !== 0)('a master key that is mounted for a process', () => {
  const other = 65_533
  const group = 65_532
  const ids = [`--reuid=${other}`, `--regid=${other}`]

  /** Makes the vault of a user with two groups that nobody else is in. */
  function keyOf(owner: number, gid: number, mode: number, change = (_path: string) => {}) {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    const data = join(folder, 'vault')
    cpSync(vault, data, { recursive: true })
    const path = join(folder, 'key')
    writeFileSync(path, digits)
    chownSync(path, owner, gid)
    chmodSync(path, mode)
    change(path)
    for (const name of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(data, name), other, other)
    }
    const prefix = ['setpriv', ...ids, `--groups=${group}`]
    return runCoffer(['verify', '--data', data, '--master-key-file', path], { prefix })
  }

  test.each([
    ["root's, for a group of the process", 0, group, 0o440],
    ['its own, for a group that nobody else is in', other, group, 0o440],
  ])('is taken: %s', async (_, owner, gid, mode) => {
    expect(await keyOf(owner, gid, mode)).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test.each([
    ["root's, which everybody may read", 0, group, 0o444],
    ["root's, which the group may write", 0, group, 0o460],
    ['its own, for a group that others are in', other, 1, 0o440],
    ["another user's", 65_531, group, 0o440],
  ])('is refused: %s', async (_, owner, gid, mode) => {
    const { exitCode, stdout, stderr } = await keyOf(owner, gid, mode)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^coffer: the master key at \S+ is of others or open to them: [^\n]+\n$/)
    expect(stderr).not.toContain(digits)
  })

  // A file system may be mounted without them.
  // proves S19
  test.skipIf(!hasLists())(
    'is refused: its own, which a list of access gives to a user',
    async () => {
      const give = (path: string): void => void giveByList(path, 65_530, 4)
      const { exitCode, stderr } = await keyOf(other, group, 0o440, give)
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining('is of others or open to them'),
      ])
    },
  )
})
