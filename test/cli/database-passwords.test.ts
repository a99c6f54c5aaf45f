/**
 * A password in the address of a database is refused as an argument: every user may read those.
 * @module
 */
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDatabase } from '../../src/store/postgres/address.ts'
import { weaknessesOfConnection } from '../../src/server/process/weaknesses.ts'
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

const impostor = 'is given its password: see host= for a socket'

/** Runs `coffer doctor` before there is a folder, or a database. */
async function doctorOf(address: string, password: string | undefined): Promise<string> {
  const folder = temporaryFolder()
  const file = join(folder, 'password')
  if (password !== undefined) writeFileSync(file, password, { mode: 0o600 })
  const named = password === undefined ? [] : ['--store-password-file', file]
  const words = ['doctor', '--data', join(folder, 'none'), '--store', address, ...named]
  return (await runCoffer(words)).stdout
}

// proves S120
test('doctor tells of a password that an impostor of the database would get', async () => {
  const plain = 'postgres://coffer@127.0.0.1:1/vault'
  const told = await doctorOf(plain, 'hunter2')
  expect(told).toContain(`warning: database: any user of the machine`)
  expect(told).toContain(impostor)
  expect(told).not.toContain('hunter2')
  expect(await doctorOf(plain, undefined)).not.toContain(impostor)
  const proven = await doctorOf(`${plain}?sslmode=verify-full`, 'hunter2')
  expect(proven).not.toContain(impostor)
})

// proves S120
test('so it does of a socket in a folder where every user may make one, and of no other', () => {
  const folder = join(temporaryFolder(), 'sockets')
  mkdirSync(folder)
  const address = parseDatabase(`postgres://coffer@localhost/vault?host=${folder}`, 'hunter2')
  chmodSync(folder, 0o755)
  expect(weaknessesOfConnection(address)).toEqual([])
  chmodSync(folder, 0o1777)
  expect(weaknessesOfConnection(address)).toMatchObject([{ about: '--store' }])
  expect(
    weaknessesOfConnection(parseDatabase(`postgres://coffer@localhost/vault?host=${folder}`)),
  ).toEqual([])
})
