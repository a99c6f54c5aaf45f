/**
 * Questions of many parts, each of which is looked up in all of the store, take turns.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { TurnOwner } from '../../src/lib/turn-queue.ts'
import { bulkTurnMsMax } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:search']

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(761)
  key = await vault.application({ type: 'private', permissions })
  const body = { id: 'only', type: 'token', data: 'x' }
  expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
})

/** Asks, and counts the turns that the question takes. */
async function ask(method: string, path: string, body?: object, as = key) {
  let taken = 0
  const next = async (): Promise<void> => void (taken += 1)
  const turns = { ...vault.deps.turns, next }
  const app = buildApp({ ...vault.deps, turns })
  const answer = await app.handle(requestOf(method, path, { key: as, ...(body && { body }) }))
  expect(answer.status).toBe(200)
  const { data } = (await answer.json()) as { data: readonly { readonly id: string }[] }
  return { ids: data.map(({ id }) => id), taken }
}

const clauses = (count: number): string =>
  ['id:only', ...Array.from({ length: count }, (_, at) => `metadata.a:${at}`)].join(' OR ')

describe.each(['/tokens/search', '/v2/tokens/search'])('POST %s takes', path => {
  // proves E10.29
  test('one turn to make the terms of a range, and one to look many up', async () => {
    const few = 'type:token AND created_at:[* TO *]'
    const many = 'type:token OR created_at:[2031-01-02 TO 2031-06-01]'
    expect(await ask('POST', path, { query: few })).toEqual({ ids: ['only'], taken: 2 })
    expect(await ask('POST', path, { query: many })).toEqual({ ids: ['only'], taken: 2 })
  })

  // proves E10.29
  test('one for many clauses', async () => {
    expect(await ask('POST', path, { query: clauses(60) })).toEqual({ ids: ['only'], taken: 1 })
  })

  test('none for few, or for all tokens', async () => {
    for (const query of [clauses(5), '*'])
      expect(await ask('POST', path, { query })).toEqual({ ids: ['only'], taken: 0 })
  })
})

// proves E10.29
test('a list takes one for many filters, or under many rules', async () => {
  const ids = ['id=only', ...Array.from({ length: 60 }, (_, at) => `id=absent-${at}`)].join('&')
  const rules = Array.from({ length: 60 }, (_, at) => ({
    description: '',
    priority: at + 1,
    container: at === 0 ? '/general/' : `/c${at}/`,
    transform: 'mask',
    permissions: ['token:read'],
  }))
  const narrow = await vault.application({ type: 'private', permissions: [], rules })
  for (const path of ['/tokens', '/v2/tokens']) {
    expect(await ask('GET', path)).toEqual({ ids: ['only'], taken: 0 })
    expect(await ask('GET', `${path}?${ids}`)).toEqual({ ids: ['only'], taken: 1 })
    expect(await ask('GET', path, undefined, narrow)).toEqual({ ids: ['only'], taken: 1 })
  }
})

// proves E10.29
test('a search that tests tokens goes on in the turns of its tenant', async () => {
  const owners: TurnOwner[] = []
  const soon = (owner: TurnOwner) => void owners.push(owner)
  let nowMs = 0
  const elapsedMs = () => (nowMs += bulkTurnMsMax)
  const app = buildApp({ ...vault.deps, elapsedMs, turns: { ...vault.deps.turns, soon } })
  const find = async (query: string): Promise<number> => {
    owners.length = 0
    const answer = await app.handle(requestOf('POST', '/tokens/search', { key, body: { query } }))
    expect(answer.status).toBe(200)
    return owners.length
  }
  const begun = await find('id:only')
  const inAMoment = new Date(vault.clock.now() + 1_000).toISOString()
  expect(await find(`id:only AND created_at:[* TO ${inAMoment}]`)).toBe(begun + 1)
  expect(owners).toEqual(owners.map(() => expect.objectContaining({ tenantId: vault.tenantId })))
})
