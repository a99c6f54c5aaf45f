import { beforeAll, describe, expect, test } from 'bun:test'
import { unchanged } from '../../../../src/records/read-row.ts'
import type { Caller } from '../../../../src/rules/caller.ts'
import type { Permission } from '../../../../src/rules/permissions.ts'
import { dedupSeatsMax, walkedRowsMax } from '../../../../src/limits/limits.ts'
import { standingHolderAttemptsMax } from '../../../../src/limits/work-limits.ts'
import {
  decideSeat,
  dedupSeats,
  findEqual,
  findEqualOf,
} from '../../../../src/tokens/write/dedup.ts'
import { readTokenPage } from '../../../../src/tokens/find/pages.ts'
import { visibleTokensOf } from '../../../../src/tokens/find/visibility.ts'
import { unsealToken, type StoredToken } from '../../../../src/tokens/token-record.ts'
import { tokenUnique } from '../../../../src/tokens/token-id.ts'
import { openTestVault, type TestVault } from '../../../support/vault.ts'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(111)
  const permissions = ['token:create', 'token:update', 'token:delete']
  key = await vault.application({ type: 'private', permissions })
})

async function create(id: string, body: object): Promise<StoredToken> {
  const answer = await vault.ask('POST', '/tokens', { key, body: { id, type: 'token', ...body } })
  expect(answer.status).toBe(201)
  return stored(id)
}

async function stored(id: string): Promise<StoredToken> {
  const { store, keys } = vault.deps
  const row = await store.find(tokenUnique(keys, vault.tenantId, id))
  if (row === undefined) throw new Error('no such token')
  return unsealToken(keys, vault.tenantId, row)
}

const callerWith = (permissions: readonly Permission[]): Caller => ({
  tenantId: vault.tenantId,
  applicationId: 'nobody that made a token',
  type: 'private',
  grants: { permissions, rules: [] },
  expiresAtMs: undefined,
  credential: { ordinal: 0, version: 1, uniques: [] },
  dependsOn: [],
  keyNumber: 0,
})
const reader = () => callerWith(['token:create', 'token:read'])
const stranger = () => callerWith(['token:create'])

async function hold({ record }: StoredToken, ordinal: number, caller = reader(), attempt = 1) {
  const reach = visibleTokensOf(vault.deps, caller)
  const { uniques, changes, hasEqual } = await decideSeat(vault.deps, caller, reach, record, {
    ordinal,
    attempt,
  })
  expect(hasEqual).toBe(uniques.length === 0 && changes.length > 0)
  return { uniques, changes }
}
const seatsOf = ({ record }: StoredToken) => [
  ...dedupSeats(vault.deps.keys, vault.tenantId, record),
]
const uniqueOf = (token: StoredToken) => seatsOf(token)[0] ?? new Uint8Array()

describe('a slot of equal tokens', () => {
  test('is held by a token that was created with deduplication, and by no other', async () => {
    const held = await create('held', { data: 'held', deduplicate_token: true })
    expect(held.row.uniques).toHaveLength(2)
    expect(held.row.uniques[1]).toEqual(Buffer.from(uniqueOf(held)))
    const loose = await create('loose', { data: 'loose' })
    expect(loose.row.uniques).toHaveLength(1)
    expect(await hold(loose, loose.row.ordinal)).toEqual({ uniques: [], changes: [] })
  })

  test('is kept by its holder, and taken where nobody holds it', async () => {
    const held = await create('kept', { data: 'kept', deduplicate_token: true })
    const unique = uniqueOf(held)
    expect(await hold(held, held.row.ordinal)).toEqual({ uniques: [unique], changes: [] })
    await vault.ask('DELETE', '/tokens/kept', { key })
    expect(await hold(held, held.row.ordinal + 1)).toEqual({ uniques: [unique], changes: [] })
  })

  test('is left to another live holder, which then has to stand when the write lands', async () => {
    const held = await create('left', { data: 'left', deduplicate_token: true })
    const { ordinal } = held.row
    const changes = [unchanged(held.row)]
    expect(await hold(held, ordinal + 1)).toEqual({ uniques: [], changes })
  })

  test('is the next one beside a holder out of reach, which has to stand at first', async () => {
    const held = await create('apart', { data: 'apart', deduplicate_token: true })
    const { ordinal } = held.row
    const changes = [unchanged(held.row)]
    const uniques = seatsOf(held).slice(1, 2)
    const last = standingHolderAttemptsMax
    for (const attempt of [1, last]) {
      const seat = await hold(held, ordinal + 1, stranger(), attempt)
      expect(seat).toEqual({ uniques, changes })
    }
    const later = await hold(held, ordinal + 1, stranger(), last + 1)
    expect(later).toEqual({ uniques, changes: [] })
    const seen = await hold(held, ordinal + 1, reader(), last + 1)
    expect(seen).toEqual({ uniques: [], changes })
  })

  test('is one of few, each of its own, the last of the creator', async () => {
    const held = await create('few', { data: 'few', deduplicate_token: true })
    const texts = seatsOf(held).map(slot => Buffer.from(slot).toString('hex'))
    expect(new Set(texts).size).toBe(dedupSeatsMax)
    const record = { ...held.record, createdBy: 'another' }
    const others = seatsOf({ ...held, record }).map(slot => Buffer.from(slot).toString('hex'))
    expect(others.slice(0, -1)).toEqual(texts.slice(0, -1))
    expect(others.at(-1)).not.toBe(texts.at(-1))
  })

  test('is taken from an expired holder, which leaves first', async () => {
    const expires = new Date(vault.clock.now() + 60_000).toISOString()
    const body = { data: 'brief', deduplicate_token: true, expires_at: expires }
    const held = await create('brief', body)
    await create('brief too', { data: 'other', deduplicate_token: true })
    vault.clock.advance(60_000)
    const { ordinal } = held.row
    expect(await hold(held, ordinal + 1)).toEqual({ uniques: [uniqueOf(held)], changes: [] })
    const answer = await vault.ask('PATCH', '/tokens/brief%20too', { key, body: { data: 'brief' } })
    expect([answer.status, answer.body['_extras']]).toEqual([200, { deduplicated: false }])
    expect((await stored('brief too')).row.uniques[1]).toEqual(Buffer.from(uniqueOf(held)))
    expect(await vault.deps.store.find(tokenUnique(vault.deps.keys, vault.tenantId, 'brief'))).toBe(
      undefined,
    )
  })
})

test('an equal token is looked for among the others, the oldest first', async () => {
  const first = await create('first', { data: 'equal' })
  const within = visibleTokensOf(vault.deps, reader()).tokens
  const find = () => findEqual(vault.deps, reader(), within, first.record)
  const findOther = () => findEqualOf(vault.deps, reader(), within, first.record)
  expect((await find())?.record.id).toBe('first')
  expect(await findOther()).toBeUndefined()
  await create('second', { data: 'equal' })
  await create('third', { data: 'equal' })
  expect((await find())?.record.id).toBe('first')
  expect((await findOther())?.record.id).toBe('second')
  const beyond = visibleTokensOf(vault.deps, stranger()).tokens
  expect(await findEqual(vault.deps, stranger(), beyond, first.record)).toBeUndefined()
})

test('a look that would test too many tokens is refused by what asks for it', async () => {
  const { record } = await create('one', { data: 'many' })
  const permissions = ['token:create', 'token:read'] as const
  const conditions = [{ attribute: 'container', operator: 'starts_with', value: '/rea' }] as const
  const rules = [{ priority: 1, conditions, transform: 'mask', permissions }] as const
  const caller = { ...callerWith([]), grants: { permissions: [], rules } }
  const within = visibleTokensOf(vault.deps, caller).tokens
  const find = (count: number) =>
    findEqual(vault.deps, { ...caller, rowsTested: { count } }, within, record)
  const list = (count: number) => {
    const window = { offset: 0, limit: 1, nowMs: vault.deps.now() }
    return readTokenPage(vault.deps, { ...caller, rowsTested: { count } }, within, window)
  }
  expect(await find(walkedRowsMax - 1)).toBeUndefined()
  expect(await list(walkedRowsMax - 1)).toEqual({ total: 0, tokens: [] })
  await expect(find(walkedRowsMax)).rejects.toMatchObject({
    kind: 'invalid_request',
    fields: { deduplicate_token: [expect.stringContaining(`${walkedRowsMax} rows`)] },
  })
  await expect(list(walkedRowsMax)).rejects.toMatchObject({
    fields: { query: [expect.stringContaining(`${walkedRowsMax} rows`)] },
  })
})
