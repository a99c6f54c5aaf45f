/**
 * The budget of guesses: a caller who does not see data asks for it only so often. Contract section
 * 14.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { guessClausesMax, guessWindowMs, sessionGuessBudgets } from '../../src/limits/limits.ts'
import { openWorld, ruleOf, small, spentLines, statusesOf, times } from '../support/guesses.ts'
import { canary } from '../support/refusal.ts'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault } from '../support/vault.ts'
import { shareOf, type Settings } from '../../src/settings/settings.ts'

const clauses = (count: number, field = 'data') =>
  Array.from({ length: count }, (_, index) => `${field}:${index}`).join(' OR ')

describe('a search by data or fingerprint', () => {
  // proves C14.19, E6, S67
  test('is 429 with Retry-After once the minute is spent, and one line in the log', async () => {
    const { vault, search } = await openWorld(500, { permissions: ['token:search'] })
    const first = await times(3, () => search('data:a OR NOT (fingerprint:b)'))
    expect(statusesOf(first)).toEqual([200, 200, 200])
    const spent = await times(3, () => search(`data:${canary}`))
    expect(statusesOf(spent)).toEqual([429, 429, 429])
    expect(spent[0]?.headers.get('retry-after')).toBe('60')
    expect(spent[0]?.text).not.toContain(canary)
    expect(spentLines(vault).length).toBe(1)
    expect(vault.logged.join()).not.toContain(canary)
    expect((await search('type:token')).status).toBe(200)
    vault.clock.advance(guessWindowMs)
    expect((await search('data:a')).status).toBe(200)
  })

  // proves C14.20, E6.1
  test('may ask for few values at once', async () => {
    const { vault, search } = await openWorld(501, { permissions: ['token:search'] }, {})
    expect((await search(clauses(guessClausesMax))).status).toBe(200)
    for (const query of [
      clauses(guessClausesMax + 1),
      clauses(guessClausesMax + 1, 'fingerprint'),
      `${clauses(guessClausesMax)} AND NOT fingerprint:x`,
    ]) {
      const { status, body } = await search(query)
      expect([status, Object.keys(body['errors'] ?? {})]).toEqual([400, ['query']])
    }
    expect((await search(clauses(50, 'id'))).status).toBe(200)
    const loose = await openWorld(
      502,
      { permissions: ['token:search'] },
      { searchGuessesPerMinuteMax: 0 },
    )
    expect((await loose.search(clauses(50))).status).toBe(200)
    expect(spentLines(vault)).toEqual([])
  })

  // proves C14.19
  test('costs nothing to a caller who sees all that it finds', async () => {
    const { search } = await openWorld(503, { rules: ruleOf('reveal') })
    const answers = await times(20, () => search(clauses(20)))
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]))
    for (const transform of ['mask', 'redact']) {
      const rules = [
        ...ruleOf(transform, '/a/'),
        { ...ruleOf('reveal')[0], priority: 2, container: '/b/' },
      ]
      const other = await openWorld(504, { rules })
      expect(statusesOf(await times(8, () => other.search('data:a')))).toContain(429)
    }
  })

  // proves C14.19
  test('counts in a list too, by its filter', async () => {
    const { vault, key } = await openWorld(505, { permissions: ['token:read'] })
    const list = (query: string) => vault.ask('GET', `/tokens?${query}`, { key })
    const few = Array.from({ length: guessClausesMax }, (_, index) => `fingerprint=${index}`)
    expect((await list(few.join('&'))).status).toBe(200)
    expect((await list(`${few.join('&')}&fingerprint=one-more`)).status).toBe(400)
    expect(statusesOf(await times(2, () => list('fingerprint=a')))).toEqual([200, 429])
    expect((await list('type=token')).status).toBe(200)
  })

  test('is counted once for a walk', async () => {
    const { vault, key, create } = await openWorld(506, {
      permissions: ['token:create', 'token:search'],
    })
    for (let index = 0; index < 10; index += 1) {
      await create({ data: 'same', search_indexes: ['{{ data }}'], mask: '{{ data | last4 }}' })
    }
    let start: unknown = ''
    let stretches = 0
    while (start !== undefined) {
      const body = { query: 'data:same', start, size: 1 }
      const answer = await vault.ask('POST', '/tokens/search', { key, body })
      expect(answer.status).toBe(200)
      start = (answer.body['pagination'] as { next?: string }).next
      stretches += 1
    }
    expect(stretches).toBe(10)
  })
})

describe('a create', () => {
  const permissions = ['token:create', 'token:read']

  // proves C14.21
  test('that deduplicates is 429 once the minute is spent; others go on', async () => {
    const { vault, create } = await openWorld(507, { permissions })
    const guess = (index: number) => create({ data: index, deduplicate_token: true })
    expect(statusesOf(await times(8, guess))).toEqual([201, 201, 201, 201, 201, 201, 429, 429])
    expect((await create({ data: 1 })).status).toBe(201)
    expect(spentLines(vault).filter(line => line.includes('"create"')).length).toBe(1)
    vault.clock.advance(guessWindowMs)
    expect((await guess(1)).status).toBe(201)
  })

  // proves C14.21, E6.2, S67
  test('counts for each item of a body, and nothing is done beyond', async () => {
    const { vault, key } = await openWorld(508, { permissions })
    const items = (count: number, offset: number) =>
      Array.from({ length: count }, (_, index) => ({
        type: 'token',
        data: offset + index,
        deduplicate_token: true,
      }))
    const tokenize = (count: number, offset: number, mode = 'whole') =>
      vault.ask('POST', `/tokenize?mode=${mode}`, { key, body: items(count, offset) })
    expect((await tokenize(4, 0)).status).toBe(200)
    expect((await tokenize(3, 10)).status).toBe(429)
    expect((await tokenize(3, 10, 'partial')).status).toBe(429)
    expect((await tokenize(2, 20)).status).toBe(200)
    const { body } = await vault.ask('GET', '/tokens', { key })
    expect((body['pagination'] as { total_items: number }).total_items).toBe(6)
  })

  // proves C14.21, E6.3
  test('with an id counts where that is taken, and is refused once all is spent', async () => {
    const { create } = await openWorld(509, { permissions })
    expect((await create({ id: 'taken', data: 1 })).status).toBe(201)
    const fresh = await times(10, index => create({ id: `fresh-${index}`, data: 1 }))
    expect(new Set(statusesOf(fresh))).toEqual(new Set([201]))
    const taken = await times(8, () => create({ id: 'taken', data: 1 }))
    expect(statusesOf(taken)).toEqual([409, 409, 409, 409, 409, 409, 429, 429])
    // Neither answer tells by then whether an id is taken.
    expect((await create({ id: 'another', data: 1 })).status).toBe(429)
    expect((await create({ data: 1 })).status).toBe(201)
  })

  // proves E6.11
  test('counts each id that was tried beside a taken one, where nothing comes to be', async () => {
    const { vault, key, create } = await openWorld(548, { permissions })
    await create({ id: 'taken', data: 1 })
    const tokenize = (mode: string, ids: readonly string[]) => {
      const body = ids.map(id => ({ type: 'token', data: 1, id }))
      return vault.ask('POST', `/tokenize?mode=${mode}`, { key, body })
    }
    expect((await tokenize('partial', ['fresh-1', 'fresh-2', 'taken'])).status).toBe(200)
    const tries = await times(3, () => tokenize('whole', ['free-1', 'free-2', 'taken']))
    expect(statusesOf(tries)).toEqual([409, 409, 429])
    expect((await create({ id: 'taken', data: 1 })).status).toBe(429)
    expect((await create({ data: 1 })).status).toBe(201)
  })

  // proves C14.21
  test('and an update that deduplicates count together', async () => {
    const { vault, key, create } = await openWorld(510, {
      permissions: ['token:create', 'token:update'],
    })
    const { body } = await create({ data: 1, deduplicate_token: true })
    const update = (data: number) =>
      vault.ask('PATCH', `/tokens/${String(body['id'])}`, { key, body: { data } })
    expect(statusesOf(await times(7, update))).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect((await create({ data: 2, deduplicate_token: true })).status).toBe(429)
    const plain = await create({ data: 3 })
    const path = `/tokens/${String(plain.body['id'])}`
    expect((await vault.ask('PATCH', path, { key, body: { data: 4 } })).status).toBe(200)
  })

  test('costs nothing to a caller who sees what is there', async () => {
    const guess = (world: Awaited<ReturnType<typeof openWorld>>) => (index: number) =>
      world.create({ data: index, deduplicate_token: true })
    const seeing = await openWorld(511, { rules: ruleOf('reveal') })
    expect(new Set(statusesOf(await times(10, guess(seeing))))).toEqual(new Set([201]))
    const off = await openWorld(512, { permissions }, { createGuessesPerMinuteMax: 0 })
    expect(new Set(statusesOf(await times(10, guess(off))))).toEqual(new Set([201]))
    const elsewhere = await openWorld(513, {
      rules: [
        ...ruleOf('reveal', '/a/'),
        { ...ruleOf('mask')[0], priority: 2, permissions: ['token:create'] },
      ],
    })
    expect(statusesOf(await times(8, guess(elsewhere)))).toContain(429)
  })
})

describe('a look-up of an id', () => {
  const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

  // proves C14.22, E6.12
  test('that leads nowhere counts; then all are 429, also of what is there', async () => {
    const { vault, key, create } = await openWorld(549, { permissions })
    await create({ id: 'there', data: 1 })
    const ask = (method: string, id: string) =>
      vault.ask(method, `/tokens/${id}`, { key, ...(method === 'PATCH' ? { body: {} } : {}) })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      expect(statusesOf(await times(2, index => ask(method, `no-${index}`)))).toEqual([404, 404])
      if (method !== 'DELETE') {
        expect(statusesOf(await times(9, () => ask('GET', 'there')))).toEqual(Array(9).fill(200))
      }
    }
    const refused = [
      await ask('GET', 'no'),
      await ask('GET', 'there'),
      await ask('DELETE', 'there'),
    ]
    expect(statusesOf(refused)).toEqual([429, 429, 429])
    expect(refused[0]?.headers.get('retry-after')).toBe('60')
    expect(refused[1]?.body['detail']).toBe(refused[0]?.body['detail'])
    expect(spentLines(vault)).toHaveLength(1)
    expect(spentLines(vault).join()).toContain('"lookup"')
    expect(vault.logged.join()).not.toContain('there')
    const other = await vault.application({ type: 'private', permissions })
    expect((await vault.ask('GET', '/tokens/there', { key: other })).status).toBe(200)
    vault.clock.advance(guessWindowMs)
    expect((await ask('GET', 'there')).status).toBe(200)
  })

  // proves C14.22, E6.12
  test('counts for each item to be detokenized under a mask, absent or out of reach', async () => {
    const rules = [{ priority: 1, container: '/a/', transform: 'mask', permissions: ['token:use'] }]
    const { vault, key, create } = await openWorld(550, { rules })
    const owner = await vault.application({ type: 'private', rules: ruleOf('reveal') })
    await create({ id: 'far', data: 1, containers: ['/b/'] }, owner)
    const use = (...ids: readonly string[]) =>
      vault.ask('POST', '/detokenize', { key, body: ids.map(id => `{{ ${id} }}`) })
    expect((await use('no-1', 'no-2', 'far')).status).toBe(400)
    expect(statusesOf(await times(3, () => use('far', 'no-3')))).toEqual([400, 429, 429])
  })

  test('costs nothing to a caller who sees all, and where the budget is off', async () => {
    const look = async (grants: object, settings = small) => {
      const { vault, key } = await openWorld(551, grants, settings)
      return statusesOf(
        await times(9, () => vault.ask('POST', '/detokenize', { key, body: '{{ none }}' })),
      )
    }
    const all = Array(9).fill(400)
    expect(await look({ rules: ruleOf('reveal') })).toEqual(all)
    expect(await look({ permissions: ['token:use'] })).toEqual(all)
    expect(await look({ rules: ruleOf('mask') }, { lookupGuessesPerMinuteMax: 0 })).toEqual(all)
    expect(await look({ rules: ruleOf('mask') })).toContain(429)
  })
})

describe('a create with a chosen id', () => {
  const chosen = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => ({
      type: 'token',
      data: 1,
      id: `${name}-${index}`,
    }))

  // proves C14.23, E6.13
  test('counts whatever becomes of it; beyond that nothing is made', async () => {
    const settings = { chosenIdsPerMinuteMax: 5 }
    const permissions = ['token:create', 'token:read']
    const { vault, key, create } = await openWorld(552, { permissions }, settings)
    const tokenize = (count: number, name: string) =>
      vault.ask('POST', '/tokenize?mode=partial', { key, body: chosen(count, name) })
    expect(statusesOf([await tokenize(3, 'a'), await tokenize(2, 'a')])).toEqual([200, 200])
    expect(statusesOf([await tokenize(1, 'b'), await create({ id: 'c-1', data: 1 })])).toEqual([
      429, 429,
    ])
    expect((await create({ data: 1 })).status).toBe(201)
    const { body } = await vault.ask('GET', '/tokens', { key })
    expect((body['pagination'] as { total_items: number }).total_items).toBe(4)
  })

  // proves C14.24
  test('tells of a token out of reach what it tells of one in the same body', async () => {
    const rules = [{ ...ruleOf('mask', '/a/')[0], permissions: ['token:create'] }]
    const { vault, key, create } = await openWorld(553, { rules }, {})
    const owner = await vault.application({ type: 'private', rules: ruleOf('reveal') })
    await create({ id: 'far', data: 'hidden', containers: ['/b/'] }, owner)
    const item = (id: string) => ({ type: 'token', data: 1, id, containers: ['/a/'] })
    const body = [item('own'), item('own'), item('far')]
    const answer = await vault.ask('POST', '/tokenize?mode=partial', { key, body })
    const results = answer.body['results'] as { status: number; error: object }[]
    expect(results.map(({ status }) => status)).toEqual([201, 409, 409])
    expect(results[2]?.error).toEqual(results[1]?.error ?? {})
    expect(answer.text).not.toContain('hidden')
  })
})

describe('budgets by owner', () => {
  test('each credential has its own', async () => {
    const { vault, search } = await openWorld(514, { permissions: ['token:search'] })
    const other = await vault.application({ type: 'private', permissions: ['token:search'] })
    expect(statusesOf(await times(7, () => search('data:a'))).at(-1)).toBe(429)
    expect((await search('data:a', other)).status).toBe(200)
  })

  // proves E6.5
  test('a session has its own, and all of one application have one together', async () => {
    const vault = await openTestVault(515, small)
    const kit = await openSessionKit(vault)
    const search = (key: string) =>
      vault.ask('POST', '/tokens/search', { key, body: { query: 'data:a' } })
    const guess = async () => {
      const key = await kit.open({ permissions: ['token:search'] })
      return statusesOf(await times(7, () => search(key)))
    }
    for (let session = 0; session < sessionGuessBudgets; session += 1) {
      expect(await guess()).toEqual([200, 200, 200, 200, 200, 200, 429])
    }
    expect(await guess()).toEqual([429, 429, 429, 429, 429, 429, 429])
  })

  test('several processes have a share each', () => {
    const settings = {
      searchGuessesPerMinuteMax: 300,
      createGuessesPerMinuteMax: 0,
      lookupGuessesPerMinuteMax: 6_000,
      chosenIdsPerMinuteMax: 60_000,
    } as Settings
    expect(shareOf(settings, 7)).toEqual({
      searchGuessesPerMinuteMax: 43,
      createGuessesPerMinuteMax: 0,
      lookupGuessesPerMinuteMax: 858,
      chosenIdsPerMinuteMax: 8_572,
    } as Settings)
  })
})

// proves E6.8
test('a create that deduplicates counts where reach is wider than what is revealed', async () => {
  const vault = await openTestVault(519, { createGuessesPerMinuteMax: 2 })
  const rule = { priority: 1, container: '/mine/', transform: 'reveal' }
  const key = await vault.application({
    type: 'private',
    permissions: ['token:create'],
    rules: [{ ...rule, permissions: ['token:read'] }],
  })
  const guess = (data: string) => ({ type: 'token', data, containers: ['/mine/'] })
  const ask = (data: string) =>
    vault.ask('POST', '/tokens', { key, body: { ...guess(data), deduplicate_token: true } })
  const answers = [await ask('a'), await ask('b'), await ask('c')]
  expect(statusesOf(answers)).toEqual([201, 201, 429])
})
