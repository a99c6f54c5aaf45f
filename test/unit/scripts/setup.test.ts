/**
 * `scripts/setup` installs nothing whose hash the lock does not have.
 * @module
 */
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folders.ts'

const root = join(import.meta.dir, '../../..')
const locked = readFileSync(join(root, 'bun.lock'), 'utf8')

/** Pretends that all is installed already, so that an accepted lock installs nothing. */
function setUp(lock: string) {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'scripts'))
  copyFileSync(join(root, 'scripts/setup'), join(folder, 'scripts/setup'))
  writeFileSync(join(folder, 'bun.lock'), lock)
  const { exitCode, stderr } = Bun.spawnSync(['sh', join(folder, 'scripts/setup')], {
    // The installer is not there: it is the next program that would be asked for.
    env: { PATH: '/usr/bin:/bin', npm_execpath: join(folder, 'bun') },
  })
  return { exitCode, stderr: stderr.toString(), made: existsSync(join(folder, 'node_modules')) }
}

const without = (name: string, change: (line: string) => string): string =>
  locked.replace(new RegExp(`^    "${name}": .*$`, 'm'), change)

// proves E26.3, S77
test.each([
  ['without a hash', (line: string) => line.replace(/, "sha512-.*$/, '],')],
  ['with an empty hash', (line: string) => line.replace(/"sha512-.*$/, '""],')],
  ['with a short hash', (line: string) => line.replace(/"sha512-.*$/, '"sha512-AAAA=="],')],
  [
    'with a weak hash',
    (line: string) => line.replace(/"sha512-.*$/, '"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="],'),
  ],
  ['from a repository', () => '    "elysia": ["elysia@github:a/b#0123456", {}, "a-b-0123456"],'],
  [
    'from another registry',
    (line: string) => line.replace(', "", {', ', "http://127.0.0.1:9/", {'),
  ],
  [
    'from an address',
    (line: string) => line.replace(/@[0-9.]+", /, '@http://127.0.0.1:9/a.tgz", '),
  ],
  ['on several lines', (line: string) => line.replace(', "sha512-', ',\n"sha512-')],
  ['indented otherwise', (line: string) => `  ${line}`.replace(/, "sha512-.*$/, '],')],
])('a package %s is refused by its name', (_, change) => {
  const lock = without('elysia', change)
  expect(lock).not.toBe(locked)
  const { exitCode, stderr, made } = setUp(lock)
  expect([exitCode, made]).toEqual([1, false])
  expect(stderr).toMatch(
    /^setup: bun\.lock has no integrity hash of [^\n]+, or it is of elsewhere\n$/,
  )
})

test('a lock without its list is refused, and the one of this project is not', () => {
  expect(setUp(locked.replace('  "packages": {', '"packages": {')).stderr).toBe(
    'setup: bun.lock lists no packages\n',
  )
  expect(setUp(locked).stderr).not.toContain('bun.lock')
})
