/**
 * The sum over all rows, as a person meets it: `coffer verify` finds rows that were put back, added
 * or taken away together with their index entries, and nothing in a vault that was only used.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { utf8 } from '../../src/lib/bytes.ts'
import type { Row } from '../../src/store/contract.ts'
import { openEnvironment, type LmdbEnvironment } from '../../src/store/lmdb/environment.ts'
import { readEveryRow } from '../../src/store/lmdb/index/read-rows.ts'
import { foldAll } from '../store/fold.ts'
import { rowIn, setRow, tamper } from '../store/tamper.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

const slowMs = 120_000
const permissions = ['create', 'read', 'update', 'delete'].map(name => `token:${name}`)
const sumKey = utf8('sum')

let root: string
/** A stopped vault; its tokens `changed`, `deleted`, `again` and `kept` are as they were made. */
let before: string
/** That vault after `changed` was changed, `deleted` deleted, and `again` deleted and made. */
let made: string
let key: string

const storeOf = (data: string): string => join(data, 'store')

type Send = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>

async function serving(
  data: string,
  task: (send: Send) => Promise<void>,
  { signal = 'SIGTERM', words = [] }: { signal?: NodeJS.Signals; words?: string[] } = {},
): Promise<void> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0', ...words])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  await task(async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { 'SVC-API-KEY': key, 'content-type': type }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(url + path, { method, headers, ...sent })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
    const text = await answer.text()
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  })
  const code = await server.end(signal)
  if (signal === 'SIGTERM') expect(code).toBe(0)
}

const tokenOf = (id: string, data: string) => ({ id, type: 'token', data, metadata: { a: 'b' } })

async function makeVault(data: string): Promise<void> {
  const init = await runCoffer(['init', '--data', data, '--json'])
  ;({ key } = JSON.parse(init.stdout) as { key: string })
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  await serving(data, async send => {
    const made = await send('POST', '/applications', { name: 'all', type: 'private', rules })
    key = String(made['key'])
  })
}

beforeAll(async () => {
  root = temporaryFolder()
  before = join(root, 'before')
  made = join(root, 'made')
  await makeVault(before)
  await serving(before, async send => {
    for (const id of ['changed', 'deleted', 'again', 'kept']) {
      await send('POST', '/tokens', tokenOf(id, `first of ${id}`))
    }
  })
  cpSync(before, made, { recursive: true })
  await serving(made, async send => {
    await send('PATCH', '/tokens/changed', { data: 'second', expires_at: '2099-01-01T00:00:00Z' })
    await send('DELETE', '/tokens/deleted')
    await send('DELETE', '/tokens/again')
    await send('POST', '/tokens', tokenOf('again', 'second of again'))
  })
  for (const data of [before, made]) await foldAll(storeOf(data))
}, slowMs)

/** Ordinals of the four tokens; keyring, tenant and two applications come before them. */
const [changed, deleted, again, kept] = [5, 6, 7, 8]
/** Ordinal of the second `again`. */
const newAgain = 9

async function withStore<T>(data: string, task: (of: LmdbEnvironment) => T): Promise<T> {
  const environment = openEnvironment(storeOf(data))
  const result = task(environment)
  await environment.root.close()
  return result
}

const oldRow = (ordinal: number): Promise<Row> => withStore(before, of => rowIn(of, ordinal))

function copyOf(data: string, name: string): string {
  const copy = join(root, name.replaceAll(/\W+/g, '-'))
  cpSync(data, copy, { recursive: true })
  return copy
}

const verify = (data: string, ...more: string[]): Promise<Ended> =>
  runCoffer(['verify', '--data', data, ...more])

/** Expects that verify is content. */
async function expectSound(data: string): Promise<void> {
  const { exitCode, stdout, stderr } = await verify(data, '--json')
  const { damages, sum } = JSON.parse(stdout) as Record<string, unknown>
  expect([exitCode, stderr, damages, sum]).toEqual([0, '', [], 'compared'])
}

/** Returns what verify finds, as it is told; expects one line that says what to do. */
async function findingsIn(data: string, ...more: string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await verify(data, ...more)
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^coffer: [^\n]+ is damaged: restore it from a backup\n$/),
  ])
  const lines = stdout.trimEnd().split('\n')
  expect(lines.pop()).toStartWith('rows: keyring 1, ')
  return lines
}

const differ =
  'rows_differ: rows or entries of the log were put back, added or taken away, not by this vault'
const outdated = 'sum_outdated: the sum over all rows is not of the same moment as the audit log'
const foreign = 'sum_damaged: the sum over all rows is not one of this vault'
const missing = 'sum_missing: the sum over all rows was taken away'

const readSum = (of: LmdbEnvironment): Uint8Array =>
  Uint8Array.from(of.meta.getBinary(sumKey) ?? new Uint8Array())

/** Changes to a stopped vault whose rows and indexes agree afterwards. */
const changes: readonly (readonly [
  says: string,
  change: (data: string) => Promise<void>,
  finds: readonly string[],
])[] = [
  [
    'a changed row put back',
    async data => {
      const row = await oldRow(changed)
      await tamper(storeOf(data), of => setRow(of, changed, row))
    },
    [differ],
  ],
  [
    'a deleted row put back',
    async data => {
      const row = await oldRow(deleted)
      await tamper(storeOf(data), of => setRow(of, deleted, row))
    },
    [differ],
  ],
  [
    'a row put back in the place of a new one with the same id and version',
    async data => {
      const row = await oldRow(again)
      await tamper(storeOf(data), of => setRow(of, newAgain, row))
    },
    [differ],
  ],
  ['a row taken away', data => tamper(storeOf(data), of => setRow(of, kept, undefined)), [differ]],
  [
    'rows and sum put back without the log',
    async data => {
      const [rows, sum] = await withStore(before, of => [
        Array.from(readEveryRow(of), row => structuredClone(row)),
        readSum(of),
      ])
      await tamper(storeOf(data), of => {
        setRow(of, newAgain, undefined)
        for (const row of rows) setRow(of, row.ordinal, row)
        of.meta.putSync(sumKey, sum)
      })
    },
    [outdated],
  ],
  [
    'the sum taken away',
    data => tamper(storeOf(data), of => void of.meta.removeSync(sumKey)),
    [missing],
  ],
  [
    'the sum of another vault',
    async data => {
      const other = join(root, 'other')
      await runCoffer(['init', '--data', other])
      const sum = await withStore(other, readSum)
      await tamper(storeOf(data), of => void of.meta.putSync(sumKey, sum))
    },
    [foreign],
  ],
  [
    'a flipped bit of the sum',
    data =>
      tamper(storeOf(data), of => {
        const sum = readSum(of)
        sum[40] = (sum[40] ?? 0) ^ 1
        of.meta.putSync(sumKey, sum)
      }),
    [foreign],
  ],
  [
    'an earlier sum of this vault',
    async data => {
      const sum = await withStore(before, readSum)
      await tamper(storeOf(data), of => void of.meta.putSync(sumKey, sum))
    },
    [differ, outdated],
  ],
]

describe('a vault that others changed, in rows and indexes alike', () => {
  test('is sound before', async () => {
    for (const data of [before, made]) await expectSound(data)
  })

  // proves S98
  test.each(changes)(
    'is found: %s; also by a backup, and after the vault went on',
    async (says, change, finds) => {
      const data = copyOf(made, says)
      await change(data)
      expect(await findingsIn(data)).toEqual([...finds])
      const { exitCode } = await runCoffer(['backup', '--data', data, '--to', `${data}.backup`])
      expect(exitCode).toBe(1)
      await serving(data, async send => {
        await send('POST', '/tokens', tokenOf('later', 'later'))
      })
      const kinds = (lines: readonly string[]) => lines.map(line => line.split(':')[0])
      const later = kinds(await findingsIn(data))
      for (const kind of kinds(finds)) expect(later).toContain(kind)
    },
    slowMs,
  )

  test('is found with a row that is there twice', async () => {
    const data = copyOf(made, 'twice')
    await tamper(storeOf(data), of => setRow(of, deleted, rowIn(of, kept)))
    expect(await findingsIn(data)).toContain(differ)
  })

  test('is found while it is served', async () => {
    const data = copyOf(made, 'online')
    const row = await oldRow(deleted)
    await tamper(storeOf(data), of => setRow(of, deleted, row))
    await serving(data, async () => {
      expect(await findingsIn(data, '--online')).toEqual([differ])
    })
  })
})

describe('a vault that was only used', () => {
  const command = async (...words: string[]): Promise<void> => {
    const { exitCode, stderr } = await runCoffer(words)
    expect([words, exitCode, stderr]).toEqual([words, 0, expect.any(String)])
  }

  test(
    'is sound after keys were rotated, retired and replaced, a fold, compact, backup and restore',
    async () => {
      const data = copyOf(made, 'used')
      const at = ['--data', data]
      for (const words of [['rotate'], ['retire']]) await command('keys', ...words, ...at)
      await expectSound(data)
      await serving(
        data,
        async send => {
          for (let count = 0; count < 40; count += 1) {
            await send('POST', '/tokens', { type: 'token', data: count })
          }
          await runCoffer(['keys', 'rotate', ...at])
          await send('DELETE', '/tokens/kept')
        },
        { words: ['--fold-rows', '1000'] },
      )
      await expectSound(data)
      await foldAll(storeOf(data))
      await expectSound(data)
      await command('compact', ...at)
      await expectSound(data)
      const backup = join(root, 'used.backup')
      await command('backup', ...at, '--to', backup)
      const masterKey = ['--master-key-file', join(data, 'master.key')]
      for (const kept of ['--keep-keys', '--revoke-keys']) {
        const restored = join(root, `restored${kept}`)
        await command('restore', backup, '--data', restored, kept, ...masterKey)
        cpSync(join(data, 'master.key'), join(restored, 'master.key'))
        await expectSound(restored)
      }
      await command('restore', backup, '--verify-only', ...at, ...masterKey)
    },
    slowMs,
  )

  test(
    'is sound after rows expired, under three workers, and after a kill',
    async () => {
      const data = copyOf(made, 'workers')
      const createMany = async (send: Send) => {
        const numbers = Array.from({ length: 120 }, (_, number) => number)
        await Promise.all(
          numbers.map(async number => {
            const { id } = await send('POST', '/tokens', { type: 'token', data: number })
            if (number % 3 === 0) await send('PATCH', `/tokens/${String(id)}`, { data: 'x' })
            if (number % 4 === 0) await send('DELETE', `/tokens/${String(id)}`)
          }),
        )
      }
      const workers = process.platform === 'linux' ? ['--workers', '3'] : []
      await serving(
        data,
        async send => {
          await createMany(send)
          const expires_at = new Date(Date.now() + 1_500).toISOString()
          await send('POST', '/tokens', { id: 'ends', type: 'token', data: 1, expires_at })
          const isSwept = async (): Promise<boolean> => {
            const { stdout } = await verify(data, '--online', '--json')
            const { rows } = JSON.parse(stdout) as { rows: Record<string, number> }
            return rows['token'] === 3 + 90
          }
          await until(isSwept, slowMs)
        },
        { words: workers },
      )
      await expectSound(data)
      await serving(data, createMany, { signal: 'SIGKILL' })
      await expectSound(data)
    },
    slowMs,
  )
})

describe('a vault that an earlier coffer made', () => {
  const vectors = resolve(import.meta.dir, '../vectors/format-4/folder')

  function unpack(name: string): string {
    const data = join(root, name)
    mkdirSync(storeOf(data), { recursive: true, mode: 0o700 })
    for (const file of ['format', 'master.key']) {
      writeFileSync(join(data, file), readFileSync(join(vectors, file)), { mode: 0o600 })
    }
    const database = gunzipSync(readFileSync(join(vectors, 'data.mdb.gz')))
    writeFileSync(join(storeOf(data), 'data.mdb'), database, { mode: 0o600 })
    return data
  }

  test(
    'keeps no sum, which verify says, until it is compacted',
    async () => {
      const data = unpack('earlier')
      const told =
        'rows put back with their index entries are not found yet: run coffer compact once'
      const { exitCode, stdout } = await verify(data)
      expect([exitCode, stdout.trimEnd().split('\n').at(-1)]).toEqual([0, told])
      const { stdout: json } = await verify(data, '--json')
      expect(JSON.parse(json)).toMatchObject({ damages: [], sum: 'not_begun' })
      await serving(data, async () => {})
      expect((await verify(data)).stdout).toContain(told)
      expect((await runCoffer(['compact', '--data', data])).exitCode).toBe(0)
      await expectSound(data)
      await serving(data, async () => {})
      await expectSound(data)
      await tamper(storeOf(data), of => void of.meta.removeSync(sumKey))
      expect(await findingsIn(data)).toEqual([missing])
    },
    slowMs,
  )
})
