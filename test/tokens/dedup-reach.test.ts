/**
 * Deduplication goes by reach: a token beyond it changes no answer, and races are decided among
 * those who reach one another. Source: contract sections 8, 9 and 17.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { dedupSeatsMax } from '../../src/limits/limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { checkRecords, type RecordFinding } from '../../src/vault/verify-rows.ts'
import { openSessionKit, tokenPermissions, type SessionKit } from '../support/sessions.ts'
import { openTestVault, requestOf, type Answer, type TestVault } from '../support/vault.ts'

const card = '4242424242424242'

let vault: TestVault
let kit: SessionKit
let all: string

beforeAll(async () => {
  vault = await openTestVault(191)
  kit = await openSessionKit(vault)
  all = await vault.application({ type: 'private', permissions: tokenPermissions })
})

const createOnce = (key: string, data: unknown, more: object = {}) =>
  vault.ask('POST', '/tokens', {
    key,
    body: { type: 'token', data, deduplicate_token: true, ...more },
  })
const newShop = () => vault.application({ type: 'public', permissions: ['token:create'] })
const rule = (container: string, permissions: readonly string[], priority = 1) => ({
  priority,
  container,
  transform: 'mask',
  permissions,
})
const idOf = ({ status, body }: Answer): string => {
  expect(status).toBe(201)
  return String(body['id'])
}
const isHit = ({ body }: Answer): unknown =>
  (body['_extras'] as { deduplicated: boolean }).deduplicated

/** Returns an answer without the parts that are new in each. */
const shapeOf = ({ status, body }: Answer): unknown => {
  const { id: _id, created_by: _by, ...rest } = body
  return { status, rest }
}

describe('E4: a public key that knows a card number', () => {
  // proves C8.11, E4.1, S44
  test('is answered alike while the owner of an equal token changes it all the time', async () => {
    const theirs = await vault.application({
      type: 'private',
      rules: [rule('/theirs/', ['token:create', 'token:update'])],
    })
    const equal = { type: 'card', containers: ['/theirs/'], id: 'changing' }
    idOf(await createOnce(theirs, { number: '4012888888881881' }, equal))
    const { store } = vault.deps
    let changes = 0
    const write: typeof store.write = async (...all) => {
      const body = { metadata: { changes: String((changes += 1)) } }
      const changed = await vault.ask('PATCH', '/tokens/changing', { key: theirs, body })
      expect(changed.status).toBe(200)
      return store.write(...all)
    }
    const app = buildApp({ ...vault.deps, store: { ...store, write } })
    const shop = { key: await newShop() }
    const ask = async (method: string, path: string, body: object) => {
      const response = await app.handle(requestOf(method, path, { ...shop, body }))
      return [response.status, await response.text()] as const
    }
    const body = { type: 'card', data: { number: '4012888888881881' }, deduplicate_token: true }
    const [status, text] = await ask('POST', '/tokens', body)
    expect([status, text.includes('"deduplicated":false')]).toEqual([201, true])
    expect(changes).toBeGreaterThan(1)
  })

  // proves C8.11, E4.1, S44
  test('is not told of the card of another application', async () => {
    const cardWith = (number: string) => ({ type: 'card', data: { number, cvc: '908' } })
    const [theirs, mine, elsewhere] = [await newShop(), await newShop(), await newShop()]
    const known = { type: 'card', containers: ['/theirs/'] }
    const stored = await createOnce(theirs, cardWith(card).data, known)
    const guess = await createOnce(mine, { number: card }, { type: 'card' })
    expect(isHit(guess)).toBe(false)
    expect(guess.text).not.toContain(idOf(stored))
    expect(guess.text).not.toContain('/theirs/')
    // Byte for byte as if the other card were not there.
    await vault.ask('DELETE', `/tokens/${idOf(stored)}`, { key: all })
    await vault.ask('DELETE', `/tokens/${idOf(guess)}`, { key: all })
    const absent = await createOnce(elsewhere, { number: card }, { type: 'card' })
    expect(shapeOf(guess)).toEqual(shapeOf(absent))
  })

  // proves C8.13, E4.2
  test('is told of one that its own application made by id, type and fingerprint', async () => {
    const shop = await newShop()
    const first = await createOnce(shop, { number: card, cvc: '908' }, { type: 'card' })
    const second = await createOnce(shop, { number: card }, { type: 'card' })
    const { id, type, fingerprint } = first.body
    expect(second.body).toEqual({ id, type, fingerprint, _extras: { deduplicated: true } })
    expect(second.headers.get('location')).toBe(`/tokens/${idOf(first)}`)
  })
})

describe('reach', () => {
  // proves C8.9
  test('needs token:create where the token is', async () => {
    const rules = [rule('/a/', ['token:create', 'token:read']), rule('/', ['token:read'], 2)]
    const key = await vault.application({ type: 'private', rules })
    const theirs = idOf(await createOnce(all, 'r1', { containers: ['/b/'] }))
    const inB = await createOnce(key, 'r1', { containers: ['/a/'] })
    expect([isHit(inB), idOf(inB) === theirs]).toEqual([false, false])
    const again = await createOnce(key, 'r1', { containers: ['/a/'] })
    expect([isHit(again), idOf(again)]).toEqual([true, idOf(inB)])
  })

  // proves C8.9
  test('needs token:read there, or to be of the same application', async () => {
    const rules = [rule('/', ['token:create']), rule('/a/', ['token:read'], 2)]
    const key = await vault.application({ type: 'private', rules })
    await createOnce(all, 'r2', { containers: ['/b/'] })
    const own = await createOnce(key, 'r2', { containers: ['/b/'] })
    expect(isHit(own)).toBe(false)
    const readable = idOf(await createOnce(all, 'r3', { containers: ['/a/b/'] }))
    const hit = await createOnce(key, 'r3', { containers: ['/b/'] })
    expect([isHit(hit), idOf(hit)]).toEqual([true, readable])
    expect(hit.body).toHaveProperty('containers')
    expect(idOf(await createOnce(key, 'r2', { containers: ['/c/'] }))).toBe(idOf(own))
  })

  // proves C8.9
  test('ends where the own token was moved out of it', async () => {
    const key = await vault.application({
      type: 'public',
      rules: [rule('/a/', ['token:create'])],
    })
    const own = idOf(await createOnce(key, 'r4', { containers: ['/a/'] }))
    await vault.ask('PATCH', `/tokens/${own}`, { key: all, body: { containers: ['/b/'] } })
    const next = await createOnce(key, 'r4', { containers: ['/a/'] })
    expect([isHit(next), next.text.includes(own)]).toEqual([false, false])
  })

  // proves C8.9
  test('of a session goes by its conditions, and gives the oldest within them', async () => {
    const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'mine-' }]
    const held = ['token:create', 'token:read']
    const session = await kit.open({
      rules: [{ priority: 1, conditions, transform: 'mask', permissions: held }],
    })
    for (const id of ['their-1', 'mine-1', 'their-2', 'mine-2', 'min-3']) {
      await vault.ask('POST', '/tokens', { key: all, body: { id, type: 'token', data: 'r5' } })
    }
    expect(idOf(await createOnce(session, 'r5', { id: 'mine-new' }))).toBe('mine-1')
    const fresh = await createOnce(session, 'r5 fresh', { id: 'mine-new' })
    expect([idOf(fresh), isHit(fresh)]).toEqual(['mine-new', false])
  })

  // proves E30.2
  test('is tested once for each content of a request, however many items have it', async () => {
    const conditions = [{ attribute: 'container', operator: 'starts_with', value: '/rea' }]
    const session = await kit.open({
      rules: [
        { priority: 1, conditions, transform: 'mask', permissions: ['token:create', 'token:read'] },
      ],
    })
    const equals = 100
    const their = { type: 'token', data: 'r6', containers: ['/rest/'] }
    const body = Array.from({ length: equals }, () => their)
    await vault.ask('POST', '/tokenize', { key: all, body })
    let read = 0
    const { store } = vault.deps
    const page: typeof store.page = async (...asked) => {
      const found = await store.page(...asked)
      read += found.rows.length
      return found
    }
    const { handle } = buildApp({ ...vault.deps, store: { ...store, page } })
    const items = Array.from({ length: 20 }, () => {
      return { ...their, containers: ['/reach/'], deduplicate_token: true }
    })
    for (const _ of ['none is in reach', 'one is in reach']) {
      read = 0
      const answer = await handle(requestOf('POST', '/tokenize', { key: session, body: items }))
      const made = (await answer.json()) as readonly { id: string }[]
      expect(new Set(made.map(({ id }) => id)).size).toBe(1)
      expect(read).toBeLessThan(2 * equals)
    }
  })

  // proves C8.10
  test('is the whole tenant where the setting says so', async () => {
    const wide = await openTestVault(192, { tenantWideDeduplication: true })
    const ask = (key: string, containers: string[]) => {
      const body = { type: 'token', data: 'wide', deduplicate_token: true, containers }
      return wide.ask('POST', '/tokens', { key, body })
    }
    const shop = await wide.application({ type: 'public', rules: [rule('/a/', ['token:create'])] })
    const other = await wide.application({ type: 'public', permissions: ['token:create'] })
    const first = await ask(other, ['/b/'])
    const { id, type, fingerprint } = first.body
    const extras = { deduplicated: true }
    expect((await ask(shop, ['/a/'])).body).toEqual({ id, type, fingerprint, _extras: extras })
  })
})

describe('creates that race', () => {
  const race = (key: string, data: unknown) =>
    Promise.all(Array.from({ length: 20 }, () => createOnce(key, data)))

  // proves C8.14
  test('yield one token, also beside an equal one that is out of reach', async () => {
    const theirs = idOf(await createOnce(await newShop(), 'c1'))
    const answers = await race(await newShop(), 'c1')
    expect(new Set(answers.map(idOf)).size).toBe(1)
    expect(answers.filter(answer => isHit(answer) === false)).toHaveLength(1)
    expect(answers.map(idOf)).not.toContain(theirs)
  })

  // proves C8.14, E4.3
  test('yield one token among very many that do not reach one another', async () => {
    const shops = await Promise.all(Array.from({ length: dedupSeatsMax + 2 }, newShop))
    const answers = await Promise.all(shops.map(shop => race(shop, 'c2')))
    const ids = answers.map(each => new Set(each.map(idOf)))
    expect(ids.map(({ size }) => size)).toEqual(shops.map(() => 1))
    expect(new Set(ids.flatMap(each => [...each])).size).toBe(shops.length)
  })

  // proves C8.14
  test('yield one token to applications that read one another', async () => {
    await createOnce(await newShop(), 'c3')
    const rules = [
      rule('/a/', ['token:create', 'token:read']),
      rule('/b/', ['token:create', 'token:read'], 2),
    ]
    const keys = await Promise.all(
      Array.from({ length: 10 }, () => vault.application({ type: 'private', rules })),
    )
    const answers = await Promise.all(
      keys.map((key, index) =>
        createOnce(key, 'c3', { containers: [index % 2 === 0 ? '/a/' : '/b/'] }),
      ),
    )
    expect(new Set(answers.map(idOf)).size).toBe(1)
  })

  // proves E15.5
  test('for one id and one value are a hit, not a conflict', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => createOnce(all, 'c4', { id: 'c4-id' })),
    )
    expect(answers.map(idOf)).toEqual(answers.map(() => 'c4-id'))
    const other = await createOnce(all, 'c4 other', { id: 'c4-id' })
    expect(other.status).toBe(409)
  })

  test('leave rows that the check of every record finds whole', async () => {
    for (let count = 0; count <= dedupSeatsMax; count += 1) await createOnce(await newShop(), 'c5')
    const store = await openLmdbStore({ path: vault.folder })
    const findings: RecordFinding[] = []
    const counts = checkRecords(vault.deps.keys, store.everyRow(), finding =>
      findings.push(finding),
    )
    await store.close()
    expect(findings).toEqual([])
    expect(counts.token).toBeGreaterThan(dedupSeatsMax)
  })
})
