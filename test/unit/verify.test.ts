/**
 * The check of every record, on vaults in which each collection has rows.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { unsealEveryValue, sealRow, type Collection } from '../../src/records/seal-row.ts'
import { storedRow } from '../../src/store/core/row.ts'
import type { Row, RowHeader } from '../../src/store/contract.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { checkRecords, type RecordFinding, type RowCounts } from '../../src/vault/verify-rows.ts'
import { addApplication, openSessionKit } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
/** All rows, oldest first. */
let rows: Row[]

const permissions = ['token:create', 'token:read', 'token:update']
const reveals = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
const owner = { type: 'private', rules: reveals }

async function readRows(): Promise<Row[]> {
  const store = await openLmdbStore({ path: vault.folder })
  const all = [...store.everyRow()].map(row => structuredClone(row))
  await store.close()
  return all
}

function check(checked: Iterable<Row>): { findings: RecordFinding[]; counts: RowCounts } {
  const findings: RecordFinding[] = []
  const counts = checkRecords(vault.deps.keys, checked, finding => findings.push(finding))
  return { findings, counts }
}

const bodies: readonly Record<string, unknown>[] = [
  { type: 'token', data: 'plain' },
  {
    type: 'card',
    data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 },
  },
  {
    id: 'chosen-id',
    type: 'token',
    data: { name: 'A', other: 'a' },
    metadata: { Key: 'Value', key: 'VALUE', ['__proto__']: 'x', 'a.b': '' },
    containers: ['/a/b/c/'],
    search_indexes: ['{{ data.name }}', '{{ data.other }}', '{{ data.name }}'],
    expires_at: '2099-01-01T00:00:00+02:00',
  },
  { id: 'once', type: 'token', data: 'equal', deduplicate_token: true },
]

async function fill(tenant: TestVault): Promise<void> {
  const { key } = await addApplication(tenant, owner)
  for (const body of bodies) {
    expect((await tenant.ask('POST', '/tokens', { key, body })).status).toBe(201)
  }
  const changed = { metadata: { Key: null, more: 'x' }, expires_at: null }
  expect((await tenant.ask('PATCH', '/tokens/chosen-id', { key, body: changed })).status).toBe(200)
  const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } }
  expect((await tenant.ask('POST', '/tokens', { key, body: card })).status).toBe(201)
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'kept' }
  const body = { type: 'token', data: 1 }
  expect((await tenant.ask('POST', '/tokens', { key, body, headers })).status).toBe(201)
  const hook = { name: 'a', url: 'https://hooks.example/', events: ['token.created'] }
  const asked = { key: tenant.managementKey, body: hook }
  expect((await tenant.ask('POST', '/webhooks', asked)).status).toBe(201)
}

beforeEach(async () => {
  vault = await openTestVault()
  const kit = await openSessionKit(vault)
  await kit.create()
  await kit.open({ permissions })
  await fill(vault)
  await fill(await addTenant(vault))
  rows = await readRows()
})

describe('a vault as it was written', () => {
  test('has nothing wrong, and every row is counted as what it is', () => {
    expect(check(rows)).toEqual({
      findings: [],
      counts: {
        keyring: 1,
        tenant: 2,
        application: 6,
        session: 2,
        webhook: 2,
        token: 12,
        code_key: 2,
        idempotency: 2,
      },
    })
    expect(rows.length).toBe(1 + 2 + 6 + 2 + 2 + 12 + 2 + 2)
  })

  test('is read oldest first, and no row is kept', () => {
    const ordinals = rows.map(({ ordinal }) => ordinal)
    expect(ordinals).toEqual([...ordinals].sort((a, b) => a - b))
    const again = function* () {
      for (const row of rows) yield structuredClone(row)
    }
    expect(check(again()).findings).toEqual([])
  })
})

/** The first row of a collection: the one with which its count begins. */
function rowOf(wanted: Collection): Row {
  const at = rows.findIndex((_, last) => check(rows.slice(0, last + 1)).counts[wanted] === 1)
  const row = rows[at]
  if (row === undefined) throw new Error(`expected a row: ${wanted}`)
  return row
}

const replace = (row: Row): Row[] => rows.map(old => (old.ordinal === row.ordinal ? row : old))

const flipped = (part: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(part)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 0x80
  return copy
}

describe('a value that is not as it was sealed', () => {
  test.each<Collection>(['application', 'session', 'webhook', 'token', 'code_key', 'idempotency'])(
    'is damaged, and not counted: %s',
    wanted => {
      const row = rowOf(wanted)
      for (const part of row.parts.keys()) {
        const parts = row.parts.map((bytes, at) => (at === part ? flipped(bytes) : bytes))
        const { findings, counts } = check(replace({ ...row, parts }))
        expect(findings).toEqual([{ kind: 'value_damaged', ordinal: row.ordinal }])
        expect(counts[wanted]).toBe(check(rows).counts[wanted] - 1)
      }
    },
  )

  test('is damaged under another header', () => {
    const row = rowOf('token')
    const others: readonly Row[] = [
      { ...row, version: row.version + 1 },
      { ...row, terms: row.terms.slice(1) },
      { ...row, uniques: row.uniques.map(flipped) },
      { ...row, deadlineMs: 5 },
      { ...row, parts: row.parts.slice(0, 1) },
      { ...row, parts: [...row.parts, ...row.parts] },
      { ...row, parts: [] },
    ]
    for (const other of others) {
      const { findings } = check(replace(storedRow(row.ordinal, other)))
      expect(findings).toEqual([{ kind: 'value_damaged', ordinal: row.ordinal }])
    }
  })

  test('of a tenant leaves the rows of its tenant readable', () => {
    const row = rowOf('tenant')
    const { findings, counts } = check(replace({ ...row, parts: row.parts.map(flipped) }))
    expect(findings).toEqual([{ kind: 'value_damaged', ordinal: row.ordinal }])
    expect(counts.token).toBe(12)
  })
})

/** The same record, sealed under another header: what a fault of ours might write. */
function resealed(row: Row, collection: Collection, change: (header: RowHeader) => RowHeader): Row {
  const { keys, randomBytes } = vault.deps
  const isTenants = ['token', 'code_key', 'idempotency'].includes(collection)
  const scope = isTenants ? keys.tenant(vault.tenantId) : keys.installation
  const sealer = { scope, collection }
  const { uniques, terms, deadlineMs } = row
  const header = change({ uniques, terms, ...(deadlineMs === undefined ? {} : { deadlineMs }) })
  const values = unsealEveryValue(sealer, row)
  return storedRow(row.ordinal, sealRow(sealer, randomBytes, header, row.version, values))
}

const otherUnique = new Uint8Array(32).fill(1)
const otherTerm = new Uint8Array(16).fill(1)

const mistakes: readonly (readonly [Collection, string, (header: RowHeader) => RowHeader])[] = [
  ['token', 'another id', header => ({ ...header, uniques: [otherUnique] })],
  ['token', 'a unique more', header => ({ ...header, uniques: [...header.uniques, otherUnique] })],
  ['token', 'a term less', header => ({ ...header, terms: header.terms.slice(0, -1) })],
  ['token', 'a term more', header => ({ ...header, terms: [...header.terms, otherTerm] })],
  ['token', 'no term at all', header => ({ ...header, terms: [] })],
  ['token', 'a deadline', header => ({ ...header, deadlineMs: 5 })],
  [
    'application',
    'another id',
    ({ uniques, ...rest }) => ({
      ...rest,
      uniques: [otherUnique, ...uniques.slice(1)],
    }),
  ],
  ['application', 'no key', ({ uniques, ...rest }) => ({ ...rest, uniques: uniques.slice(0, 1) })],
  [
    'application',
    'another term',
    ({ terms, ...rest }) => ({
      ...rest,
      terms: [...terms.slice(1), otherTerm],
    }),
  ],
  ['code_key', 'a term', header => ({ ...header, terms: [otherTerm] })],
  ['code_key', 'no deadline', ({ uniques, terms }) => ({ uniques, terms })],
  ['application', 'a deadline', header => ({ ...header, deadlineMs: 5 })],
  ['session', 'another deadline', header => ({ ...header, deadlineMs: 5 })],
  ['session', 'no nonce', ({ uniques, ...rest }) => ({ ...rest, uniques: uniques.slice(0, 1) })],
  [
    'webhook',
    'another place',
    ({ uniques, ...rest }) => ({ ...rest, uniques: [...uniques.slice(0, 1), otherUnique] }),
  ],
  ['webhook', 'no id', ({ uniques, ...rest }) => ({ ...rest, uniques: uniques.slice(1) })],
  ['webhook', 'a term less', header => ({ ...header, terms: header.terms.slice(1) })],
  ['webhook', 'a deadline', header => ({ ...header, deadlineMs: 5 })],
  ['tenant', 'another id', header => ({ ...header, uniques: [otherUnique] })],
  ['tenant', 'a deadline', header => ({ ...header, deadlineMs: 5 })],
  ['idempotency', 'no deadline', ({ uniques, terms }) => ({ uniques, terms })],
  ['idempotency', 'a term', header => ({ ...header, terms: [otherTerm] })],
]

describe('a record that is not found by what it says', () => {
  test.each(mistakes)('is told, and counted: %s with %s', (collection, _, change) => {
    const row = rowOf(collection)
    expect(check(replace(resealed(row, collection, header => header))).findings).toEqual([])
    const { findings, counts } = check(replace(resealed(row, collection, change)))
    expect(findings).toEqual([{ kind: 'record_mismatched', ordinal: row.ordinal }])
    expect(counts).toEqual(check(rows).counts)
  })
})
