/**
 * Data that a caller cannot see tells nothing: by no answer, no search and no refusal. Source:
 * contract sections 8, 9 and 14.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  hiddenDataStepBytes,
  hiddenMembersStep,
  jsonMembersMax,
  tokenDataBytesMax,
} from '../../src/limits/limits.ts'
import { expectProblem } from '../support/problem.ts'
import { tokenPermissions } from '../support/sessions.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let owner: string
/** May do all under redact, and nothing else. */
let blind: string
let masking: string
let revealing: string

const under = (transform: string) => ({
  type: 'private',
  rules: [{ priority: 1, container: '/', transform, permissions: tokenPermissions }],
})

beforeAll(async () => {
  vault = await openTestVault(211)
  owner = await vault.application({ type: 'private', permissions: tokenPermissions })
  blind = await vault.application(under('redact'))
  masking = await vault.application(under('mask'))
  revealing = await vault.application(under('reveal'))
})

const create = async (body: object, key = owner) => {
  const answer = await vault.ask('POST', '/tokens', { key, body: { type: 'token', ...body } })
  expect(answer.status).toBe(201)
  return answer
}
const patch = (id: string, body: object, key = blind) =>
  vault.ask('PATCH', `/tokens/${id}`, { key, body })

interface Found {
  readonly ids: readonly string[]
  readonly total: number
}

async function search(key: string, query: string): Promise<Found> {
  const { body } = await vault.ask('POST', '/tokens/search', { key, body: { query } })
  const ids = (body['data'] as { id: string }[]).map(({ id }) => id)
  return { ids, total: (body['pagination'] as { total_items: number }).total_items }
}

describe('E11: a fingerprint', () => {
  // proves C8.15, E11.2
  test('is in no answer where the transform redacts, and in all others', async () => {
    const shownTo = async (key: string) => {
      const body = { type: 'token', data: 'f1', id: `f1 ${key.slice(-4)}` }
      const path = `/tokens/${encodeURIComponent(body.id)}`
      const query = { query: `id:"${body.id}"` }
      const answers = [
        await vault.ask('POST', '/tokens', { key, body }),
        await vault.ask('GET', path, { key }),
        await vault.ask('GET', `/tokens?id=${encodeURIComponent(body.id)}`, { key }),
        await vault.ask('POST', '/tokens/search', { key, body: query }),
        await vault.ask('PATCH', path, { key, body: { metadata: { a: '1' } } }),
        await vault.ask('POST', '/tokenize', { key, body: { type: 'token', data: 'f1' } }),
      ]
      return answers.map(({ status, text }) => [status, text.includes('"fingerprint":')])
    }
    const statuses = [201, 200, 200, 200, 200, 200]
    expect(await shownTo(blind)).toEqual(statuses.map(status => [status, false]))
    expect(await shownTo(masking)).toEqual(statuses.map(status => [status, true]))
    expect(await shownTo(revealing)).toEqual(statuses.map(status => [status, true]))
  })

  // proves C14.26, E11.2, S46
  test('that equals that of a guess finds nothing where the transform redacts', async () => {
    const guess = await create({ data: 'f2', id: 'f2-id' })
    const fingerprint = String(guess.body['fingerprint'])
    const filter = `/tokens?fingerprint=${fingerprint}`
    const totals = async (key: string) => {
      const { body } = await vault.ask('GET', filter, { key })
      const found = await search(key, `fingerprint:${fingerprint}`)
      return [(body['pagination'] as { total_items: number }).total_items, found.total]
    }
    expect(await totals(blind)).toEqual([0, 0])
    expect(await totals(masking)).toEqual([1, 1])
    const negated = await search(blind, `id:f2-id AND NOT fingerprint:${fingerprint}`)
    expect(negated.ids).toEqual(['f2-id'])
  })

  test('is tried only where it is shown by a caller of several transforms', async () => {
    const permissions = ['token:read', 'token:search']
    const key = await vault.application({
      type: 'private',
      permissions,
      rules: [{ priority: 1, container: '/dark/', transform: 'redact', permissions }],
    })
    const { body } = await create({ data: 'f3', id: 'f3-dark', containers: ['/dark/'] })
    await create({ data: 'f3', id: 'f3-light' })
    const fingerprint = String(body['fingerprint'])
    const { text } = await vault.ask('GET', `/tokens?fingerprint=${fingerprint}`, { key })
    expect([text.includes('f3-light'), text.includes('f3-dark')]).toEqual([true, false])
    expect((await search(key, `fingerprint:${fingerprint}`)).ids).toEqual(['f3-light'])
  })
})

describe('E11: a token whose mask shows nothing', () => {
  const value = 'm4rker'
  const indexed = { data: { a: value, b: null }, search_indexes: ['{{ data.a }}'] }
  const blanks: Readonly<Record<string, unknown>> = {
    'no-mask': null,
    'null-mask': '{{ data.b }}',
    'failing-mask': '{{ data | reveal_last: 4 }}',
    'constant-mask': { a: 'hidden', b: 7 },
    'empty-mask': ['{{ data.b }}', '{{ data.c }}'],
  }

  beforeAll(async () => {
    for (const [id, mask] of Object.entries(blanks)) await create({ ...indexed, id, mask })
    await create({ ...indexed, id: 'with-mask', mask: '{{ data.a | last4 }}' })
    await create({ id: 'ssn', type: 'social_security_number', data: '111-22-3333' })
  })

  // proves C14.27, E11.1, S46
  test('is not found by its data under mask, and is by one who reveals', async () => {
    expect(await search(masking, `data:${value}`)).toEqual({ ids: ['with-mask'], total: 1 })
    expect(await search(masking, 'data:3333')).toEqual({ ids: ['ssn'], total: 1 })
    expect((await search(revealing, `data:${value}`)).total).toBe(6)
    expect((await search(blind, `data:${value}`)).total).toBe(0)
  })

  // proves E11.1
  test('is not found by it where the default mask of its type shows nothing of it', async () => {
    const address = { type: 'address', search_indexes: ['{{ data }}', '{{ data.city }}'] }
    await create({ ...address, id: 'of-text', data: 'pl4ce' })
    await create({
      ...address,
      id: 'of-no-country',
      data: { city: 'pl4ce' },
      search_indexes: ['{{ data.city }}'],
    })
    await create({
      ...address,
      id: 'of-country',
      data: { city: 'pl4ce', country: 'FR' },
      search_indexes: ['{{ data.city }}'],
    })
    expect(await search(masking, 'data:pl4ce')).toEqual({ ids: ['of-country'], total: 1 })
    expect((await search(revealing, 'data:pl4ce')).total).toBe(3)
  })

  // proves C14.27
  test('matches every negation, whatever it holds', async () => {
    const ids = Object.keys(blanks)
    const anyOf = ids.map(id => `id:${id}`).join(' OR ')
    for (const guess of [value, 'other']) {
      const found = await search(masking, `(${anyOf}) AND NOT data:${guess}`)
      expect(found.ids.toSorted()).toEqual(ids.toSorted())
    }
    expect((await search(revealing, `(${anyOf}) AND NOT data:${value}`)).total).toBe(0)
  })

  test('follows a change of its mask or its data', async () => {
    await create({ ...indexed, data: { a: 'ch4nged' }, id: 'changing', mask: null })
    const found = () => search(masking, 'data:ch4nged')
    expect((await found()).total).toBe(0)
    const shown = { mask: '{{ data.a | last4 }}' }
    expect((await patch('changing', shown, revealing)).status).toBe(200)
    expect((await found()).total).toBe(1)
    expect((await patch('changing', { mask: null }, revealing)).status).toBe(200)
    expect((await found()).total).toBe(0)
  })
})

describe('E11: a change by one who sees nothing', () => {
  /** Returns true if data with this many hidden bytes takes a patch that adds so many. */
  const takes = async (key: string, hiddenBytes: number, addedBytes: number) => {
    const id = `size-${hiddenBytes}-${addedBytes}-${key}`
    await create({ id, data: { a: 'x'.repeat(hiddenBytes - '{"a":""}'.length) } })
    const data = { b: 'y'.repeat(addedBytes - '{"b":""}'.length) }
    const answer = await patch(id, { data }, key)
    expect([200, 400]).toContain(answer.status)
    return answer.status === 200
  }

  // proves C9.13, E11.3, S46
  test.each(['redact', 'mask'])(
    'under %s tells the length of hidden data in steps of 16 KiB only',
    async as => {
      const key = as === 'mask' ? masking : blind
      const step = hiddenDataStepBytes
      const room = tokenDataBytesMax - 4 * step
      for (const hidden of [3 * step + 1, 3 * step + 777, 4 * step]) {
        expect(await takes(key, hidden, room)).toBe(true)
        expect(await takes(key, hidden, room + 1)).toBe(false)
      }
      expect(await takes(key, 4 * step + 1, room)).toBe(false)
      expect(await takes(key, 4 * step + 1, room - step)).toBe(true)
    },
    300_000,
  )

  // proves E11.3, S46
  test('tells no length by a fingerprint of numbers printed longer than sent', async () => {
    const raw = `{"data":{"b":[${Array(23_600).fill('1e20').join()}]}}`
    const sent = (id: string, key: string) => vault.ask('PATCH', `/tokens/${id}`, { key, raw })
    for (const hidden of [100, 9_000]) {
      const id = `printed-${hidden}`
      await create({ id, data: { a: 'x'.repeat(hidden) } })
      expect((await sent(id, blind)).status).toBe(200)
      const { status, body } = await sent(id, masking)
      expect(status).toBe(200)
      const seen = await sent(id, revealing)
      if (hidden === 100) expect(seen.body['fingerprint']).toBe(body['fingerprint'])
      else expectProblem(seen, 400, ['fingerprint_expression'])
    }
  })

  // proves C9.13, E11.5
  test.each([
    ['nothing', 'redact'],
    ['a mask, and there is none', 'mask'],
  ])(
    'who sees %s, tells members in steps of 1,000, and none by its name',
    async (_, as) => {
      const key = as === 'mask' ? masking : blind
      const members = (count: number, prefix: string) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 0]))
      const room = jsonMembersMax - 2 * hiddenMembersStep
      for (const [at, hidden] of [hiddenMembersStep + 1, 2 * hiddenMembersStep].entries()) {
        const id = `members-${as}-${at}`
        await create({ id, data: { ...members(hidden, 'hidden'), within: { deep: 1 } } })
        const takes = async (data: object) => (await patch(id, { data }, key)).status === 200
        const tooMany = members(room + 1, 'hidden')
        expect([await takes(tooMany), await takes({ ...tooMany, hidden0: null })]).toEqual([
          false,
          false,
        ])
        const within = jsonMembersMax - hiddenMembersStep
        for (const name of ['within', 'absent']) {
          expect(await takes({ [name]: members(within + 1, 'a') })).toBe(false)
        }
        expect(await takes(members(room, 'hidden'))).toBe(at === 0)
      }
    },
    300_000,
  )

  // proves E11.6
  test('tells no length of a hidden number by a mask that shows more', async () => {
    const mask = { n: '{{ data.number | slice: 0, 10 }}' }
    const change = async (id: string, data: object, key = blind) =>
      (await patch(id, { data }, key)).status
    for (const number of ['4242424242424242', '378282246310005']) {
      const id = `wide-${number.length}`
      await create({ id, type: 'card', data: { number }, mask }, revealing)
      for (const other of ['4111111111111111', '371449635398431']) {
        expect(await change(id, { number: other })).toBe(403)
      }
      expect(await change(id, { holder: 'x' })).toBe(200)
      expect(await change(id, { number }, masking)).toBe(200)
    }
    await create({ id: 'narrow', type: 'card', data: { number: '4242424242424242' } })
    expect(await change('narrow', { number: '371449635398431' })).toBe(200)
  })

  // proves E11.4
  test('is refused for other expressions before any is evaluated', async () => {
    await create({ id: 'expr', data: { a: 'text', n: 4 } })
    for (const filter of ['last4', 'divided_by: 0', 'json: "$.a"']) {
      const expression = `{{ data.a | ${filter} }}`
      for (const body of [
        { mask: expression },
        { search_indexes: [expression] },
        { fingerprint_expression: expression },
      ]) {
        expectProblem(await patch('expr', body), 403)
      }
    }
  })

  // proves E11.4, S57
  test('is refused so where a mask is shown too, by a public key as by others', async () => {
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:update'] }
    const shop = await vault.application({ type: 'public', permissions: ['token:update'] })
    const sees = await vault.application({ type: 'private', rules: [rule] })
    for (const [id, type, data] of [
      ['masked card', 'card', { number: '4000056655665556' }],
      ['masked text', 'token', { number: '4000056655665556' }],
    ] as const) {
      await create({ id, type, data, mask: { number: '{{ data.number | last4 }}' } })
      // Fails on the hidden first digit, and on no other one.
      for (const digit of ['4', '5']) {
        const text = `{{ data.number | slice: 0, 1 | replace: '${digit}', 'x' | to_number }}`
        for (const body of [
          { search_indexes: [text] },
          { fingerprint_expression: text },
          { mask: { number: '{{ data.number | last4 }}', first: text } },
          { mask: '{{ data.number }}' },
        ]) {
          for (const key of [shop, masking]) expectProblem(await patch(id, body, key), 403)
        }
      }
      const failing = "{{ data.number | replace: '4', 'x' | to_number }}"
      const refused = await patch(id, { search_indexes: [failing] }, sees)
      expectProblem(refused, 400, ['search_indexes[0]'])
      expect((await patch(id, { search_indexes: ['{{ data.number }}'] }, sees)).status).toBe(200)
    }
  })

  // proves E11.4
  test('is told nothing by search indexes that hidden data makes too long', async () => {
    const long = { data: { a: 'x'.repeat(900) }, search_indexes: ['{{ data | stringify }}'] }
    await create({ id: 'index', ...long })
    for (const count of [10, 85, 95, 500]) {
      expect((await patch('index', { data: { b: 'y'.repeat(count) } })).status).toBe(200)
    }
    const body = { data: { b: 'y'.repeat(500) } }
    expectProblem(await patch('index', body, revealing), 400, ['search_indexes[0]'])
  })

  // proves E11.4
  test('is told nothing by a mask that shows what it adds', async () => {
    const mask = { note: '{{ data.note }}' }
    await create({ id: 'card', type: 'card', data: { number: '4242424242424242' }, mask })
    for (const note of ['4242424242424242', '5555555555554444']) {
      expect((await patch('card', { data: { note } })).status).toBe(200)
    }
    const both = { number: '5555555555554444', note: '5555555555554444' }
    expectProblem(await patch('card', { data: both }), 400, ['mask'])
    // The note is hidden as well: it confirms no number that takes the place of the card's.
    expect((await patch('card', { data: { number: both.note } })).status).toBe(200)
    expect((await patch('card', { data: { number: '4242424242424242' } })).status).toBe(200)
    for (const note of ['4242424242424242', '5555555555554444, 4242424242424242']) {
      expect((await patch('card', { data: { note } }, masking)).status).toBe(200)
      expectProblem(await patch('card', { data: { note } }, revealing), 400, ['mask'])
    }
    expectProblem(await patch('card', { data: both }, masking), 400, ['mask'])
  })
})
