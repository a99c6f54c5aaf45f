/**
 * Erasing from a vault of several tenants what a list names.
 */
import { expect, test } from 'bun:test'
import { eraseListed } from '../../src/vault/operator/erasure.ts'
import { erasureBatchLines } from '../../src/limits/operation-limits.ts'
import type { Erasure } from '../../src/rules/erasures.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read']
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]

const addReader = (vault: TestVault): Promise<string> =>
  vault.application({ type: 'private', rules })

async function make(vault: TestVault, key: string, id: string): Promise<number> {
  const body = { id, type: 'token', data: 1 }
  const { status, body: made } = await vault.ask('POST', '/tokens', { key, body })
  expect(status).toBe(201)
  return Date.parse(String(made['created_at']))
}

const isThere = async (vault: TestVault, key: string, id: string): Promise<boolean> =>
  (await vault.ask('GET', `/tokens/${id}`, { key })).status === 200

async function* listOf(erasures: readonly Erasure[]): AsyncGenerator<Erasure> {
  yield* erasures
}

const nobody = () => {}

test('a line is of one tenant, and of none that is not there', async () => {
  const first = await openTestVault()
  const second = await addTenant(first)
  const keys = [await addReader(first), await addReader(second)]
  const [one = '', other = ''] = keys
  const createdAtMs = await make(first, one, 'shared-id')
  await make(second, other, 'shared-id')
  const erasedAtMs = first.deps.now()
  const lines = ['7b3e7a44-0000-4000-8000-000000000000', '', first.tenantId].map(tenantId => ({
    tenantId,
    id: 'shared-id',
    createdAtMs,
    erasedAtMs,
  }))
  const erased = await eraseListed(first.deps, listOf(lines), nobody)
  expect(erased).toEqual({ tokens: 1, notThere: 2 })
  expect(await isThere(first, one, 'shared-id')).toBe(false)
  expect(await isThere(second, other, 'shared-id')).toBe(true)
})

// proves E8.4, S16
test('a token that was made in another instant than the line says is another one', async () => {
  const vault = await openTestVault()
  const key = await addReader(vault)
  const createdAtMs = await make(vault, key, 'made-anew')
  const { tenantId } = vault
  const line = { tenantId, id: 'made-anew', erasedAtMs: createdAtMs + 1_000 }
  const others = [
    { ...line, createdAtMs: createdAtMs - 1 },
    { ...line, createdAtMs: createdAtMs + 1 },
    { ...line, erasedAtMs: createdAtMs - 1 },
  ]
  expect(await eraseListed(vault.deps, listOf(others), nobody)).toEqual({ tokens: 0, notThere: 3 })
  expect(await isThere(vault, key, 'made-anew')).toBe(true)
  const own = [{ ...line, createdAtMs }]
  expect(await eraseListed(vault.deps, listOf(own), nobody)).toEqual({ tokens: 1, notThere: 0 })
  expect(await isThere(vault, key, 'made-anew')).toBe(false)
  // The clock has stood still meanwhile.
  expect(await make(vault, key, 'made-anew')).toBe(createdAtMs)
  const [row] = (await vault.deps.store.rowsFrom(0, 1_000)).slice(-1)
  const before = [{ ...line, createdAtMs, row: Number(row?.ordinal) - 1 }]
  expect(await eraseListed(vault.deps, listOf(before), nobody)).toEqual({ tokens: 0, notThere: 1 })
  const byHand = [{ ...line, erasedAtMs: vault.deps.now() }]
  expect(await eraseListed(vault.deps, listOf(byHand), nobody)).toEqual({ tokens: 1, notThere: 0 })
})

test('a list of more lines than are written at once, each twice, is done once', async () => {
  const vault = await openTestVault()
  const key = await addReader(vault)
  const made: Erasure[] = []
  for (const at of Array(12).keys()) {
    const id = `one-of-many-${at}`
    const createdAtMs = await make(vault, key, id)
    made.push({ tenantId: vault.tenantId, id, createdAtMs, erasedAtMs: createdAtMs })
  }
  const none = { tenantId: vault.tenantId, erasedAtMs: vault.deps.now() }
  const others = Array.from({ length: erasureBatchLines }, (_, at) => ({ ...none, id: `no-${at}` }))
  const [kept, ...listed] = made
  const list = [...listed, ...others, ...listed]
  const told: number[] = []
  const erased = await eraseListed(vault.deps, listOf(list), lines => told.push(lines))
  expect(erased).toEqual({ tokens: 11, notThere: list.length - 11 })
  expect(told).toEqual([erasureBatchLines, list.length])
  expect(await isThere(vault, key, kept?.id ?? '')).toBe(true)
  for (const { id } of listed) expect(await isThere(vault, key, id)).toBe(false)
})

test('a card goes with its code', async () => {
  const vault = await openTestVault()
  const key = await addReader(vault)
  const rows = async (): Promise<number> => (await vault.deps.store.rowsFrom(0, 1_000)).length
  const before = await rows()
  const data = { number: '4242424242424242', cvc: '123' }
  await vault.ask('POST', '/tokens', { key, body: { id: 'card', type: 'card', data } })
  expect(await rows()).toBe(before + 2)
  const line = { tenantId: vault.tenantId, id: 'card', erasedAtMs: vault.deps.now() }
  expect(await eraseListed(vault.deps, listOf([line]), nobody)).toEqual({ tokens: 1, notThere: 0 })
  // The code's own key is left, under which nothing is sealed.
  expect(await rows()).toBe(before + 1)
})
