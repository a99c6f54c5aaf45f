/**
 * `scripts/setup`: what it refuses to install, before anything is.
 * @module
 */
import { expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryFolder } from '../support/folders.ts'

const project = resolve(import.meta.dir, '../..')
const lock = readFileSync(join(project, 'bun.lock'), 'utf8')
const line = /^ {4}"ajv": \["ajv@8\.20\.0", "", (?<needs>\{.*\}), "(?<hash>sha512-[^"]+)"\],$/m

async function setUpWith(locked: string) {
  const folder = temporaryFolder()
  for (const name of ['package.json', '.npmrc', 'bunfig.toml', 'scripts/setup']) {
    cpSync(join(project, name), join(folder, name))
  }
  writeFileSync(join(folder, 'bun.lock'), locked)
  const child = Bun.spawn(['sh', 'scripts/setup'], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, stdout, stderr, made: readdirSync(folder) }
}

test.each([
  ['without a hash', '    "ajv": ["ajv@8.20.0", "", $<needs>],'],
  ['with an empty hash', '    "ajv": ["ajv@8.20.0", "", $<needs>, ""],'],
  [
    'with a short hash',
    '    "ajv": ["ajv@8.20.0", "", $<needs>, "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="],',
  ],
  [
    'from another registry',
    '    "ajv": ["ajv@8.20.0", "http://127.0.0.1:9/", $<needs>, "$<hash>"],',
  ],
  ['from an address', '    "ajv": ["ajv@http://127.0.0.1:9/ajv.tgz", $<needs>, "$<hash>"],'],
  ['from a repository', '    "ajv": ["ajv@github:a/b#c", $<needs>, "a-b-c", "$<hash>"],'],
])('a locked package %s is refused before anything is installed', async (_, written) => {
  const changed = lock.replace(line, written)
  expect(changed).not.toBe(lock)
  const { exitCode, stdout, stderr, made } = await setUpWith(changed)
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^setup: 1 lines? of bun\.lock name/)
  expect(made).not.toContain('node_modules')
})

test('a lock file without packages is none', async () => {
  const { exitCode, stderr } = await setUpWith(lock.slice(0, lock.indexOf('  "packages": {')))
  expect([exitCode, stderr]).toEqual([1, 'setup: bun.lock names no packages: take it anew\n'])
})
