/**
 * The vectors of each format that was released (`test/vectors`, docs/stability.md): a folder, a
 * backup, a keyring, a row and an export, whose contents this version reads.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { bytesOfHex, hexOf } from '../../src/lib/bytes.ts'
import { makeKeys } from '../../src/crypto/keyring.ts'
import { decodeKeyring, encodeKeyring } from '../../src/crypto/keyring-format.ts'
import { keyringSealer, keyringUnique } from '../../src/vault/keyring/live-keyring.ts'
import { sealRow, unsealRow } from '../../src/records/seal-row.ts'
import type { NewRow, Row } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { unsealToken } from '../../src/tokens/token-record.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { seededBytes } from '../support/seeded.ts'
import expected from '../vectors/format-4/expected.json' with { type: 'json' }

const vectors = resolve(import.meta.dir, '../vectors/format-4')
const { keys } = expected
const slowMs = 60_000
const masterKeyText = readFileSync(join(vectors, 'folder', 'master.key'), 'latin1')

/** The vault as it lay on a disk: in the repository its database is compressed. */
function unpack(): string {
  const data = join(temporaryFolder(), 'vault')
  mkdirSync(join(data, 'store'), { recursive: true, mode: 0o700 })
  writeFileSync(join(data, 'format'), readFileSync(join(vectors, 'folder', 'format')))
  writeFileSync(join(data, 'master.key'), masterKeyText, { mode: 0o600 })
  const database = gunzipSync(readFileSync(join(vectors, 'folder', 'data.mdb.gz')))
  writeFileSync(join(data, 'store', 'data.mdb'), database, { mode: 0o600 })
  return data
}

async function run(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCoffer(words)
  expect([words[0], exitCode, stderr]).toEqual([words[0], 0, expect.any(String)])
  return stdout
}

async function restored(): Promise<string> {
  const folder = temporaryFolder()
  const [data, masterKey] = [join(folder, 'restored'), join(folder, 'key')]
  writeFileSync(masterKey, masterKeyText, { mode: 0o600 })
  const words = ['restore', join(vectors, 'vault.backup'), '--keep-keys', '--data', data]
  await run(...words, '--master-key-file', masterKey)
  writeFileSync(join(data, 'master.key'), masterKeyText, { mode: 0o600 })
  return data
}

interface Served {
  readonly address: string
  readonly server: Running
  readonly ask: (key: string, method: string, path: string, body?: object) => Promise<Answered>
}

interface Answered {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

async function serve(data: string): Promise<Served> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  return {
    address,
    server,
    async ask(key, method, path, body) {
      const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(address + path, { method, headers, ...sent })
      return { status: answer.status, body: (await answer.json()) as Answered['body'] }
    },
  }
}

describe.each([
  ['folder', unpack],
  ['backup', restored],
])('the %s of format 4', (_, open) => {
  test(
    'is whole, gives every token, revealed, masked and found as it was, and takes new ones',
    async () => {
      const data = await open()
      const looked = JSON.parse(await run('verify', '--data', data, '--json')) as { rows: unknown }
      // Their writer had no webhooks.
      expect(looked.rows).toEqual({ ...expected.rows, webhook: 0 })
      const { ask, server } = await serve(data)
      for (const { id, revealed, masked } of expected.tokens) {
        expect((await ask(keys.revealing, 'GET', `/tokens/${id}`)).body).toEqual(revealed)
        const { data: shown = null } = (await ask(keys.masking, 'GET', `/tokens/${id}`)).body
        expect(shown).toEqual(masked)
      }
      for (const [query, ids] of Object.entries(expected.found)) {
        const { body } = await ask(keys.revealing, 'POST', '/tokens/search', { query, size: 100 })
        expect((body['data'] as { id: string }[]).map(({ id }) => id)).toEqual(ids)
      }
      const create = (body: object) => ask(keys.revealing, 'POST', '/tokens', body)
      expect((await create({ id: 'v-card', type: 'token', data: 1 })).status).toBe(409)
      const email = { type: 'email', data: 'ada@example.com' }
      const twin = await create({ ...email, deduplicate_token: true })
      expect([twin.status, twin.body['id']]).toEqual([201, 'v-email'])
      const { fingerprint } = expected.tokens.find(({ id }) => id === 'v-email')?.revealed ?? {}
      expect((await create(email)).body['fingerprint']).toBe(fingerprint)
      for (const key of [keys.management, keys.page]) {
        expect((await ask(key, 'GET', '/applications/key')).status).toBe(200)
      }
      expect((await ask(keys.page, 'GET', '/tokens')).status).toBe(403)
      expect((await ask(keys.management, 'GET', '/sessions')).body['data']).toEqual([])
      expect(await server.end('SIGTERM')).toBe(0)
    },
    slowMs,
  )
})

test(
  'the export is taken by a new vault, token by token',
  async () => {
    const folder = temporaryFolder()
    const [data, ids] = [join(folder, 'vault'), join(folder, 'ids')]
    const management = /key_\w+/.exec(await run('init', '--data', data))?.[0] ?? ''
    const { address, ask, server } = await serve(data)
    const permissions = ['token:create', 'token:read']
    const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
    const body = { name: 'importing', type: 'private', rules }
    const key = String((await ask(management, 'POST', '/applications', body)).body['key'])
    const words = ['token', 'import', join(vectors, 'export.jsonl'), '--addr', address]
    const more = ['--state', join(folder, 'state'), '--ids', ids]
    const ended = await runCoffer([...words, ...more], { env: { COFFER_KEY: key } })
    expect([ended.exitCode, ended.stderr]).toEqual([0, expect.any(String)])
    for (const { id, revealed } of expected.tokens) {
      const { body: token } = await ask(key, 'GET', `/tokens/${id}`)
      expect([id, token['data'], token['metadata']]).toEqual([
        id,
        revealed.data,
        'metadata' in revealed ? revealed.metadata : undefined,
      ])
    }
    expect(await server.end('SIGTERM')).toBe(0)
  },
  slowMs,
)

const masterKey = () => bytesOfHex(masterKeyText.trim())

test('the keyring and a row open by themselves, to what they were sealed from', () => {
  const keyring = decodeKeyring(bytesOfHex(expected.keyring.opened))
  expect(hexOf(encodeKeyring(keyring))).toBe(expected.keyring.opened)
  expect(keyring.dataKeys.map(({ number, state }) => [number, state])).toEqual([
    [1, 'readable'],
    [2, 'current'],
  ])
  const { clear, parts, ordinal, version, tenantId, id } = expected.row
  const row = { clear: bytesOfHex(clear), parts: parts.map(bytesOfHex), ordinal, version }
  const opened = unsealToken(makeKeys(keyring), tenantId, row as unknown as Row)
  expect([opened.record.id, opened.unsealData()]).toEqual([id, '"ada@example.com"'])
})

/** Puts another row in the place of the keyring's. */
async function withKeyring(make: (row: Row) => NewRow): Promise<string> {
  const data = unpack()
  const store = await openLmdbStore({ path: join(data, 'store') })
  const row = await store.find(keyringUnique)
  if (row === undefined) throw new Error('the vectors have a keyring')
  const change = { replace: make(row), ordinal: row.ordinal, ifVersion: row.version }
  expect((await store.write([change])).ok).toBe(true)
  await store.close()
  return data
}

const isOlder = /; older ones were never released: export its tokens with the coffer that wrote it/
const isNewer = /: use the newer coffer that wrote it/

describe('a vault is refused in one line, which says what to do, where', () => {
  const refused = async (data: string, says: RegExp, what: RegExp): Promise<void> => {
    for (const words of [['serve', '--port', '0'], ['keys', 'status'], ['compact']]) {
      const { exitCode, stderr, stdout } = await runCoffer([...words, '--data', data])
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(says)])
      expect(stderr).toMatch(what)
    }
  }

  test.each([
    ['older', 2, isOlder],
    ['newer', 6, isNewer],
  ])(
    'its keyring is of an %s format',
    async (_, format, says) => {
      const data = await withKeyring(row => {
        const sealer = keyringSealer(masterKey())
        const keyring = unsealRow(sealer, row).value(0)
        keyring[0] = format
        const { uniques, terms, version } = row
        return sealRow(sealer, seededBytes(1), { uniques, terms }, version + 1, [keyring])
      })
      await refused(data, says, /the keyring is of format \d, and this coffer reads format 5/)
    },
    slowMs,
  )

  test.each([
    ['older', 1, isOlder],
    ['newer', 3, isNewer],
  ])(
    'its keyring is sealed in an %s format',
    async (_, format, says) => {
      const data = await withKeyring(row => {
        const [head = new Uint8Array(), ...values] = row.parts
        const parts = [Uint8Array.from(head).fill(format, 0, 1), ...values]
        const { uniques, terms, version } = row
        return { uniques, terms, version: version + 1, parts }
      })
      await refused(data, says, /the seal of the keyring is of format \d, and .* reads format 2/)
    },
    slowMs,
  )
})
