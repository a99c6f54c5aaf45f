/**
 * Cost of a list, and the data that it opens: the store is watched, and data that must stay closed
 * does not open.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { uuidOf } from '../../../src/lib/bytes.ts'
import type { Deps } from '../../../src/deps.ts'
import type { Condition, Grants, Rule } from '../../../src/rules/access.ts'
import { ruleConditionsMax, rulesMax } from '../../../src/limits/limits.ts'
import type { Row, Store } from '../../../src/store/contract.ts'
import { listTokens, type FoundTokens, type ListPart } from '../../../src/tokens/find/listing.ts'
import { sealToken, type TokenRecord } from '../../../src/tokens/token-record.ts'
import { searchTokens } from '../../../src/tokens/find/search.ts'
import { callerOf } from '../../support/token-world.ts'
import { openTestVault } from '../../support/vault.ts'

const noonMs = Date.UTC(2030, 0, 1, 12)

let deps: Deps
let tenantId: string

const recordOf = (id: string, containers: string[], createdAtMs: number): TokenRecord => ({
  id,
  ...(id.length === 36 ? { idIsRandom: true } : {}),
  type: 'token',
  containers,
  fingerprint: 'f',
  fingerprintExpression: '{{ data }}',
  searchIndexes: [],
  maskText: '"{{ data }}"',
  createdBy: tenantId,
  createdAtMs,
})

const randomId = (index: number): string => {
  const bytes = new Uint8Array(16)
  bytes[0] = index
  return uuidOf(bytes)
}

/** 250 random ids below each other in /a/, and between them 25 `user-` ids in /a/b/. */
beforeAll(async () => {
  ;({ deps } = await openTestVault(39))
  tenantId = uuidOf(deps.randomBytes(16))
  const records = Array.from({ length: 250 }, (_, index) => [
    recordOf(randomId(index), ['/a/'], noonMs + index),
    ...(index % 10 === 0 ? [recordOf(`user-${index}`, ['/a/b/'], noonMs)] : []),
  ]).flat()
  const contents = { dataText: '1', metadata: new Map(), searchValues: [], isShownMasked: true }
  const inserts = records.map(record => ({
    insert: sealToken(deps, tenantId, record, contents, 1),
  }))
  expect((await deps.store.write(inserts)).ok).toBe(true)
})

interface Watch {
  readonly deps: Deps
  readonly asked: number[]
  readonly read: Set<number>
}

const withoutData = (row: Row): Row => ({
  ...row,
  parts: [...row.parts.slice(0, 2), Buffer.of(0)],
})

/** Counts looks at the store and the rows they gave; their data is spoilt where that is wanted. */
function watch(spoilsData: boolean): Watch {
  const asked: number[] = []
  const read = new Set<number>()
  const page: Store['page'] = async (query, window) => {
    const found = await deps.store.page(query, window)
    asked.push(found.rows.length)
    for (const { ordinal } of found.rows) read.add(ordinal)
    return spoilsData ? { ...found, rows: found.rows.map(withoutData) } : found
  }
  return { deps: { ...deps, store: { ...deps.store, page } }, asked, read }
}

const condition = (
  attribute: Condition['attribute'],
  operator: Condition['operator'],
  value: string,
): Condition => ({ attribute, operator, value })

const ruled = (...scopes: readonly Pick<Rule, 'container' | 'conditions'>[]): Grants => ({
  permissions: [],
  rules: scopes.map((scope, index) => ({
    ...scope,
    priority: index + 1,
    transform: 'mask',
    permissions: ['token:read', 'token:search'],
  })),
})

const plain: Grants = { permissions: ['token:read', 'token:search'], rules: [] }
const noFilter = { ids: [], types: [], containers: [], fingerprints: [], metadata: new Map() }
const firstPage: ListPart = { page: 1, size: 5 }
const firstStretch: ListPart = { start: '', at: 'start', size: 5 }

const list = (watched: Watch, grants: Grants, part: ListPart = firstPage) =>
  listTokens(watched.deps, callerOf(tenantId, grants), noFilter, part)
const totalOf = (listed: FoundTokens) => ('total' in listed ? listed.total : undefined)

const exact: readonly (readonly [string, Grants, number])[] = [
  ['plain permissions', plain, 275],
  ['a rule on a container', ruled({ container: '/a/b/' }), 25],
  ['a rule on all', ruled({ container: '/' }), 275],
  ['an id', ruled({ conditions: [condition('id', 'equals', 'user-0')] }), 1],
  ['an exact container', ruled({ conditions: [condition('container', 'equals', '/a/')] }), 250],
  ['a whole segment', ruled({ conditions: [condition('container', 'starts_with', '/a/b/')] }), 25],
  ['four characters of an id', ruled({ conditions: [condition('id', 'starts_with', 'user')] }), 25],
  [
    'two rules that differ',
    ruled({ container: '/a/b/' }, { conditions: [condition('id', 'equals', randomId(7))] }),
    26,
  ],
]

describe('a list that terms answer exactly', () => {
  test.each(exact)(
    '%s: takes one look, and reads no row beyond its page',
    async (_, grants, total) => {
      const watched = watch(false)
      const listed = await list(watched, grants)
      expect(totalOf(listed)).toBe(total)
      expect(watched.asked).toEqual([Math.min(total, 5)])
      const walked = watch(false)
      expect((await list(walked, grants, firstStretch)).items).toEqual(listed.items)
      expect(walked.asked).toEqual([Math.min(total, 6)])
    },
  )
})

const tested: readonly (readonly [string, Condition, number, number])[] = [
  ['five characters of a chosen id', condition('id', 'starts_with', 'user-'), 25, 25],
  ['more characters of a chosen id', condition('id', 'starts_with', 'user-24'), 1, 25],
  ['characters that a random id can have', condition('id', 'starts_with', '0'), 16, 275],
  ['a whole random id', condition('id', 'starts_with', randomId(7)), 1, 1],
  ['a part of a segment', condition('container', 'starts_with', '/a/b'), 25, 275],
  ['a part of another segment', condition('container', 'starts_with', '/a/b/c'), 0, 25],
]

describe('a list that needs a look at tokens', () => {
  test.each(tested)('%s: opens only what may match', async (_, only, total, opened) => {
    const grants = ruled({ conditions: [only] })
    const watched = watch(false)
    expect(totalOf(await list(watched, grants))).toBe(total)
    expect(watched.read.size).toBe(opened)
    for (const rows of watched.asked) expect(rows).toBeLessThanOrEqual(100)
  })

  test('opens nothing that no rule can cover', async () => {
    const scope = [
      condition('id', 'starts_with', '0000'),
      condition('container', 'equals', '/a/b/'),
    ]
    const watched = watch(false)
    expect(totalOf(await list(watched, ruled({ conditions: scope })))).toBe(0)
    expect(watched.read.size).toBe(0)
  })

  test('opens no data to decide, and none of what is not shown', async () => {
    const grants = ruled({ conditions: [condition('id', 'starts_with', '0')] })
    const redacting = {
      ...grants,
      rules: grants.rules.map(rule => ({ ...rule, transform: 'redact' as const })),
    }
    expect(totalOf(await list(watch(true), redacting))).toBe(16)
    const masked = await list(watch(true), grants).catch((error: unknown) => error)
    expect(masked).toMatchObject({ kind: 'storage_corrupt' })
  })
})

test('the widest rules and the widest search stay within the bounds of a query', async () => {
  const scope = Array.from({ length: ruleConditionsMax }, (_, index) =>
    condition('id', 'starts_with', `0${index}`),
  )
  const { rules } = ruled(...Array(rulesMax).fill({ conditions: scope }))
  const grants: Grants = {
    permissions: ['token:search'],
    rules: rules.map((rule, index) => ({
      ...rule,
      transform: index % 2 === 0 ? 'redact' : 'mask',
    })),
  }
  const years = Array.from({ length: 4 }, (_, index) => `created_at:[20${21 + index}-06-06 TO *]`)
  const nested = `${'NOT ('.repeat(8)}data:x OR id:a AND id:b${')'.repeat(8)}`
  const query = `${years.join(' OR ')} OR ${nested}`
  const caller = callerOf(tenantId, grants)
  expect(totalOf(await searchTokens(deps, caller, { query }, firstPage))).toBe(275)
})

describe('a token that changes while others are tested', () => {
  const onlyAb = ruled({ conditions: [condition('container', 'starts_with', '/x/y')] })

  /** Three in /x/y/; the oldest moves and the newest leaves before the last look. */
  async function listWhileChanging(part: ListPart): Promise<FoundTokens> {
    const contents = { dataText: '1', metadata: new Map(), searchValues: [], isShownMasked: true }
    const tenant = uuidOf(deps.randomBytes(16))
    const sealed = (id: string, container: string, version: number) =>
      sealToken(deps, tenant, recordOf(id, [container], noonMs), contents, version)
    const outcome = await deps.store.write(
      ['one', 'two', 'six'].map(id => ({ insert: sealed(id, '/x/y/', 1) })),
    )
    const [first = 0, , last = 0] = outcome.ok ? outcome.ordinals : []
    const page: Store['page'] = async (query, window) => {
      if (window.uncounted === undefined) {
        const moved = { replace: sealed('one', '/x/z/', 2), ordinal: first, ifVersion: 1 }
        expect((await deps.store.write([moved, { remove: last }])).ok).toBe(true)
      }
      return deps.store.page(query, window)
    }
    const changing = { ...deps, store: { ...deps.store, page } }
    return listTokens(changing, callerOf(tenant, onlyAb), noFilter, part)
  }

  test('is judged as it is when it is shown', async () => {
    const { items } = await listWhileChanging(firstPage)
    expect(items.map(item => (JSON.parse(item) as { id: string }).id)).toEqual(['two'])
  })
})

describe('a search over time', () => {
  const search = (watched: Watch, query: string) =>
    searchTokens(watched.deps, callerOf(tenantId, plain), { query }, firstPage)

  test('of whole days opens only what it shows, however long it is', async () => {
    for (const query of ['created_at:2030-01-01', 'created_at:[2020-05-05 TO *]']) {
      const watched = watch(false)
      expect(totalOf(await search(watched, query))).toBe(275)
      expect(watched.asked).toEqual([5])
    }
  })

  test('that begins within a day opens the tokens of that day alone', async () => {
    const watched = watch(false)
    const query = 'created_at:[2030-01-01T12:00:00.200Z TO 2031-01-01]'
    expect(totalOf(await search(watched, query))).toBe(50)
    expect(watched.read.size).toBe(275)
    const before = watch(false)
    expect(totalOf(await search(before, 'created_at:{* TO 2029-12-31T23:00Z}'))).toBe(0)
    expect(before.read.size).toBe(0)
  })
})
