/**
 * The output of a mask is kept beside the record: a masked read opens no data, and shows the same
 * as one that evaluates the mask.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { buildApp } from '../../src/server/listen/app.ts'
import { printJson, type Json } from '../../src/lib/json/json.ts'
import { keptMaskedCharsMax } from '../../src/limits/work-limits.ts'
import { sealToken, unsealToken } from '../../src/tokens/token-record.ts'
import { tokenUnique } from '../../src/tokens/token-id.ts'
import { json } from '../support/arbitrary-json.ts'
import { tokenPermissions } from '../support/sessions.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

let vault: TestVault
let owner: string
let masking: string
let blind: string

const under = (transform: string) => ({
  type: 'private',
  rules: [{ priority: 1, container: '/', transform, permissions: tokenPermissions }],
})

beforeAll(async () => {
  vault = await openTestVault(223)
  owner = await vault.application(under('reveal'))
  masking = await vault.application(under('mask'))
  blind = await vault.application(under('redact'))
})

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 }
const shownCard = { ...card, number: 'XXXXXXXXXXXX4242' }

async function create(body: object): Promise<string> {
  const made = await vault.ask('POST', '/tokens', { key: owner, body })
  expect(made.status).toBe(201)
  return String(made.body['id'])
}

const change = (id: string, body: object, key = owner) =>
  vault.ask('PATCH', `/tokens/${id}`, { key, body })

const shown = async (id: string, key = masking) =>
  (await vault.ask('GET', `/tokens/${id}`, { key })).body['data']

/** An answer about a masked token, whose id is left out. */
const textOf = async (id: string) =>
  (await vault.ask('GET', `/tokens/${id}`, { key: masking })).text.replace(`"id":"${id}",`, '')

async function storedOf(id: string) {
  const { deps, tenantId } = vault
  const row = await deps.store.find(tokenUnique(deps.keys, tenantId, id))
  if (row === undefined) throw new Error('there is such a token')
  return unsealToken(deps.keys, tenantId, row)
}

/** Reads the same token without the kept output of its mask. */
async function evaluatedOf(id: string): Promise<string> {
  const { deps, tenantId } = vault
  const { record, unsealData } = await storedOf(id)
  const { maskedText: _, ...bare } = { ...record, id: `bare-${id}` }
  const none = { metadata: new Map(), searchValues: [], isShownMasked: false }
  const insert = sealToken(deps, tenantId, bare, { dataText: unsealData(), ...none }, 1)
  expect((await deps.store.write([{ insert }])).ok).toBe(true)
  return bare.id
}

/** Every way to see tokens, over a store whose rows have no data that opens. */
function withoutData() {
  const { store } = vault.deps
  const spoil = <R extends { readonly parts: readonly Uint8Array[] }>(row: R): R => {
    const parts = row.parts.map((part, index) => (index === 2 ? new Uint8Array(part.length) : part))
    return Object.defineProperty(Object.create(row) as R, 'parts', { value: parts })
  }
  const find = async (unique: Uint8Array) => {
    const row = await store.find(unique)
    return row && spoil(row)
  }
  const glance = async (unique: Uint8Array, count: number) => {
    const row = await store.glance(unique, count)
    return row && spoil(row)
  }
  const page = async (...asked: Parameters<typeof store.page>) => {
    const { rows, ...rest } = await store.page(...asked)
    return { rows: rows.map(spoil), ...rest }
  }
  const app = buildApp({ ...vault.deps, store: { ...store, find, glance, page } })
  return async (method: string, path: string, key: string, body?: object) => {
    const response = await app.handle(requestOf(method, path, { key, ...(body ? { body } : {}) }))
    return { status: response.status, text: await response.text() }
  }
}

describe('without a look at its data', () => {
  test('a token is shown masked, alone, in lists and in searches', async () => {
    const id = await create({ type: 'card', data: card, metadata: { who: 'kept' } })
    const ask = withoutData()
    const query = { query: 'metadata.who:kept' }
    for (const [method, path, body] of [
      ['GET', `/tokens/${id}`],
      ['GET', '/tokens?metadata.who=kept'],
      ['POST', '/tokens/search', query],
    ] as const) {
      const answer = await ask(method, path, masking, body)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain(`"data":${JSON.stringify(shownCard)}`)
    }
  })

  test('a token is not revealed', async () => {
    const id = await create({ type: 'card', data: card })
    const answer = await withoutData()('GET', `/tokens/${id}`, owner)
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain(card.number)
  })

  test('a token whose mask shows nothing is shown without', async () => {
    const id = await create({ type: 'token', data: 'a', mask: '{{ data.none }}' })
    const answer = await withoutData()('GET', `/tokens/${id}`, masking)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).not.toHaveProperty('data')
  })
})

describe('the kept output', () => {
  const masks: readonly Json[] = [
    '{{ data | stringify }}',
    '{{ data.a }}',
    '{{ data | reveal_last: 2 }}',
    'x{{ data | upcase }}',
    '{{ data | stringify | slice: 0, 9 }}',
    [1, null, '{{ data }}'],
    new Map<string, Json>([['kept', '{{ data[0] }}']]),
  ]

  test('is what the mask makes of the data, whatever these are', async () => {
    const one = async (data: Json, mask: Json): Promise<void> => {
      if (data === null) return
      const body = `{"type":"token","data":${printJson(data)},"mask":${printJson(mask)}}`
      const made = await vault.ask('POST', '/tokens', { key: owner, raw: body })
      if (made.status === 400) return
      expect(made.status).toBe(201)
      const id = String(made.body['id'])
      expect(await textOf(await evaluatedOf(id))).toBe(await textOf(id))
    }
    await fc.assert(fc.asyncProperty(json, fc.constantFrom(...masks), one), { numRuns: 150 })
  })

  test('follows a change of the data, and of the mask', async () => {
    const id = await create({ type: 'token', data: 'abcdef', mask: '{{ data | reveal_last: 2 }}' })
    expect(await shown(id)).toBe('XXXXef')
    expect((await change(id, { data: 'ghij' })).status).toBe(200)
    expect(await shown(id)).toBe('XXij')
    expect((await change(id, { mask: '{{ data | reveal_last: 1 }}' })).status).toBe(200)
    expect(await shown(id)).toBe('XXXj')
    expect((await change(id, { mask: null })).status).toBe(200)
    expect(await shown(id)).toBeUndefined()
  })

  test('is nothing that is long, which is shown all the same', async () => {
    for (const [length, isKept] of [
      [keptMaskedCharsMax - 2, true],
      [keptMaskedCharsMax - 1, false],
    ] as const) {
      const data = 'a'.repeat(length)
      const id = await create({ type: 'token', data, mask: '{{ data }}' })
      const { record } = await storedOf(id)
      expect(record.maskedText).toBe(isKept ? `"${data}"` : undefined)
      expect(await shown(id)).toBe(data)
    }
  })

  test('is nothing of data that its changer does not see, and nothing old', async () => {
    const id = await create({ type: 'card', data: card })
    expect((await storedOf(id)).record.maskedText).toBe(JSON.stringify(shownCard))
    expect((await change(id, { data: { expiration_year: 2031 } }, blind)).status).toBe(200)
    expect((await storedOf(id)).record.maskedText).toBeUndefined()
    expect(await shown(id)).toEqual({ ...shownCard, expiration_year: 2031 })
  })
})
