/**
 * `coffer verify` as a person runs it: a whole vault, each kind of damage, what it never prints.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeRowKey, encodeTermKey } from '../../src/store/lmdb/layout.ts'
import { openEnvironment, type LmdbEnvironment } from '../../src/store/lmdb/environment.ts'
import { encodeState, makeMeta, readState, stateKey } from '../../src/store/lmdb/store-state.ts'
import { decodeRow, encodeRow } from '../../src/store/core/row-format.ts'
import type { NewRow, Row } from '../../src/store/contract.ts'
import { usedBytesOf } from '../crash/damage/used-bytes.ts'
import { readPages, rootOf } from '../store/data-file.ts'
import { foldAll } from '../store/fold.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const canary = 'canary-4f1c'
const ids = ['id-canary-one', 'id-canary-two', 'id-canary-three']
const permissions = ['token:create', 'token:read', 'token:update']

let root: string
/** A stopped vault that tests copy and never change: the last two tokens are at version 1. */
let made: string
/** Row of the first token, as it was before it was changed. */
let oldRow: Row

const databaseOf = (data: string) => join(data, 'store', 'data.mdb')

/** Ordinals of the three tokens; keyring, tenant and two applications come before. */
const [first, second, third] = [5, 6, 7]

function rowAt({ rows }: LmdbEnvironment, ordinal: number): Row {
  const value = rows.getBinary(encodeRowKey(ordinal))
  if (value === undefined) throw new Error('expected a row')
  return decodeRow(Uint8Array.from(value), ordinal)
}

const putRow = ({ rows }: LmdbEnvironment, ordinal: number, row: NewRow): void =>
  void rows.putSync(encodeRowKey(ordinal), encodeRow(row))

async function withStore<T>(data: string, task: (environment: LmdbEnvironment) => T): Promise<T> {
  const environment = openEnvironment(join(data, 'store'))
  const result = environment.root.transactionSync(() => task(environment))
  await environment.root.close()
  return result
}

interface Api {
  send(method: string, path: string, body: unknown): Promise<string>
}

async function serving(data: string, key: string, task: (api: Api) => Promise<void>) {
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  await task({
    async send(method, path, body) {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const headers = { 'SVC-API-KEY': key, 'content-type': type }
      const sent = { method, headers, body: JSON.stringify(body) }
      const answer = await fetch(url + path, sent)
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
      return answer.text()
    },
  })
  expect(await server.end('SIGTERM')).toBe(0)
}

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const init = await runCoffer(['init', '--data', made, '--json'])
  let key = ''
  await serving(made, (JSON.parse(init.stdout) as { key: string }).key, async ({ send }) => {
    const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
    const text = await send('POST', '/applications', { name: canary, type: 'private', rules })
    key = (JSON.parse(text) as { key: string }).key
  })
  await serving(made, key, async ({ send }) => {
    for (const id of ids) {
      const more = { metadata: { name: canary }, search_indexes: ['{{ data }}'] }
      await send('POST', '/tokens', { id, type: 'token', data: canary, ...more })
    }
  })
  oldRow = await withStore(made, environment => rowAt(environment, first))
  await serving(made, key, async ({ send }) => {
    await send('PATCH', `/tokens/${ids[0]}`, { data: 'later', expires_at: '2099-01-01T00:00:00Z' })
  })
  await foldAll(join(made, 'store'))
})

function copyOfMade(name: string): string {
  const copy = join(root, name.replaceAll(/\W+/g, '-'))
  cpSync(made, copy, { recursive: true })
  return copy
}

const verify = (data: string, ...more: string[]): Promise<Ended> =>
  runCoffer(['verify', '--data', data, ...more])

function expectNoSecrets({ stdout, stderr }: Ended): void {
  for (const secret of ['canary', 'later', 'key_']) expect(stdout + stderr).not.toContain(secret)
  expect(stdout + stderr).not.toMatch(/[0-9a-f]{16}/)
}

/** Returns the kinds of damage that are told, a line each; expects exit code 1 with one line. */
function expectDamage(ended: Ended): string[] {
  expectNoSecrets(ended)
  expect(ended.exitCode).toBe(1)
  expect(ended.stderr).toMatch(/^coffer: [^\n]+ is damaged: restore it from a backup\n$/)
  const lines = ended.stdout.trimEnd().split('\n')
  expect(lines.pop()).toMatch(/^rows: keyring 1, |^the rows were not all read$/)
  return lines
}

describe('coffer verify on a whole vault', () => {
  test('counts its rows, ends with 0, and changes nothing', async () => {
    const before = readFileSync(databaseOf(made))
    const ended = await verify(made)
    const rows =
      'rows: keyring 1, tenant 1, application 2, session 0, webhook 0, token 3, code_key 0, ' +
      'idempotency 0\n'
    expect(ended).toEqual({ exitCode: 0, stdout: rows, stderr: '' })
    expect(readFileSync(databaseOf(made)).equals(before)).toBe(true)
  })

  test('prints one line of JSON', async () => {
    const { exitCode, stdout, stderr } = await verify(made, '--json')
    expect([exitCode, stderr]).toEqual([0, ''])
    const ofTenants = { token: 3, code_key: 0, idempotency: 0 }
    const ofAll = { keyring: 1, tenant: 1, application: 2, session: 0, webhook: 0 }
    const rows = { ...ofAll, ...ofTenants }
    expect(JSON.parse(stdout)).toEqual({ damages: [], more: 0, rows, sum: 'compared' })
  })

  test('takes the master key from elsewhere', async () => {
    const data = copyOfMade('keyless')
    const elsewhere = join(root, 'elsewhere.key')
    cpSync(join(data, 'master.key'), elsewhere)
    rmSync(join(data, 'master.key'))
    expect((await verify(data)).exitCode).toBe(1)
    expect((await verify(data, '--master-key-file', elsewhere)).exitCode).toBe(0)
  })
})

interface Damage {
  readonly says: string
  readonly change: (environment: LmdbEnvironment) => void
  readonly finds: readonly string[]
}

const flip = (bytes: Uint8Array, at: number): Uint8Array => {
  const flipped = Uint8Array.from(bytes)
  flipped[at] = (flipped[at] ?? 0) ^ 1
  return flipped
}

const changeRow =
  (ordinal: number, next: (row: Row) => NewRow) =>
  (environment: LmdbEnvironment): void =>
    putRow(environment, ordinal, next(rowAt(environment, ordinal)))

const flipPart = (part: number) =>
  changeRow(second, row => ({
    ...row,
    parts: row.parts.map((bytes, i) => (i === part ? flip(bytes, bytes.length - 1) : bytes)),
  }))

const damages: readonly Damage[] = [
  { says: 'a flipped bit in a record', change: flipPart(0), finds: ['value_damaged: row 6'] },
  { says: 'a flipped bit in data', change: flipPart(1), finds: ['value_damaged: row 6'] },
  {
    says: 'values of two tokens exchanged',
    change: environment => {
      const [a, b] = [rowAt(environment, second), rowAt(environment, third)]
      putRow(environment, second, { ...a, parts: b.parts })
      putRow(environment, third, { ...b, parts: a.parts })
    },
    finds: ['value_damaged: row 6', 'value_damaged: row 7'],
  },
  {
    says: 'the fields of a token exchanged',
    change: changeRow(second, row => ({ ...row, parts: row.parts.toReversed() })),
    finds: ['value_damaged: row 6'],
  },
  {
    says: 'a token without its data',
    change: changeRow(second, row => ({ ...row, parts: row.parts.slice(0, 1) })),
    finds: ['value_damaged: row 6'],
  },
  {
    says: 'old values under an index of today',
    change: changeRow(first, row => ({ ...row, parts: oldRow.parts })),
    finds: ['value_damaged: row 5'],
  },
  {
    says: 'a row put back to its older version',
    change: environment => putRow(environment, first, oldRow),
    finds: ['unique_missing: row 5', 'unique_orphan: row 5'],
  },
  {
    says: 'a row that is gone',
    change: ({ rows }) => rows.removeSync(encodeRowKey(second)),
    finds: ['unique_orphan: row 6'],
  },
  {
    says: 'a row without a unique',
    change: environment => {
      for (const unique of rowAt(environment, second).uniques)
        environment.uniques.removeSync(unique)
    },
    finds: ['unique_missing: row 6'],
  },
  {
    says: 'a row without a term',
    change: environment => {
      const term = rowAt(environment, second).terms.at(-1) ?? new Uint8Array(16)
      const key = encodeTermKey(term, 0)
      environment.terms.putSync(key, Uint8Array.of(first, 0, third, 0))
    },
    finds: ['term_missing: row 6'],
  },
  {
    says: 'a deadline that is gone',
    change: ({ deadlines }) => {
      for (const key of Array.from(deadlines.getKeys())) deadlines.removeSync(key)
    },
    finds: ['deadline_missing: row 5'],
  },
  {
    says: 'a keyring that does not open',
    change: changeRow(1, row => ({ ...row, parts: row.parts.map(part => flip(part, 60)) })),
    finds: [],
  },
]

describe('coffer verify on a damaged vault', () => {
  // proves S11
  test.each(damages)('tells of $says', async ({ says, change, finds }) => {
    const data = copyOfMade(says)
    await withStore(data, change)
    const before = readFileSync(databaseOf(data))
    const ended = await verify(data)
    expect(readFileSync(databaseOf(data)).equals(before)).toBe(true)
    if (finds.length === 0) {
      expect([ended.exitCode, ended.stdout]).toEqual([1, 'the rows were not all read\n'])
      expect(ended.stderr).toMatch(/^coffer: the master key is not the one of .*\n$/)
    } else {
      const lines = expectDamage(ended)
      for (const line of finds) expect(lines).toContain(line)
    }
  })

  test('tells of facts that are gone', async () => {
    const data = copyOfMade('facts')
    await withStore(data, ({ meta }) => meta.removeSync(stateKey))
    const ended = await verify(data)
    expect([ended.exitCode, ended.stdout]).toEqual([1, 'the rows were not all read\n'])
    expect(ended.stderr).toMatch(/^coffer: the database in .* is damaged: expected of the store: /)
  })

  test('does not drown anybody in lines', async () => {
    const data = copyOfMade('all-terms')
    await withStore(data, environment => {
      makeMeta(environment, 1)
      const row = rowAt(environment, second)
      for (let ordinal = 1_000; ordinal < 1_120; ordinal += 1) {
        putRow(environment, ordinal, { ...row, uniques: [new Uint8Array(32).fill(ordinal)] })
      }
      const moved = { nextOrdinal: 2_000, foldedTo: 2_000, foldingTo: 2_000 }
      const state = { ...readState(environment), ...moved }
      environment.meta.putSync(stateKey, encodeState(state))
    })
    const lines = expectDamage(await verify(data))
    expect(lines.length).toBe(101)
    expect(lines.at(-1)).toMatch(/^and [1-9][0-9]+ more, at least$/)
  })

  test('tells of damaged pages, also as one line of JSON', async () => {
    const data = copyOfMade('page')
    const pages = readPages(join(data, 'store'))
    const page = rootOf(pages, 'rows')
    pages.bytes.fill(0xff, pages.at(page) + 20, pages.at(page + 1))
    pages.save()
    expect(expectDamage(await verify(data))).toContain(`page_damaged: page ${page}`)
    const { exitCode, stdout } = await verify(data, '--json')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      damages: [{ kind: 'page_damaged', page }],
      more: 0,
      rows: null,
      sum: null,
    })
  })

  test('tells of a last commit that is not known, and looks at what stands', async () => {
    const data = copyOfMade('last-commit')
    const pages = readPages(join(data, 'store'))
    const transactionAt = pages.metaAt + 152
    pages.bytes.writeInt32LE(pages.bytes.readInt32LE(transactionAt) - 2, transactionAt)
    pages.save()
    const { exitCode, stdout, stderr } = await verify(data)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('last_commit_unknown\n')
    expect(stdout).toContain('rows: ')
    expect(stderr).toMatch(/^coffer: [^\n]* up to the commit before the last[^\n]*\n$/)
  })
})

describe('a page of zeros', () => {
  test('ends each command with a line that names it and says what to do', async () => {
    const data = copyOfMade('zeros')
    const pages = readPages(join(data, 'store'))
    const page = rootOf(pages, 'rows')
    pages.bytes.fill(0, pages.at(page), pages.at(page + 1))
    pages.save()
    const master = ['--data', data]
    const commands = [
      ['serve', ...master, '--port', '0'],
      ['serve', ...master, '--port', '0', '--workers', '3'],
      ['backup', ...master, '--to', join(root, 'zeros.backup')],
      ['verify', ...master, '--online'],
      ['keys', 'rotate', ...master],
    ]
    const told = new RegExp(
      `^coffer: [^\\n]* page ${page} of its file is damaged: see coffer verify[^\\n]*\\n$`,
    )
    for (const command of commands) {
      const { exitCode, stderr } = await runCoffer(command)
      expect([command[0], exitCode, stderr]).toEqual([command[0], 1, expect.stringMatching(told)])
    }
    const { exitCode, stdout } = await runCoffer(['doctor', ...master])
    expect(exitCode).toBe(1)
    expect(stdout).toContain(`page ${page} of its file is damaged`)
  })
})

describe('a file that lost its end', () => {
  test.each([0.5, 0.75, 0.9, 0.999])('to %d of it: neither walked nor served', async share => {
    const data = copyOfMade(`cut-${share}`)
    // The pages behind it are free, and a file without them is whole.
    truncateSync(databaseOf(data), Math.floor(usedBytesOf(join(made, 'store')) * share))
    const before = readFileSync(databaseOf(data))
    expect(expectDamage(await verify(data)).length).toBeGreaterThan(0)
    const served = await runCoffer(['serve', '--data', data, '--port', '0'])
    expect([served.exitCode, served.stdout]).toEqual([1, ''])
    expect(served.stderr).toMatch(/^coffer: the database in .* is damaged: [^\n]+\n$/)
    expect(readFileSync(databaseOf(data)).equals(before)).toBe(true)
  })

  test('or is something else: neither walked nor served', async () => {
    const data = copyOfMade('garbage')
    writeFileSync(databaseOf(data), Buffer.alloc(50_000, canary))
    expect(expectDamage(await verify(data))).toEqual(['page_damaged: page 0'])
    const served = await runCoffer(['serve', '--data', data, '--port', '0'])
    expect(served.stderr).toMatch(/^coffer: the database in .* is damaged: [^\n]+\n$/)
  })

  test('or is empty is told apart', async () => {
    const data = copyOfMade('empty')
    truncateSync(databaseOf(data), 0)
    expect((await verify(data)).stderr).toMatch(/^coffer: the database in .* is missing/)
    expect(statSync(databaseOf(data)).size).toBe(0)
  })
})

describe('coffer verify refuses', () => {
  test('another master key', async () => {
    const data = copyOfMade('other-key')
    writeFileSync(join(data, 'master.key'), 'ab'.repeat(32))
    const ended = await verify(data)
    expectNoSecrets({ ...ended, stderr: '' })
    expect([ended.exitCode, ended.stdout]).toEqual([1, 'the rows were not all read\n'])
    expect(ended.stderr).toMatch(/^coffer: the master key is not the one of/)
  })

  test('a folder that is served, which it leaves alone', async () => {
    const data = copyOfMade('served')
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const ended = await verify(data)
    expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/^coffer: another coffer runs on this data folder/)
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await verify(data)).exitCode).toBe(0)
  })

  test('a folder that is none', async () => {
    const ended = await verify(join(root, 'missing'))
    expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/^coffer: .*not a data folder/)
  })
})
