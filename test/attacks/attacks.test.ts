/**
 * Attacks that a reader of the code would try on a serving process under its default settings:
 * alone, and as three workers. Source: docs/hostile-inputs.md, section L.
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openTarget, type Application, type Target, type Told } from './target.ts'

// Each starts processes, on machines that may be slow.
setDefaultTimeout(300_000)

const every = ['create', 'read', 'update', 'delete', 'search', 'use'].map(name => `token:${name}`)
const number = '4242424242424242'
const card = { number, expiration_month: 12, expiration_year: 2031, cvc: '739' }

const rule = (priority: number, container: string, transform: string, permissions = every) => ({
  priority,
  container,
  transform,
  permissions,
})

describe.each([1, 3])('an attacker of %d processes', workers => {
  let target: Target
  let owner: Application
  let shop: Application
  beforeAll(async () => {
    target = await openTarget(workers)
    owner = await target.application({ type: 'private', rules: [rule(1, '/', 'reveal')] })
    shop = await target.application({
      type: 'public',
      permissions: ['token:create', 'token:update'],
    })
  })
  afterAll(async () => {
    const logged = await target.end()
    expect(logged).toContain('"event":"request"')
    const ids = [owner.key, shop.key, target.managementKey, number, '5555555555554444', 'absent']
    for (const hidden of [...ids, 'the owner', 'metadata', 'round0']) {
      expect(logged).not.toContain(hidden)
    }
    expect(logged).not.toMatch(/key_(?!id"|source")/)
  })

  const patch = (key: string, id: string, body: object) =>
    target.ask('PATCH', `/tokens/${id}`, { key, body })
  const read = (key: string, id: string) => target.ask('GET', `/tokens/${id}`, { key })

  /** A session of the shop, authorized as asked for. */
  async function unsealSession(by: Application, grants: object) {
    const { body } = await target.ask('POST', '/sessions', { key: shop.key })
    const asked = { key: by.key, body: { nonce: body['nonce'], ...grants } }
    const { status } = await target.ask('POST', '/sessions/authorize', asked)
    return { status, id: String(body['id']), key: String(body['session_key']) }
  }

  // proves S53
  test('E2: masking in one container and revealing in another moves no token there', async () => {
    for (const before of ['mask', 'redact']) {
      const rules = [rule(1, '/pci/low/', 'reveal'), rule(2, '/pci/', before)]
      const mover = await target.application({ type: 'private', rules })
      const id = await target.create(owner.key, { type: 'card', data: card })
      const moved = await patch(mover.key, id, { containers: ['/pci/low/'] })
      expect(moved.status).toBe(403)
      expect((await read(mover.key, id)).text).not.toContain(number)
      const grants = { rules: [rule(1, '/pci/', 'redact', ['token:update'])] }
      const session = await unsealSession(mover, grants)
      expect(session.status).toBe(200)
      expect((await patch(session.key, id, { containers: ['/pci/low/'] })).status).toBe(403)
      expect((await read(mover.key, id)).text).not.toContain(number)
    }
  })

  test('E3: a public key reads no card in two masks, by arithmetic or by its code', async () => {
    const id = await target.create(shop.key, { type: 'card', data: card })
    const masks = [
      { number: '{{ data.number | slice: 0, 8 }}' },
      { number: '{{ data.number | slice: 8, 8 }}' },
      { number: '{{ data.number | divided_by: 2 }}' },
      { cvc: '{{ data.cvc }}' },
      { cvc: '{{ data.cvc | to_base64 }}' },
    ]
    for (const mask of masks) {
      const { status, body } = await patch(shop.key, id, { mask })
      expect(status).toBeGreaterThanOrEqual(400)
      expect(body).not.toHaveProperty('data')
      expect(JSON.stringify([body['title'], body['detail']])).not.toContain(card.cvc)
    }
    const created = await target.ask('POST', '/tokens', {
      key: shop.key,
      body: {
        type: 'card',
        data: card,
        mask: { c: '{{ data.cvc }}' },
      },
    })
    expect(created.status).toBe(403)
  })

  test('E4: a known number gives a public key nothing else of what is stored', async () => {
    const known = { ...card, number: '5555555555554444' }
    const stored = await target.create(owner.key, {
      type: 'card',
      data: known,
      deduplicate_token: true,
      metadata: { of: 'the owner' },
    })
    const guess = { type: 'card', data: { number: known.number }, deduplicate_token: true }
    const hit = await target.ask('POST', '/tokens', { key: shop.key, body: guess })
    expect(hit.text).not.toContain(stored)
    expect(hit.text).not.toContain('the owner')
    // Only the data is searched: three digits stand by chance in ids and times.
    expect(JSON.stringify(hit.body['data'])).not.toContain(card.cvc)
  })

  // proves E5
  test('E5: a key that only creates authorizes no session that reveals', async () => {
    const creator = await target.application({ type: 'private', permissions: ['token:create'] })
    const grants = { rules: [rule(1, '/', 'reveal', ['token:read'])] }
    expect((await unsealSession(creator, grants)).status).toBe(403)
    expect((await unsealSession(owner, grants)).status).toBe(200)
  })

  // proves E5.1
  test('E5: a session ends with the keys of its creator and its authorizer', async () => {
    const id = await target.create(owner.key, { type: 'token', data: 'kept' })
    const grants = { rules: [rule(1, '/', 'reveal', ['token:read'])] }
    const by = await target.application({ type: 'private', rules: [rule(1, '/', 'reveal')] })
    const first = await unsealSession(by, grants)
    expect((await read(first.key, id)).status).toBe(200)
    const path = `/applications/${by.id}/regenerate`
    expect((await target.ask('POST', path, { key: target.managementKey })).status).toBe(200)
    for (let tries = 0; tries < 8; tries += 1) {
      expect((await read(first.key, id)).status).toBe(401)
    }
    const second = await unsealSession(owner, grants)
    const ending = await target.ask('DELETE', `/sessions/${second.id}`, {
      key: target.managementKey,
    })
    expect(ending.status).toBe(204)
    for (let tries = 0; tries < 8; tries += 1) {
      expect((await read(second.key, id)).status).toBe(401)
    }
  })

  // proves E5.3
  test('E5: a manager that may only update takes over no key that sees data', async () => {
    const manager = await target.application({
      type: 'management',
      permissions: ['application:read', 'application:update'],
    })
    const reader = await target.application({ type: 'private', permissions: ['token:read'] })
    const path = `/applications/${reader.id}`
    const taken = await target.ask('POST', `${path}/regenerate`, { key: manager.key })
    expect(taken.status).toBe(403)
    expect(taken.text).not.toContain('key_')
    const wide = { name: 'wide', permissions: [], rules: [rule(1, '/', 'reveal')] }
    expect((await target.ask('PUT', path, { key: manager.key, body: wide })).status).toBe(403)
    const renamed = { name: 'renamed', permissions: ['token:read'] }
    expect((await target.ask('PUT', path, { key: manager.key, body: renamed })).status).toBe(200)
  })

  test('E6: guesses in bulk end in 429', async () => {
    const guesser = await target.application({
      type: 'private',
      permissions: ['token:search', 'token:read'],
    })
    const clauses = (count: number, from: number) =>
      Array.from({ length: count }, (_, index) => `data:"${from + index}"`).join(' OR ')
    const searchFor = (query: string) =>
      target.ask('POST', '/tokens/search', { key: guesser.key, body: { query } })
    expect((await searchFor(clauses(98, 0))).status).toBeGreaterThanOrEqual(400)
    let last: Told | undefined
    for (let asked = 0; asked < 100 * workers && last?.status !== 429; asked += 1) {
      last = await searchFor(clauses(5, asked * 5))
    }
    expect(last?.status).toBe(429)
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('E6: of candidates by the thousand only some have a fingerprint to compare', async () => {
    const guesser = await target.application({
      type: 'private',
      permissions: ['token:create', 'token:read', 'token:search'],
    })
    const candidates = (bulk: number) =>
      Array.from({ length: 1_000 }, (_, index) => ({ type: 'token', data: `${bulk}-${index}` }))
    let shown = 0
    let last: Record<string, unknown> = {}
    for (let bulk = 0; bulk < 10; bulk += 1) {
      const asked = { key: guesser.key, body: candidates(bulk) }
      const { status, text } = await target.ask('POST', '/tokenize', asked)
      expect(status).toBe(200)
      const made = JSON.parse(text) as Record<string, unknown>[]
      shown += made.filter(token => 'fingerprint' in token).length
      last = made.find(token => !('fingerprint' in token)) ?? last
    }
    expect(shown).toBeLessThanOrEqual(6_000 + workers)
    const { body } = await read(owner.key, String(last['id']))
    const found = await target.ask('GET', `/tokens?fingerprint=${String(body['fingerprint'])}`, {
      key: guesser.key,
    })
    expect([found.status, found.body['data']]).toEqual([200, []])
  })

  test('E7: a replay shows nothing of a token that is gone, or that one may not see', async () => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'kept' }
    const asked = { key: owner.key, headers, body: { type: 'card', data: card } }
    const made = await target.ask('POST', '/tokens', asked)
    expect(made.status).toBe(201)
    const again = await target.ask('POST', '/tokens', asked)
    expect([again.status, again.body['id']]).toEqual([201, made.body['id']])
    const other = { ...asked, body: { type: 'token', data: 'another' } }
    expect((await target.ask('POST', '/tokens', other)).status).toBe(409)
    await target.ask('DELETE', `/tokens/${String(made.body['id'])}`, { key: owner.key })
    const replayed = await target.ask('POST', '/tokens', asked)
    expect(replayed.status).toBe(404)
    expect(replayed.text).not.toContain('4242')
  })

  test('E11: a caller without data finds no token by it, and is told no fingerprint', async () => {
    const ssn = '123-45-6789'
    const made = await target.ask('POST', '/tokens', {
      key: owner.key,
      body: {
        type: 'social_security_number',
        data: ssn,
        mask: null,
      },
    })
    const blind = await target.application({ type: 'private', rules: [rule(1, '/', 'redact')] })
    const masked = await target.application({ type: 'private', rules: [rule(1, '/', 'mask')] })
    const queries = [`data:${ssn}`, `fingerprint:${String(made.body['fingerprint'])}`]
    for (const { key } of [blind, masked]) {
      const found = await target.ask('POST', '/tokens/search', { key, body: { query: queries[0] } })
      expect([found.status, found.body['data']]).toEqual([200, []])
    }
    const body = { query: queries[1] }
    const found = await target.ask('POST', '/tokens/search', { key: blind.key, body })
    expect([found.status, found.body['data']]).toEqual([200, []])
    const shown = await read(blind.key, String(made.body['id']))
    expect(shown.status).toBe(200)
    expect(shown.body['fingerprint']).toBeUndefined()
  })

  test('E12: encodings that are not read and names that are nearly right are refused', async () => {
    const body = { type: 'token', data: 1 }
    const headers = { 'Content-Encoding': 'gzip' }
    const encoded = await target.ask('POST', '/tokens', { key: owner.key, body, headers })
    expect(encoded.status).toBe(415)
    expect(encoded.headers.get('accept-encoding')).toBe('identity')
    for (const name of ['expires_in', 'expire_at', 'meta_data', 'container']) {
      const asked = { key: owner.key, body: { ...body, [name]: '1/1/2040' } }
      const { status, text } = await target.ask('POST', '/tokens', asked)
      expect([name, status]).toEqual([name, 400])
      expect(text).not.toContain('2040')
    }
  })

  test('E13: a live key lands every create while its application is renamed', async () => {
    const permissions = ['token:create']
    const busy = await target.application({ type: 'private', permissions })
    let isRenaming = true
    const statuses = new Set<number>()
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let count = 0; isRenaming; count += 1) {
        const body = { type: 'token', data: `${writer}/${count}` }
        statuses.add((await target.ask('POST', '/tokens', { key: busy.key, body })).status)
      }
    })
    for (let count = 0; count < 60; count += 1) {
      const body = { name: `name ${count}`, permissions }
      await target.ask('PUT', `/applications/${busy.id}`, { key: target.managementKey, body })
    }
    isRenaming = false
    await Promise.all(writers)
    expect([...statuses]).toEqual([201])
  })

  test('E15: an update tells what is wrong with it before whether there is a token', async () => {
    for (const body of [{ mask: '{{ data | nothing }}' }, { containers: ['no'] }]) {
      expect((await patch(owner.key, 'absent', body)).status).toBe(400)
    }
    expect((await patch(owner.key, 'absent', { metadata: { a: 'b' } })).status).toBe(404)
    const revealing = { type: 'token', data: 'plain', mask: null, deduplicate_token: true }
    await target.create(owner.key, revealing)
    const hit = await target.ask('POST', '/tokens', { key: owner.key, body: revealing })
    expect(hit.body['_extras']).toEqual({ deduplicated: true })
    expect(hit.body['data']).toBeUndefined()
  })

  // proves S53
  test('E14: whatever is tried again after kills has one effect', async () => {
    const idsOf = async (name: string) => {
      const list = await target.ask('GET', `/tokens?metadata.try=${name}`, { key: owner.key })
      return (list.body['data'] as { id: string }[]).map(({ id }) => id)
    }
    for (let round = 0; round < 6; round += 1) {
      const name = `round${round}`
      const body = { type: 'token', data: round, metadata: { try: name } }
      const asked = { key: owner.key, headers: { 'SVC-IDEMPOTENCY-KEY': name }, body }
      const tries = [0, 1, 2].map(() => target.ask('POST', '/tokens', asked).catch(() => undefined))
      await Bun.sleep(round)
      await target.restart('SIGKILL')
      await Promise.all(tries)
      const again = await target.ask('POST', '/tokens', asked)
      expect([round, again.status]).toEqual([round, 201])
      expect(await idsOf(name)).toEqual([String(again.body['id'])])
    }
  })
})
