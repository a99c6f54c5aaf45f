/**
 * A store that gives back other bytes than it was given: rows that were damaged, moved or rolled
 * back are answered 500 without data, the log repeats nothing, and everything else goes on.
 * Hardening T10, T11, C21.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { storedRow } from '../../src/store/core/row.ts'
import type { Row, Store } from '../../src/store/contract.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const cardNumber = '4242424242424242'
const [headPart, recordPart, dataPart] = [0, 1, 2] as const
const permissions = ['token:create', 'token:read', 'token:update', 'token:search', 'token:use']

let vault: TestVault
let key: string
/** Rows as they were read honestly, by a name; `old` is the first version of `victim`. */
const rows: Record<string, Row> = {}

const tokenOf = (id: string) => ({
  id,
  type: 'card',
  data: { number: cardNumber, name: canary },
  metadata: { who: canary },
  containers: ['/pci/'],
  mask: { name: canary },
})

/** The application over a store that shows a row otherwise. */
function through(tamper: (row: Row) => Row) {
  const { store } = vault.deps
  const lying: Store = {
    ...store,
    async find(unique) {
      const row = await store.find(unique)
      return row === undefined ? undefined : tamper(row)
    },
    glance: unique => lying.find(unique),
    async page(query, window) {
      const page = await store.page(query, window)
      return { ...page, rows: page.rows.map(tamper) }
    },
  }
  const app = buildApp({ ...vault.deps, store: lying })
  return async (method: string, path: string, body?: unknown) => {
    const asked = body === undefined ? {} : { body }
    const response = await app.handle(requestOf(method, path, { key, ...asked }))
    return { status: response.status, text: await response.text() }
  }
}

/** The row of a token, as an honest store gives it. */
async function rowOf(id: string): Promise<Row> {
  let found: Row | undefined
  const ask = through(row => (found = row))
  expect((await ask('GET', `/tokens/${id}`)).status).toBe(200)
  if (found === undefined) throw new Error(`no row of ${id}`)
  return found
}

beforeAll(async () => {
  vault = await openTestVault(171)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  key = await vault.application({ type: 'private', rules })
  for (const id of ['victim', 'other']) {
    const made = await vault.ask('POST', '/tokens', { key, body: tokenOf(id) })
    expect(made.status).toBe(201)
  }
  rows['old'] = await rowOf('victim')
  const patched = await vault.ask('PATCH', '/tokens/victim', {
    key,
    body: { data: { name: 'new' } },
  })
  expect(patched.status).toBe(200)
  rows['victim'] = await rowOf('victim')
  rows['other'] = await rowOf('other')
})

const honest = (name: string): Row => {
  const row = rows[name]
  if (row === undefined) throw new Error(`no row ${name}`)
  return row
}

const partOf = (name: string, part: number): Uint8Array => {
  const bytes = honest(name).parts[part]
  if (bytes === undefined) throw new Error(`no part ${part}`)
  return bytes
}

const withPart = (row: Row, part: number, bytes: Uint8Array): Row => ({
  ...row,
  parts: row.parts.map((own, index) => (index === part ? bytes : own)),
})

/** Changes the header of a row, and its bytes with it, as on a disk. */
const withHeader = (row: Row, change: Partial<Row>): Row =>
  storedRow(row.ordinal, { ...row, ...change })

const flipped = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = Uint8Array.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

/** Only the victim is shown otherwise. */
const instead = (change: (row: Row) => Row) => (row: Row) =>
  row.ordinal === honest('victim').ordinal ? change(row) : row

type Ask = ReturnType<typeof through>

async function expectRefused(ask: Ask, method: string, path: string, body?: unknown) {
  const { status, text } = await ask(method, path, body)
  expect([method, path, status]).toEqual([method, path, 500])
  expect(text).toContain('Internal Server Error')
  expect(text + vault.logged.join('\n')).not.toContain(canary)
  expect(text + vault.logged.join('\n')).not.toContain(cardNumber)
  expect(vault.logged.join('\n')).toContain('storage_corrupt')
}

const tampered: readonly (readonly [string, (row: Row) => Row])[] = [
  ['the data of another token', row => withPart(row, dataPart, partOf('other', dataPart))],
  ['the record of another token', row => withPart(row, recordPart, partOf('other', recordPart))],
  ['the head of another token', row => withPart(row, headPart, partOf('other', headPart))],
  ['all parts of another token', row => ({ ...row, parts: honest('other').parts })],
  [
    'record and data in each other’s place',
    row => ({
      ...row,
      parts: [headPart, dataPart, recordPart].map(part => partOf('victim', part)),
    }),
  ],
  ['its own older data', row => withPart(row, dataPart, partOf('old', dataPart))],
  ['its own older record and data', row => ({ ...row, parts: honest('old').parts })],
  ['an older version number', row => withHeader(row, { version: honest('old').version })],
  ['no data at all', row => withPart(row, dataPart, new Uint8Array())],
  [
    'data cut by a byte',
    row => withPart(row, dataPart, partOf('victim', dataPart).subarray(0, -1)),
  ],
  ['a term less', row => withHeader(row, { terms: row.terms.slice(1) })],
  ['a deadline that was put off', row => withHeader(row, { deadlineMs: 4_102_444_800_000 })],
]

describe('a row that comes back with', () => {
  // proves S10
  test.each(tampered)(
    '%s is refused on every way to it, and no other row is',
    async (_, change) => {
      const ask = through(instead(change))
      await expectRefused(ask, 'GET', '/tokens/victim')
      await expectRefused(ask, 'GET', '/tokens?id=victim')
      await expectRefused(ask, 'POST', '/tokens/search', { query: 'id:victim' })
      await expectRefused(ask, 'PATCH', '/tokens/victim', { data: { name: 'newer' } })
      await expectRefused(ask, 'POST', '/detokenize', { a: '{{ victim }}' })
      const good = await ask('GET', '/tokens/other')
      expect([good.status, good.text.includes(cardNumber)]).toEqual([200, true])
    },
  )

  test('any byte of it turned over is refused', async () => {
    for (const part of [headPart, recordPart, dataPart]) {
      const bytes = partOf('victim', part)
      for (let at = 0; at < bytes.length; at += 1) {
        const ask = through(instead(row => withPart(row, part, flipped(bytes, at))))
        const { status, text } = await ask('GET', '/tokens/victim')
        expect([part, at, status, text.includes(canary)]).toEqual([part, at, 500, false])
      }
    }
  })

  test('its own bytes is answered', async () => {
    const { status, text } = await through(row => ({ ...row }))('GET', '/tokens/victim')
    expect([status, text.includes(cardNumber)]).toEqual([200, true])
  })
})
