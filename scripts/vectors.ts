/**
 * `bun scripts/vectors.ts`: makes the vectors of this format, below `test/vectors`, anew.
 *
 * They are a vault's folder, a backup of it, its keyring, a row and a line of an export, each with
 * its expected contents. Randomness and time are fixed. Vectors of a released format are never made
 * anew: every later version must open them (docs/stability.md).
 * @module
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { hexOf } from '../src/lib/bytes.ts'
import { encodeKeyring } from '../src/crypto/keyring-format.ts'
import { makeAuditLog } from '../src/audit/audit-log.ts'
import type { Deps } from '../src/deps.ts'
import { keyringUnique, openKeyring, type LiveKeyring } from '../src/vault/keyring/live-keyring.ts'
import { rotate } from '../src/vault/keyring/rotation.ts'
import { buildApp } from '../src/server/listen/app.ts'
import { newBackupKey, writeBackup } from '../src/server/backup/backup-file.ts'
import { formatVersion, stampFolder } from '../src/server/folder/folder-stamp.ts'
import { defaultSettings } from '../src/settings/settings.ts'
import type { Row } from '../src/store/contract.ts'
import { copyStore } from '../src/store/lmdb/maintenance/compact-copy.ts'
import { openLmdbStore, type LmdbStore } from '../src/store/lmdb/lmdb-store.ts'
import { tokenUnique } from '../src/tokens/token-id.ts'
import { createVault } from '../src/vault/vault.ts'
import { checkRecords } from '../src/vault/verify-rows.ts'
import { makeScheduler } from '../src/lib/work.ts'
import { openRandom, type Random } from './seed/random.ts'

const seed = 20_261_101
/** In the past for each reader: sessions and codes have ended. */
const madeMs = Date.UTC(2026, 10, 1, 12)
const foldRows = 10

const bank = { routing_number: '021000021', account_number: '0012345678' }
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031 }
/** One token of each type, and tokens with all other properties of a row. */
const bodies: readonly Readonly<Record<string, unknown>>[] = [
  { id: 'v-token', type: 'token', data: { a: [1.5, 'ß', null], b: 1e3 }, mask: '{{ data.b }}' },
  { id: 'v-card', type: 'card', data: { ...card, cvc: '123' }, metadata: { order: '17' } },
  { id: 'v-bank', type: 'bank', data: bank, containers: ['/shop/one/'] },
  { id: 'v-card-number', type: 'card_number', data: '4111111111111111' },
  { id: 'v-account', type: 'us_bank_account_number', data: '12345678' },
  { id: 'v-routing', type: 'us_bank_routing_number', data: '021000021' },
  { id: 'v-ssn', type: 'social_security_number', data: '123-45-6789' },
  { id: 'v-ein', type: 'employer_id_number', data: '12-3456789' },
  { id: 'v-email', type: 'email', data: 'ada@example.com', deduplicate_token: true },
  { id: 'v-phone', type: 'phone', data: '+14155550123', expires_at: '2096-01-01T00:00:00Z' },
  { id: 'v-iban', type: 'iban', data: 'DE89370400440532013000', search_indexes: ['{{ data }}'] },
  { id: 'v-name', type: 'name', data: 'Ada Lovelace' },
  { id: 'v-address', type: 'address', data: { city: 'London', country: 'GB' } },
  { id: 'v-birth', type: 'date_of_birth', data: '1990-12-10' },
]
/** Sealed under the second key, and not folded. */
const later: readonly Readonly<Record<string, unknown>>[] = [
  { type: 'token', data: 'of a random id' },
  { id: 'v-last', type: 'token', data: 'x'.repeat(2_100), metadata: { order: '17' } },
]
const queries = ['type:email', 'metadata.order:17', 'data:DE89370400440532013000', '*'] as const

type Answered = Readonly<Record<string, unknown>>
type Ask = (key: string, method: string, path: string, body?: object) => Promise<Answered>

interface Vault {
  readonly deps: Deps
  readonly store: LmdbStore
  readonly keyring: LiveKeyring
  readonly tenantId: string
  readonly managementKey: string
  readonly ask: Ask
}

async function openVault(folder: string, masterKey: Uint8Array, random: Random): Promise<Vault> {
  mkdirSync(folder, { recursive: true })
  const store = await openLmdbStore({ path: folder, fold: { rows: foldRows } })
  const clock = { nowMs: madeMs }
  const impure = { store, now: () => clock.nowMs, randomBytes: random.bytes }
  const { tenantId, key } = await createVault(impure, Uint8Array.from(masterKey))
  const keyring = await openKeyring(store, Uint8Array.from(masterKey))
  const elapsedMs = () => performance.now()
  const { keys } = keyring
  const log = () => {}
  const deps: Deps = {
    ...impure,
    keys,
    audit: makeAuditLog({ ...impure, keys, log }),
    settled: impure.now,
    elapsedMs,
    turns: makeScheduler(elapsedMs),
    log,
    settings: defaultSettings,
  }
  const { handle } = buildApp(deps)
  const ask: Ask = async (by, method, path, body) => {
    clock.nowMs += 1
    const headers = { 'svc-api-key': by, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await handle(new Request(`http://vault${path}`, { method, headers, ...sent }))
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Answered)
  }
  return { deps, store, keyring, tenantId, managementKey: key.reveal(), ask }
}

const permissions = ['token:create', 'token:read', 'token:search']

async function makeApplications({ ask, managementKey }: Vault) {
  const add = async (name: string, grants: object) =>
    String((await ask(managementKey, 'POST', '/applications', { name, ...grants }))['key'])
  const under = (transform: string) => ({
    type: 'private',
    rules: [{ priority: 1, container: '/', transform, permissions }],
  })
  return {
    management: managementKey,
    revealing: await add('revealing', under('reveal')),
    masking: await add('masking', under('mask')),
    page: await add('page', { type: 'public', permissions: ['token:create'] }),
  }
}

/** Returns the token as it must read from now on, without its code, which expires. */
async function expectedOf({ ask }: Vault, keys: Readonly<Record<string, string>>, id: string) {
  const read = (key = '') => ask(key, 'GET', `/tokens/${id}`)
  const revealed = await read(keys['revealing'])
  const { cvc: _, ...data } = Object(revealed['data']) as Record<string, unknown>
  const shown = revealed['type'] === 'card' ? { ...revealed, data } : revealed
  const masked = await read(keys['masking'])
  return { id, revealed: shown, masked: masked['data'] ?? null }
}

async function fill(vault: Vault) {
  const { ask, deps, keyring, store } = vault
  const keys = await makeApplications(vault)
  const ids: string[] = []
  const create = async (body: object) =>
    ids.push(String((await ask(keys.revealing, 'POST', '/tokens', body))['id']))
  for (const body of bodies) await create(body)
  const { nonce } = await ask(keys.page, 'POST', '/sessions')
  const grants = { nonce, permissions: ['token:create'] }
  await ask(keys.revealing, 'POST', '/sessions/authorize', grants)
  while ((await store.figures()).waiting >= foldRows) await Bun.sleep(10)
  await rotate({ ...deps, keyring, store })
  for (const body of later) await create(body)
  const tokens = []
  for (const id of ids) tokens.push(await expectedOf(vault, keys, id))
  const found: Record<string, unknown> = {}
  for (const query of queries) {
    const { data } = await ask(keys.revealing, 'POST', '/tokens/search', { query, size: 100 })
    found[query] = (data as { id: string }[]).map(({ id }) => id)
  }
  return { keys, tokens, found }
}

const partsOf = ({ parts }: Row): readonly string[] => parts.map(hexOf)

async function rowOf({ store }: Vault, unique: Uint8Array): Promise<Row> {
  const row = await store.find(unique)
  if (row === undefined) throw new Error('a row of the vectors is missing')
  return row
}

/** Returns everything that a program needs to open a row by itself, and its contents. */
async function rowVector(vault: Vault) {
  const { deps, tenantId } = vault
  const id = 'v-email'
  const row = await rowOf(vault, tokenUnique(deps.keys, tenantId, id))
  const { ordinal, version, clear } = row
  return { id, tenantId, ordinal, version, clear: hexOf(clear), parts: partsOf(row) }
}

async function make(to: string, work: string): Promise<void> {
  const random = openRandom(seed)
  const masterKey = random.bytes(32)
  const vault = await openVault(join(work, 'live'), masterKey, random)
  const filled = await fill(vault)
  const row = await rowVector(vault)
  const keyring = {
    opened: hexOf(encodeKeyring(vault.keyring.current())),
    parts: partsOf(await rowOf(vault, keyringUnique)),
  }
  await vault.store.close()
  await copyStore(join(work, 'live'), join(work, 'copy'))
  const database = join(work, 'copy', 'data.mdb')
  const reopened = await openLmdbStore({ path: join(work, 'live') })
  const rows = checkRecords(vault.deps.keys, reopened.everyRow(), ({ kind }) => {
    throw new Error(kind)
  })
  await reopened.close()
  const facts = { coffer: '0.1.0', created_at: new Date(madeMs).toISOString() }
  const manifest = { format: formatVersion, ...facts, bytes: statSync(database).size, rows }
  rmSync(to, { recursive: true, force: true })
  mkdirSync(join(to, 'folder'), { recursive: true })
  stampFolder(join(to, 'folder'))
  writeFileSync(join(to, 'folder', 'master.key'), `${hexOf(masterKey)}\n`)
  writeFileSync(join(to, 'folder', 'data.mdb.gz'), gzipSync(readFileSync(database), { level: 9 }))
  writeBackup(join(to, 'vault.backup'), newBackupKey(masterKey, random.bytes), manifest, database)
  const lines = filled.tokens.map(
    ({ revealed }) => `${JSON.stringify({ mask: null, ...revealed, _extras: undefined })}\n`,
  )
  writeFileSync(join(to, 'export.jsonl'), lines.join(''))
  const expected = { ...filled, rows, keyring, row }
  writeFileSync(join(to, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
}

const to = resolve(import.meta.dirname, '../test/vectors', `format-${formatVersion}`)
const work = mkdtempSync(join(tmpdir(), 'coffer-vectors-'))
try {
  await make(to, work)
} finally {
  rmSync(work, { recursive: true, force: true })
}
