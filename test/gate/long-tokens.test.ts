/**
 * Long tokens that no rule covers: no work on them grows with their length. Counted, never timed:
 * `scripts/timing.ts` does that. Source: contract section 2; hardening F16.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { hexOf } from '../../src/lib/bytes.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import type { Row, Store } from '../../src/store/contract.ts'
import { glimpseBytes } from '../../src/store/core/limits.ts'
import { tokenUnique } from '../../src/tokens/token-id.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

const permissions = ['create', 'read', 'update', 'delete', 'use'].map(name => `token:${name}`)

const application = (rule: object) => ({
  type: 'private',
  permissions: [],
  rules: [{ priority: 1, transform: 'reveal', permissions, ...rule }],
})

const pairs = (count: number, chars: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, 'v'.repeat(chars)]))

const long = {
  '1 kB of data': { data: 'x'.repeat(1_000) },
  '50 kB of data': { data: 'x'.repeat(50_000) },
  '500 kB of data': { data: 'x'.repeat(500_000) },
  '2 kB of metadata': { data: 'x', metadata: pairs(4, 500) },
  '25 kB of metadata': { data: 'x', metadata: pairs(50, 500) },
  both: { data: 'x'.repeat(50_000), metadata: pairs(50, 500) },
}
const idOf = (place: string, what: string) => `${place}-${what.replaceAll(' ', '-')}`

/** Asks an application over that store. */
function askerOf({ deps }: TestVault, store: Store) {
  const { handle } = buildApp({ ...deps, store })
  return async (method: string, path: string, asked: Ask) => {
    const response = await handle(requestOf(method, path, asked))
    return `${response.status} ${(await response.text()).replace(/urn:trace:[^"]+/, '')}`
  }
}

type Asker = ReturnType<typeof askerOf>

/** Damages the long parts of a row, so that none opens. */
function spoiled<R extends Row>(row: R): R {
  const parts = row.parts.map((part, index) =>
    index > 0 && part.length > 1_000 ? new Uint8Array(part.length) : part,
  )
  return Object.defineProperty(Object.create(row) as R, 'parts', { value: parts })
}

describe('a long token', () => {
  const looks: string[] = []
  let vault: TestVault
  let key: string
  let ask: Asker
  /** Over a store whose long parts do not open. */
  let askSpoiled: Asker

  const told = (how: string, row: Row | undefined) => {
    const bytes = row?.parts.slice(2).reduce((sum, part) => sum + part.length, 0) ?? 0
    looks.push(bytes > glimpseBytes ? `${how} of much` : how)
  }

  beforeAll(async () => {
    vault = await openTestVault(164)
    const { store } = vault.deps
    ask = askerOf(vault, {
      ...store,
      async find(unique) {
        const row = await store.find(unique)
        told('find', row)
        return row
      },
      async glance(unique, parts) {
        const row = await store.glance(unique, parts)
        told('glance', row)
        return row
      },
    })
    askSpoiled = askerOf(vault, {
      ...store,
      async find(unique) {
        const row = await store.find(unique)
        return row && spoiled(row)
      },
      async glance(unique, parts) {
        const row = await store.glance(unique, parts)
        return row && spoiled(row)
      },
    })
    const writer = await vault.application(application({ container: '/' }))
    key = await vault.application(application({ container: '/seen/' }))
    await ask('GET', '/tokens/first', { key })
    for (const [what, members] of Object.entries(long)) {
      for (const place of ['hidden', 'seen']) {
        const body = {
          id: idOf(place, what),
          type: 'token',
          containers: [`/${place}/`],
          ...members,
        }
        expect(await ask('POST', '/tokens', { key: writer, body })).toStartWith('201')
      }
    }
  })

  const asking = [
    ['GET', (by: Asker, id: string) => by('GET', `/tokens/${id}`, { key })],
    [
      'PATCH',
      (by: Asker, id: string) =>
        by('PATCH', `/tokens/${id}`, { key, body: { metadata: { a: 'b' } } }),
    ],
    ['DELETE', (by: Asker, id: string) => by('DELETE', `/tokens/${id}`, { key })],
    [
      'detokenizing',
      (by: Asker, id: string) => by('POST', '/detokenize', { key, body: { card: `{{ ${id} }}` } }),
    ],
  ] as const

  // proves C2.14, S45
  test.each(asking)('that no rule covers is not read for a %s, however long', async (_, askFor) => {
    const answers = new Set<string>()
    for (const id of ['absent', ...Object.keys(long).map(what => idOf('hidden', what))]) {
      looks.length = 0
      answers.add(await askFor(ask, id))
      expect(looks.filter(look => look !== 'find')).toEqual(['glance'])
    }
    expect(answers.size).toBe(1)
  })

  // proves C2.14, S45
  test.each(asking)('that no rule covers is not opened for a %s', async (_, askFor) => {
    const absent = await askFor(askSpoiled, 'absent')
    for (const what of Object.keys(long)) {
      expect(await askFor(askSpoiled, idOf('hidden', what))).toBe(absent)
    }
    // One in reach is opened, and is seen not to open.
    expect(await askFor(askSpoiled, idOf('seen', '25 kB of metadata'))).toStartWith('500')
  })

  test('is read whole where a rule covers it', async () => {
    for (const [what, { data }] of Object.entries(long)) {
      looks.length = 0
      expect(await ask('GET', `/tokens/${idOf('seen', what)}`, { key })).toContain(`"${data}"`)
      const isLong = !['1 kB of data', '2 kB of metadata'].includes(what)
      const whole = data.length > glimpseBytes ? 'find of much' : 'find'
      expect({ what, looks }).toEqual({ what, looks: isLong ? ['glance', whole] : ['glance'] })
    }
  })

  // proves C2.14, S45
  test('whose id a create chooses is not read', async () => {
    looks.length = 0
    const body = { id: 'hidden-500-kB-of-data', type: 'token', data: 'y', containers: ['/seen/'] }
    expect(await ask('POST', '/tokens', { key, body })).toStartWith('409')
    expect(looks).not.toContain('find of much')
  })

  // proves S45
  test('out of reach that holds the seat of a content is not opened', async () => {
    const equal = { type: 'token', data: 'the same', deduplicate_token: true }
    const writer = await vault.application(application({ container: '/' }))
    const body = { ...equal, containers: ['/hidden/'], metadata: pairs(50, 500) }
    expect(await ask('POST', '/tokens', { key: writer, body })).toStartWith('201')
    const own = { ...equal, containers: ['/seen/'] }
    expect(await askSpoiled('POST', '/tokens', { key, body: own })).toStartWith('201')
  })

  test('that leaves its place between two looks is absent', async () => {
    const { deps, tenantId } = vault
    const { store, keys } = deps
    const id = 'seen-50-kB-of-data'
    const gone = hexOf(tokenUnique(keys, tenantId, id))
    const askAfter = askerOf(vault, {
      ...store,
      find: async unique => (hexOf(unique) === gone ? undefined : store.find(unique)),
    })
    expect(await ask('GET', `/tokens/${id}`, { key })).toStartWith('200')
    expect(await askAfter('GET', `/tokens/${id}`, { key })).toStartWith('404')
  })
})

describe('a long token and a short one of the same place', () => {
  const uuid = '3f8c1a52-7d40-4b6e-9c21-5e0f7a9b1c'
  const places = ['/a/', '/a/b/', '/a/bc/', '/d/']
  const ids = (size: string) => [`chosen-${size}`, `${uuid}${size === 'long' ? '01' : '02'}`]
  const condition = (attribute: string, operator: string, value: string) => ({
    conditions: [{ attribute, operator, value }],
  })
  const rules = [
    { container: '/' },
    { container: '/a/' },
    { container: '/a/b/' },
    condition('container', 'equals', '/a/b/'),
    condition('container', 'starts_with', '/a/b'),
    condition('container', 'starts_with', '/a/'),
    condition('container', 'starts_with', '/'),
    condition('id', 'starts_with', 'chosen'),
    condition('id', 'starts_with', 'chosen-l'),
    condition('id', 'starts_with', uuid.slice(0, 20)),
    condition('id', 'equals', 'chosen-long'),
    {
      conditions: [
        ...condition('id', 'starts_with', 'cho').conditions,
        ...condition('container', 'starts_with', '/a/').conditions,
      ],
    },
  ]

  // proves C2.14, S45
  test('are covered by the same rules', async () => {
    const vault = await openTestVault(165)
    const ask = askerOf(vault, vault.deps.store)
    const writer = await vault.application(application({ container: '/' }))
    const creator = await vault.application({ type: 'public', permissions: ['token:create'] })
    const sessionOf = async (rule: object) => {
      const opened = await ask('POST', '/sessions', { key: creator })
      const { session_key, nonce } = JSON.parse(opened.slice(4))
      const body = { nonce, rules: application(rule).rules }
      expect(await ask('POST', '/sessions/authorize', { key: writer, body })).toStartWith('200')
      return String(session_key)
    }
    const keys: string[] = []
    for (const rule of rules) keys.push(await sessionOf(rule))
    const covered = (id: string) =>
      Promise.all(
        keys.map(async key => (await ask('GET', `/tokens/${id}`, { key })).startsWith('200')),
      )
    const make = async (id: string, containers: string[], metadata: object) => {
      const body = { id, type: 'token', data: 'x', containers, metadata }
      expect(await ask('POST', '/tokens', { key: writer, body })).toStartWith('201')
      const found = await covered(id)
      expect(await ask('DELETE', `/tokens/${id}`, { key: writer })).toStartWith('204')
      return found
    }
    for (const place of places) {
      for (const id of ids('long')) {
        const short = await make(id, [place], {})
        expect(new Set(short)).toEqual(new Set([true, false]))
        expect(await make(id, [place], pairs(50, 500))).toEqual(short)
      }
    }
  })
})
