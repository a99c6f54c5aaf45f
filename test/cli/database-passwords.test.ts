/**
 * A password in the address of a database is refused as an argument: every user may read those.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const addresses = [
  'postgres://coffer:hunter2@127.0.0.1/vault',
  'POSTGRESQL://coffer:hunter2@127.0.0.1/vault',
  'postgres://coffer:hun/ter2@127.0.0.1/vault',
  'postgres://:hunter2@127.0.0.1/vault',
  'postgres://coffer@127.0.0.1/vault?password=hunter2',
]
const places: readonly (readonly string[])[] = [
  ['init', '--store'],
  ['serve', '--store'],
  ['doctor', '--store'],
  ['verify', '--store'],
  ['app', 'list', '--store'],
  ['keys', 'status', '--store'],
  ['move', '--to'],
  ['backup', '--to'],
]

test.each(places)('of coffer %s %s', async (...words) => {
  const data = join(temporaryFolder(), 'data')
  for (const address of addresses) {
    const ended = await runCoffer([...words, address, '--data', data])
    expect([address, ended.exitCode, ended.stdout]).toEqual([address, 2, ''])
    expect(ended.stderr).toContain(`${words.at(-1)}: expected no password`)
    expect(ended.stderr).not.toMatch(/hun/)
  }
})

test('no other address is taken for one with a password', async () => {
  const data = join(temporaryFolder(), 'data')
  for (const words of [
    ['move', '--to', 'postgres://coffer@127.0.0.1:1/vault'],
    ['backup', '--to', 's3://bucket/a:b@c'],
  ]) {
    const { stderr } = await runCoffer([...words, '--data', data])
    expect(stderr).not.toContain('password')
  }
})
