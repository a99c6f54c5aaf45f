/**
 * Long answers: they let others in, they are bounded, and one caller has few of them under way.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { uuidOf } from '../../../../src/lib/bytes.ts'
import type { Deps } from '../../../../src/deps.ts'
import type { Grants } from '../../../../src/rules/access.ts'
import {
  listAnswerCharsMax,
  tokenDataBytesMax,
  walksPerCredentialMax,
} from '../../../../src/limits/limits.ts'
import { bulkTurnMsMax, testStepRows } from '../../../../src/limits/work-limits.ts'
import { listTokens } from '../../../../src/tokens/find/listing.ts'
import { sealToken, type TokenRecord } from '../../../../src/tokens/token-record.ts'
import { searchTokens } from '../../../../src/tokens/find/search.ts'
import { callerOf } from '../../../support/token-world.ts'
import { openTestVault } from '../../../support/vault.ts'

const noFilter = { ids: [], types: [], containers: [], fingerprints: [], metadata: new Map() }
const rule = {
  priority: 1,
  transform: 'reveal',
  permissions: ['token:read', 'token:search'],
} as const
const all: Grants = { permissions: [], rules: [{ ...rule, container: '/' }] }
const tested: Grants = {
  permissions: [],
  rules: [{ ...rule, conditions: [{ attribute: 'id', operator: 'starts_with', value: 'a' }] }],
}

let deps: Deps
let tenantId: string

const recordOf = (id: string): TokenRecord => ({
  id,
  type: 'token',
  containers: ['/a/'],
  fingerprint: 'f',
  fingerprintExpression: '{{ data }}',
  searchIndexes: [],
  maskText: '"{{ data }}"',
  createdBy: tenantId,
  createdAtMs: 0,
})

async function fill(tenant: string, count: number, dataText: string): Promise<void> {
  const contents = { dataText, metadata: new Map(), searchValues: [], isShownMasked: true }
  const inserts = Array.from({ length: count }, (_, index) => ({
    insert: sealToken(deps, tenant, recordOf(`a-${index}`), contents, 1),
  }))
  expect((await deps.store.write(inserts)).ok).toBe(true)
}

beforeAll(async () => {
  ;({ deps } = await openTestVault(40))
  tenantId = uuidOf(deps.randomBytes(16))
  await fill(tenantId, 2 * testStepRows + 1, '1')
})

/** Counts the turns of others while the task ran, if each look at the time takes `ms`. */
async function turnsDuring(ms: number, task: (slow: Deps) => Promise<unknown>): Promise<number> {
  let nowMs = 0
  let turns = 0
  let next = setImmediate(function again() {
    turns += 1
    next = setImmediate(again)
  })
  await task({ ...deps, elapsedMs: () => (nowMs += ms) })
  clearImmediate(next)
  return turns
}

describe('a long answer', () => {
  const pageOf100 = { page: 1, size: 100 }

  test('lets others have their turn between two tokens when it is time', async () => {
    const show = (slow: Deps) => listTokens(slow, callerOf(tenantId, all), noFilter, pageOf100)
    expect(await turnsDuring(bulkTurnMsMax, show)).toBeGreaterThanOrEqual(99)
    expect(await turnsDuring(0, show)).toBeLessThanOrEqual(1)
  })

  test('lets others have their turn between two rows that are tested', async () => {
    const caller = callerOf(tenantId, tested)
    const test = (slow: Deps) => listTokens(slow, caller, noFilter, { page: 1, size: 1 })
    expect(await turnsDuring(bulkTurnMsMax, test)).toBeGreaterThanOrEqual(2 * testStepRows)
  })

  // proves C4.8
  test('is refused or ends early when it would hold too many characters', async () => {
    const tenant = uuidOf(deps.randomBytes(16))
    const dataText = JSON.stringify('x'.repeat(tokenDataBytesMax - 2))
    const fits = Math.floor(listAnswerCharsMax / (tokenDataBytesMax + 1_000))
    await fill(tenant, fits + 3, dataText)
    const caller = callerOf(tenant, all)
    const list = (size: number) => listTokens(deps, caller, noFilter, { page: 1, size })
    expect((await list(fits)).items).toHaveLength(fits)
    const fields = (at: string) => ({
      kind: 'invalid_request',
      fields: { [at]: [expect.any(String)] },
    })
    await expect(list(100)).rejects.toMatchObject(fields('query.size'))
    const page = { page: 1, size: 100 }
    await expect(searchTokens(deps, caller, { query: '*' }, page)).rejects.toMatchObject(
      fields('size'),
    )
    for (const walk of [
      (start: string) =>
        searchTokens(deps, caller, { query: '*' }, { start, at: 'start', size: 100 }),
      (start: string) => listTokens(deps, caller, noFilter, { start, at: 'start', size: 100 }),
    ]) {
      const ids: unknown[] = []
      let rounds = 0
      for (let start: string | undefined = ''; start !== undefined; rounds += 1) {
        const { items, next } = (await walk(start)) as { items: string[]; next?: string }
        expect(items.join('').length).toBeLessThanOrEqual(listAnswerCharsMax)
        ids.push(...items.map(text => (JSON.parse(text) as { id: string }).id))
        start = next
      }
      expect([ids.length, new Set(ids).size, rounds]).toEqual([fits + 3, fits + 3, 2])
    }
  })
})

describe('walks of one credential at a time', () => {
  const ask = (ordinal: number) =>
    listTokens(
      deps,
      { ...callerOf(tenantId, tested), credential: { ordinal, version: 1, uniques: [] } },
      noFilter,
      { page: 1, size: 5 },
    ).then(
      ({ items }) => items.length,
      (error: unknown) => (error as Error).message,
    )

  test(`are ${walksPerCredentialMax} at most; each has its own, an end makes room`, async () => {
    const mine = Array.from({ length: walksPerCredentialMax + 1 }, () => ask(1))
    const [other, ...answers] = await Promise.all([ask(2), ...mine])
    expect(other).toBe(5)
    expect(answers.filter(answer => answer === 5)).toHaveLength(walksPerCredentialMax)
    const refused = answers.filter(answer =>
      /too many searches .*: wait until/.test(String(answer)),
    )
    expect(refused).toHaveLength(1)
    const again = Array.from({ length: walksPerCredentialMax }, () => ask(1))
    expect(await Promise.all(again)).toEqual(again.map(() => 5))
  })

  test('do not count where one step is all', async () => {
    const tenant = uuidOf(deps.randomBytes(16))
    await fill(tenant, testStepRows, '1')
    const caller = callerOf(tenant, tested)
    const part = { page: 1, size: 1 }
    const asks = Array.from({ length: 10 }, () => listTokens(deps, caller, noFilter, part))
    for (const { items } of await Promise.all(asks)) expect(items).toHaveLength(1)
  })
})
