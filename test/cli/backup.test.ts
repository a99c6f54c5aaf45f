/**
 * `coffer backup` and `coffer restore` as a person runs them: of a vault that is served and of one
 * that is not, and every way in which they refuse.
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
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { backupChunkBytes } from '../../src/limits/operation-limits.ts'
import { newBackupKey, writeBackup, type Manifest } from '../../src/server/backup/backup-file.ts'
import { formatVersion } from '../../src/server/folder/folder-stamp.ts'
import { readMasterKey } from '../../src/server/keys/master-key.ts'
import { randomBytes } from '../../src/server/process/system.ts'
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const secret = 'planted-5555444433331111'
const headBytes = 80
const tagBytes = 16

interface Vault {
  readonly data: string
  readonly masterKey: string
  readonly manager: string
}

async function makeVault(): Promise<Vault> {
  const root = temporaryFolder()
  const [data, masterKey] = [join(root, 'vault'), join(root, 'master.key')]
  const words = ['--data', data, '--master-key-file', masterKey, '--json']
  const { stdout } = await runCoffer(['init', ...words])
  return { data, masterKey, manager: (JSON.parse(stdout) as { key: string }).key }
}

const backup = ({ data, masterKey }: Vault, to: string, ...more: string[]): Promise<Ended> =>
  runCoffer(['backup', '--data', data, '--master-key-file', masterKey, '--to', to, ...more])

const restore = (file: string, masterKey: string, data: string, ...more: string[]) => {
  const words = more.includes('--verify-only') ? more : ['--keep-keys', ...more]
  return runCoffer(['restore', file, '--data', data, '--master-key-file', masterKey, ...words])
}

const verify = ({ data, masterKey }: Vault): Promise<Ended> =>
  runCoffer(['verify', '--data', data, '--master-key-file', masterKey, '--json'])

interface Served {
  readonly ask: (method: string, path: string, body?: object) => Promise<Response>
  readonly end: () => Promise<number>
}

async function serve({ data, masterKey }: Vault, key: string, ...more: string[]): Promise<Served> {
  const words = ['--data', data, '--master-key-file', masterKey, '--port', '0', ...more]
  const server = await startCoffer(['serve', ...words])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
  return {
    ask: (method, path, body) =>
      fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    end: () => server.end('SIGTERM'),
  }
}

const permissions = ['create', 'read', 'search', 'delete'].map(name => `token:${name}`)
const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }

/** A served vault, with the key of an application that may do everything with tokens. */
async function serveNew(vault: Vault, ...more: string[]): Promise<Served & { key: string }> {
  const managing = await serve(vault, vault.manager)
  const body = { name: 'app', type: 'private', rules: [rule] }
  const made = (await (await managing.ask('POST', '/applications', body)).json()) as { key: string }
  await managing.end()
  return { ...(await serve(vault, made.key, ...more)), key: made.key }
}

/** Tokens that were acknowledged, by their ids. */
type Ledger = Map<string, string>

async function create({ ask }: Served, ledger: Ledger, data: string): Promise<void> {
  const answer = await ask('POST', '/tokens', { type: 'token', data })
  expect(answer.status).toBe(201)
  ledger.set(((await answer.json()) as { id: string }).id, data)
}

async function expectAll(vault: Vault, key: string, ledger: Ledger): Promise<void> {
  const restored = await serve(vault, key)
  for (const [id, data] of ledger) {
    const token = (await (await restored.ask('GET', `/tokens/${id}`)).json()) as { data?: string }
    expect(token.data).toBe(data)
  }
  expect(await restored.end()).toBe(0)
}

describe('backups of a vault that is served under load', () => {
  test('hold all that was acknowledged before, each restored elsewhere', async () => {
    const vault = await makeVault()
    const served = await serveNew(vault, '--fold-rows', '20')
    const ledger: Ledger = new Map()
    let isDone = false
    const writers = [1, 2, 3, 4].map(async writer => {
      // With more tokens, a slow machine would print the progress of a backup.
      for (let n = 0; !isDone && n < 2_000; n += 1) {
        await create(served, ledger, `${secret} ${writer} ${n}`)
      }
    })
    const made: { file: string; before: Ledger }[] = []
    for (let round = 0; round < 3; round += 1) {
      while (ledger.size < 20 * (round + 1)) await Bun.sleep(10)
      const before = new Map(ledger)
      const file = join(temporaryFolder(), 'one.backup')
      expect(await backup(vault, file)).toMatchObject({ exitCode: 0, stderr: '' })
      made.push({ file, before })
    }
    isDone = true
    await Promise.all(writers)
    expect(await served.end()).toBe(0)
    for (const { file, before } of made) {
      const elsewhere = { ...vault, data: join(temporaryFolder(), 'restored') }
      const ended = await restore(file, vault.masterKey, elsewhere.data)
      expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
      const words = ['--data', elsewhere.data, '--master-key-file', vault.masterKey]
      expect(await runCoffer(['verify', ...words])).toMatchObject({ exitCode: 0, stderr: '' })
      expect(before.size).toBeGreaterThan(0)
      await expectAll(elsewhere, served.key, before)
    }
  }, 300_000)
})

/** A stopped vault of more than one chunk, and a backup of it. */
let vault: Vault
let key: string
let file: string

beforeAll(async () => {
  vault = await makeVault()
  const served = await serveNew(vault)
  key = served.key
  const items = Array.from({ length: 8 }, (_, n) => `${secret} ${n} ${'x'.repeat(100_000)}`)
  for (let round = 0; round < 3; round += 1) {
    expect((await served.ask('POST', '/tokenize', items)).status).toBe(200)
  }
  expect(await served.end()).toBe(0)
  file = join(temporaryFolder(), 'one.backup')
  expect((await backup(vault, file)).exitCode).toBe(0)
}, 300_000)

/** Returns the names in a folder, and whether each is a file. */
const listOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => `${name} ${statSync(join(folder, name)).isFile()}`)
    .sort()

function expectFailure(ended: Ended, exitCode: number, says: RegExp): void {
  expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(ended.stderr).toMatch(says)
  expect(ended.stderr).not.toContain(secret)
}

describe('a backup', () => {
  test('is for its owner alone, and leaves nothing beside it', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(file, '..'))).toEqual(['one.backup'])
    expect(statSync(file).size).toBeGreaterThan(backupChunkBytes)
  })

  // proves S14
  test('holds neither the master key nor what is in the vault, in any usual encoding', () => {
    const bytes = readFileSync(file)
    const hex = readFileSync(vault.masterKey, 'latin1').trim()
    const raw = Buffer.from(hex, 'hex')
    const forms = [Buffer.from(hex), raw, Buffer.from(raw.toString('base64'))]
    const values = [secret, key, vault.manager].map(text => Buffer.from(text))
    for (const form of [...forms, ...values]) expect(bytes.indexOf(form)).toBe(-1)
  })

  test('says what it holds', async () => {
    const to = join(temporaryFolder(), 'two.backup')
    const { stdout } = await backup(vault, to, '--json')
    const told = JSON.parse(stdout) as { rows: Record<string, number>; created_at: string }
    expect(told).toMatchObject({ file: to, bytes: statSync(to).size, rows: { token: 24 } })
    expect(Date.parse(told.created_at)).toBeGreaterThan(0)
    const tried = await restore(to, vault.masterKey, 'nowhere', '--verify-only', '--json')
    expect(JSON.parse(tried.stdout)).toEqual({ rows: told.rows, created_at: told.created_at })
  })

  test('is not made over something, in no folder, of no vault or with another key', async () => {
    const folder = temporaryFolder()
    const to = join(folder, 'there')
    writeFileSync(to, 'mine')
    expectFailure(await backup(vault, to), 1, /there is something at .*: choose another name/)
    expect(readFileSync(to, 'latin1')).toBe('mine')
    const nowhere = join(folder, 'missing', 'one')
    expectFailure(await backup(vault, nowhere), 1, /the folder of .* does not exist/)
    const none = { ...vault, data: folder }
    expectFailure(await backup(none, join(folder, 'x')), 1, /not a data folder/)
    const otherKey = join(folder, 'other.key')
    writeFileSync(otherKey, `${'0'.repeat(64)}\n`, { mode: 0o600 })
    const other = { ...vault, masterKey: otherKey }
    expectFailure(await backup(other, join(folder, 'x')), 1, /the master key is not the one of/)
    expect(readdirSync(folder).sort()).toEqual(['other.key', 'there'])
    expectFailure(await runCoffer(['backup', '--data', vault.data]), 2, /--to/)
  })

  test('is not made of a damaged vault', async () => {
    const data = join(temporaryFolder(), 'damaged')
    cpSync(vault.data, data, { recursive: true })
    const path = join(data, 'store', 'data.mdb')
    const database = readFileSync(path)
    // In the middle of a long sealed value: no page is wrong by itself.
    const at = Math.floor(database.length / 2)
    database[at] = (database[at] ?? 0) ^ 1
    writeFileSync(path, database)
    const folder = temporaryFolder()
    const ended = await backup({ ...vault, data }, join(folder, 'x'))
    expectFailure(ended, 1, /is damaged, so no backup was made/)
    expect(readdirSync(folder)).toEqual([])
  })

  test('takes no folder away that is in its place', async () => {
    const folder = temporaryFolder()
    const to = join(folder, 'one.backup')
    mkdirSync(`${to}.partial`)
    writeFileSync(join(`${to}.partial`, 'mine'), 'mine')
    expectFailure(await backup(vault, to), 1, /is in the way, and is not of coffer/)
    expect(readFileSync(join(`${to}.partial`, 'mine'), 'latin1')).toBe('mine')
    expect(existsSync(to)).toBe(false)
  })

  test('that was killed has no name, and is no matter to the next one', async () => {
    const folder = temporaryFolder()
    const to = join(folder, 'one.backup')
    for (let round = 1; round <= 5; round += 1) {
      const words = ['--data', vault.data, '--master-key-file', vault.masterKey, '--to', to]
      const child = Bun.spawn([...cofferCommand, 'backup', ...words], { stdout: 'ignore' })
      await Bun.sleep(round * 40)
      child.kill('SIGKILL')
      await child.exited
      if (existsSync(to)) break
    }
    if (!existsSync(to)) expect((await backup(vault, to)).exitCode).toBe(0)
    const data = join(temporaryFolder(), 'restored')
    expect((await restore(to, vault.masterKey, data)).exitCode).toBe(0)
  }, 300_000)
})

const flip =
  (at: number) =>
  (path: string): void => {
    const bytes = readFileSync(path)
    const place = at < 0 ? bytes.length + at : at
    bytes[place] = (bytes[place] ?? 0) ^ 1
    writeFileSync(path, bytes)
  }
const cut = (to: number) => (path: string) => truncateSync(path, to < 0 ? sizeOf(path) + to : to)
const sizeOf = (path: string): number => statSync(path).size
const append = (path: string) => writeFileSync(path, Buffer.concat([readFileSync(path), pad]))
const pad = Buffer.alloc(tagBytes)
const secondChunkAt = headBytes + backupChunkBytes + tagBytes

function swapChunks(path: string): void {
  const bytes = readFileSync(path)
  const [one, two] = [headBytes, secondChunkAt].map(at =>
    Buffer.from(bytes.subarray(at, at + backupChunkBytes + tagBytes)),
  )
  bytes.set(two ?? [], headBytes)
  bytes.set(one ?? [], secondChunkAt)
  writeFileSync(path, bytes)
}

const otherKey = /the master key is not the one of the backup at .*, or its beginning is damaged/
const newerCoffer = /by a newer coffer than 0.*: restore it with the one that made it, or a newer/
const isDamaged = /the backup at .* is damaged or cut short/

describe('restoring', () => {
  const damages: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['its first byte changed', flip(0), /is not a backup of coffer/],
    ['another version', path => writeFileSync(path, 'coffer backup 2\nx'), newerCoffer],
    ['nothing in it', path => writeFileSync(path, ''), /is not a backup of coffer/],
    ['another file in its place', path => writeFileSync(path, 'x'.repeat(999)), /is not a backup/],
    ['its salt changed', flip(16), otherKey],
    ['its check changed', flip(headBytes - 1), otherKey],
    ['its manifest changed', flip(headBytes + 5), isDamaged],
    ['its database changed', flip(headBytes + 70_000), isDamaged],
    ['a tag changed', flip(headBytes + backupChunkBytes), isDamaged],
    ['its second chunk changed', flip(secondChunkAt), isDamaged],
    ['its last byte changed', flip(-1), isDamaged],
    ['two chunks exchanged', swapChunks, isDamaged],
    ['a cut within its head', cut(headBytes - 1), isDamaged],
    ['a cut behind its head', cut(headBytes), isDamaged],
    ['a cut within a chunk', cut(headBytes + 9_000), isDamaged],
    ['a cut between two chunks', cut(secondChunkAt), isDamaged],
    ['its last byte cut off', cut(-1), isDamaged],
    ['more behind its end', append, isDamaged],
  ]

  // proves S14
  test.each(damages)('a backup with %s makes nothing', async (_, damage, says) => {
    const folder = temporaryFolder()
    const copy = join(folder, 'copy')
    copyFileSync(file, copy)
    damage(copy)
    const data = join(folder, 'restored')
    for (const more of [[], ['--verify-only']]) {
      expectFailure(await restore(copy, vault.masterKey, data, ...more), 1, says)
      expect(readdirSync(folder)).toEqual(['copy'])
    }
  })

  const claims: readonly (readonly [string, Partial<Manifest>, RegExp])[] = [
    [
      'an older format',
      { format: 3, coffer: '0.0.9+a1' },
      /is of format 3, made by coffer 0\.0\.9\+a1; .* never released: restore it with that one,/,
    ],
    [
      'a newer format',
      { format: formatVersion + 1, coffer: '7.0.0+b2' },
      /made by coffer 7\.0\.0\+b2; this is coffer 0.*: restore it with that one, or a newer one$/m,
    ],
    ['other rows', { rows: { token: 1 } }, /what is in the backup is damaged/],
    ['another length', { bytes: 1 }, isDamaged],
  ]

  test.each(claims)('a backup that claims %s makes nothing', async (_, claim, says) => {
    const folder = temporaryFolder()
    const masterKey = readMasterKey(vault.masterKey)
    const source = join(vault.data, 'store', 'data.mdb')
    const { rows } = JSON.parse((await verify(vault)).stdout) as { rows: Manifest['rows'] }
    const honest = { format: formatVersion, coffer: '0', created_at: '', rows }
    const bytes = statSync(source).size
    const made = join(folder, 'made')
    const write = (to: string, manifest: Manifest) =>
      writeBackup(to, newBackupKey(masterKey, randomBytes), manifest, source)
    write(join(folder, 'honest'), { ...honest, bytes })
    write(made, { ...honest, bytes, ...claim })
    const data = join(folder, 'restored')
    expectFailure(await restore(made, vault.masterKey, data), 1, says)
    expect(readdirSync(folder).sort()).toEqual(['honest', 'made'])
    expect((await restore(join(folder, 'honest'), vault.masterKey, data)).exitCode).toBe(0)
  })

  test('gives the vault back, into a new folder or an empty one', async () => {
    const folder = temporaryFolder()
    const [fresh, empty] = [join(folder, 'fresh'), join(folder, 'empty')]
    mkdirSync(empty, { mode: 0o755 })
    for (const [data, mode] of [
      [fresh, 0o700],
      [empty, 0o755],
    ] as const) {
      const ended = await restore(file, vault.masterKey, data)
      expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
      expect(ended.stdout).toMatch(
        /^restored: 28 rows of (\S+) in .*\nThe vault is as of \1: keys that .*\n$/,
      )
      expect(statSync(data).mode & 0o777).toBe(mode)
      expect(readdirSync(data).sort()).toEqual(['format', 'lock', 'store'])
      const served = await serve({ ...vault, data }, key)
      const list = (await (await served.ask('GET', '/tokens')).json()) as Listed
      expect(list.pagination.total_items).toBe(24)
      expect(await served.end()).toBe(0)
    }
    expect(readdirSync(folder).sort()).toEqual(['empty', 'fresh'])
  })

  // proves S14
  test('with another key, none, a missing file or into a folder with something fails', async () => {
    const folder = temporaryFolder()
    const data = join(folder, 'data')
    mkdirSync(data)
    writeFileSync(join(data, 'mine'), '')
    const other = join(folder, 'other.key')
    writeFileSync(other, `${'0'.repeat(64)}\n`, { mode: 0o600 })
    const fresh = join(folder, 'fresh')
    const before = listOf(folder)
    expectFailure(
      await restore(file, vault.masterKey, data),
      1,
      /is not empty: choose another, as coffer restore/,
    )
    expectFailure(await restore(file, other, fresh), 1, otherKey)
    expectFailure(await restore(join(folder, 'no'), other, fresh), 1, /there is no backup at/)
    const keyless = await runCoffer(['restore', file, '--data', fresh, '--keep-keys'])
    expectFailure(keyless, 2, /say where the master key of the vault is: --master-key-file/)
    expect(listOf(folder)).toEqual(before)
  })
})

interface Listed {
  readonly pagination: { readonly total_items: number }
}
