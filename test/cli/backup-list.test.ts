/**
 * Backups that a place has, and a restore of the newest one.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { backupNameOf } from '../../src/server/backup/backup-place.ts'
import { runCoffer, type Ended } from '../support/coffer-process.ts'
import { writeDatedBackup } from '../support/dated-backup.ts'
import { temporaryFolder } from '../support/folders.ts'
import { hasMoto, motoMissing, startMoto, type Moto } from '../support/moto.ts'

interface Listed {
  readonly backups: readonly { file: string; state: string | null; coffer: string | null }[]
  readonly ignored: readonly string[]
}

const oldest = 'coffer-20260101T000000Z.backup'
const older = 'coffer-20260102T000000Z.backup'
/** Names that a server would give to backups made here. */
const newer = backupNameOf(Date.now() - 60_000)
const newest = backupNameOf(Date.now() - 30_000)
let root: string
let place: string
let whole: string
let key: string[]

const list = async (where: string, ...words: readonly string[]): Promise<Listed> => {
  const ended = await runCoffer(['backup', 'list', where, ...words, '--json'])
  expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
  return JSON.parse(ended.stdout) as Listed
}

const restore = (...words: readonly string[]): Promise<Ended> =>
  runCoffer(['restore', ...words, '--data', join(root, 'restored'), '--keep-keys', ...key])

function expectRefused(ended: Ended, exitCode: number, says: string): void {
  expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(ended.stderr).toContain(says)
  expect(existsSync(join(root, 'restored'))).toBe(false)
}

async function makeBackup(name: string): Promise<string[]> {
  const masterKey = ['--master-key-file', join(root, `${name}.key`)]
  const words = ['--data', join(root, name), ...masterKey]
  expect((await runCoffer(['init', ...words])).exitCode).toBe(0)
  const made = await runCoffer(['backup', ...words, '--to', join(root, `${name}.backup`)])
  expect(made.exitCode).toBe(0)
  return masterKey
}

beforeAll(async () => {
  root = temporaryFolder()
  place = join(root, 'place')
  mkdirSync(place)
  key = await makeBackup('own')
  await makeBackup('other')
  whole = join(root, 'own.backup')
  copyFileSync(whole, join(place, newer))
  copyFileSync(whole, join(place, oldest))
  copyFileSync(join(root, 'other.backup'), join(place, older))
  writeFileSync(join(place, 'monday.backup'), 'mine')
}, 300_000)

describe('the list of a folder', () => {
  test('has the newest first, whose vault it is of, and names what it ignores', async () => {
    const { backups, ignored } = await list(place, ...key)
    expect(backups.map(({ file, state }) => [file, state])).toEqual([
      [join(place, newer), 'complete'],
      [join(place, older), 'other_key'],
      [join(place, oldest), 'complete'],
    ])
    expect(backups.map(({ coffer }) => coffer)).toEqual([
      expect.stringMatching(/^0\.\d+\.\d+\+/),
      null,
      expect.stringMatching(/^0\.\d+\.\d+\+/),
    ])
    expect(ignored).toEqual(['monday.backup'])
    const told = await runCoffer(['backup', 'list', place, ...key])
    expect(told.stdout).toMatch(/^began_at +bytes +state +format +coffer +file\n20\d\d-/)
    expect(told.stdout).toContain('ignored, for its name: 1 file: monday.backup\n')
  }, 300_000)

  test('without a key tells of no file whether it is whole', async () => {
    const { backups } = await list(place, '--data', join(root, 'none'))
    expect(backups.map(({ state }) => state)).toEqual([null, null, null])
  }, 300_000)

  test('is refused where there is no folder, and with --to', async () => {
    const missing = await runCoffer(['backup', 'list', join(root, 'missing'), ...key])
    expectRefused(missing, 1, 'there is no folder at')
    const making = await runCoffer(['backup', 'list', place, '--to', 'x', ...key])
    expectRefused(making, 2, 'a list makes no backup')
  }, 300_000)
})

describe('a restore of the newest', () => {
  test('takes it, and says which one it was', async () => {
    const words = ['--data', join(root, 'restored'), '--verify-only', '--json', ...key]
    const ended = await runCoffer(['restore', '--latest', place, ...words])
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    expect(JSON.parse(ended.stdout)).toMatchObject({ file: join(place, newer) })
  }, 300_000)

  test('refuses a newest one that is cut by its name, and takes no older one', async () => {
    const cut = join(place, newest)
    copyFileSync(whole, cut)
    truncateSync(cut, Bun.file(whole).size - 1)
    const { backups } = await list(place, ...key)
    expect(backups[0]?.state).toMatch(/^(?:cut|damaged)$/)
    expectRefused(await restore('--latest', place), 1, cut)
    rmSync(cut)
  }, 300_000)

  // proves E8.8
  test('refuses one that is older than its name says, and makes nothing', async () => {
    const renamed = join(root, 'renamed')
    mkdirSync(renamed)
    copyFileSync(whole, join(renamed, oldest))
    const says = `${join(renamed, oldest)} is of `
    expectRefused(await restore('--latest', renamed), 1, says)
    const trial = ['restore', '--latest', renamed, '--verify-only', ...key]
    expectRefused(await runCoffer([...trial, '--data', join(root, 'restored')]), 1, says)
  }, 300_000)

  // proves E8.8
  test('refuses one that is a minute older than its name says', async () => {
    const folder = join(root, 'a-minute')
    mkdirSync(folder)
    const name = writeDatedBackup(folder, key[1] ?? '', Date.now() - 300_000)
    renameSync(join(folder, name), join(folder, backupNameOf(Date.now() - 240_000)))
    expectRefused(await restore('--latest', folder), 1, 'and not of when its name says')
  }, 300_000)

  test('is refused beside a file, without any, in an empty folder and for the future', async () => {
    const empty = join(root, 'empty')
    mkdirSync(empty)
    expectRefused(await restore(whole, '--latest', place), 2, 'one of both')
    expectRefused(await restore(), 2, 'one of both')
    expectRefused(await restore('--latest', empty), 1, `there is no backup in ${empty}`)
    copyFileSync(whole, join(empty, 'coffer-29990101T000000Z.backup'))
    expectRefused(await restore('--latest', empty), 1, 'is of the future')
  }, 300_000)
})

if (!hasMoto) console.warn(`backups in a bucket are not listed: ${motoMissing}`)

describe.skipIf(!hasMoto)('a bucket', () => {
  let moto: Moto
  beforeAll(async () => {
    moto = await startMoto()
    await moto.makeBucket('kept')
  }, 300_000)
  afterAll(() => moto.stop())

  test('is listed by beginnings, and its newest is restored', async () => {
    const ids = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' }
    const env = { ...ids, AWS_ENDPOINT_URL: moto.url, AWS_REGION: 'us-east-1' }
    const client = new Bun.S3Client({
      accessKeyId: 'any',
      secretAccessKey: 'any',
      endpoint: moto.url,
      region: 'us-east-1',
      bucket: 'kept',
    })
    await client.write(`p/${oldest}`, Bun.file(join(root, 'other.backup')))
    await client.write(`p/${newer}`, Bun.file(whole))
    const listed = await runCoffer(['backup', 'list', 's3://kept/p', ...key, '--json'], { env })
    expect((JSON.parse(listed.stdout) as Listed).backups.map(({ state }) => state)).toEqual([
      'complete',
      'other_key',
    ])
    const words = ['restore', '--latest', 's3://kept/p', '--data', join(root, 'restored'), ...key]
    const ended = await runCoffer([...words, '--verify-only'], { env })
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    expect(ended.stdout).toContain(`s3://kept/p/${newer}\n`)
    await client.write(`p/${newest}`, Bun.file(join(root, 'other.backup')))
    const refused = await runCoffer([...words, '--keep-keys'], { env })
    expectRefused(refused, 1, `s3://kept/p/${newest}`)
    expect(readdirSync(root)).not.toContain('restored.restoring')
  }, 300_000)
})
