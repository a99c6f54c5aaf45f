/**
 * Token settings of an operator: strict masks, the mask guard, the guard against card numbers where
 * none belongs. Source: contract sections 6 and 7; hardening finding 9, T20.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:use']
const cardNumber = '4242424242424242'
const card = { number: cardNumber }

const loose = { strictMasks: false }

const rulesOf = (transform: string) => [{ priority: 1, container: '/', transform, permissions }]

const changes: readonly (readonly [string, object])[] = [
  ['mask', { mask: '{{ data }}' }],
  ['no mask', { mask: null }],
  ['search indexes', { search_indexes: ['{{ data | slice: 0 }}'] }],
  ['no search indexes', { search_indexes: null }],
  ['fingerprint expression', { fingerprint_expression: '{{ data | slice: 0 }}' }],
  ['default fingerprint expression', { fingerprint_expression: null }],
]

/** Token that each of the changes does change. */
const secret = {
  type: 'token',
  data: 'canary',
  mask: '{{ data | reveal_last: 1 }}',
  search_indexes: ['{{ data }}'],
  fingerprint_expression: '{{ data }}',
}

describe('with strict masks, as by default,', () => {
  let vault: TestVault
  const keys: Record<string, string> = {}

  beforeAll(async () => {
    vault = await openTestVault(71)
    for (const transform of ['redact', 'mask', 'reveal']) {
      const rules = rulesOf(transform)
      keys[transform] = await vault.application({ type: 'private', rules })
    }
    keys['plain'] = await vault.application({ type: 'private', permissions })
  })

  const create = async (): Promise<string> => {
    const ask = { key: keys['plain'] ?? '', body: secret }
    return String((await vault.ask('POST', '/tokens', ask)).body['id'])
  }
  const ask = (method: string, id: string, caller: string, body?: object) =>
    vault.ask(method, `/tokens/${id}`, { key: keys[caller] ?? '', ...(body ? { body } : {}) })

  // proves C6.43, H97, S57
  test.each(changes)('%s can be changed only by a caller who sees the data', async (_, body) => {
    const id = await create()
    const before = (await ask('GET', id, 'reveal')).text
    for (const caller of ['plain', 'mask', 'redact']) {
      expectProblem(await ask('PATCH', id, caller, body), 403)
    }
    expect((await ask('GET', id, 'reveal')).text).toBe(before)
    expect((await ask('PATCH', id, 'reveal', body)).status).toBe(200)
  })

  test('a fault is told before the refusal, and an absent token stays absent', async () => {
    const id = await create()
    expectProblem(await ask('PATCH', id, 'plain', { mask: '{{ data | canary }}' }), 400, ['mask'])
    expectProblem(await ask('PATCH', 'absent', 'plain', { mask: '{{ data }}' }), 404)
  })

  test('all else can be changed as ever, and so can what stays the same', async () => {
    const id = await create()
    const { type: _, data: __, ...same } = secret
    const body = { ...same, data: 'canary 2', metadata: { a: '1' }, containers: ['/b/'] }
    const answer = await ask('PATCH', id, 'plain', body)
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('canary')
  })

  // proves H97
  test('the mask of what is no card is chosen freely on create', async () => {
    const body = { ...secret, mask: '{{ data }}' }
    const answer = await vault.ask('POST', '/tokens', { key: keys['mask'] ?? '', body })
    expect([answer.status, answer.body['data']]).toEqual([201, 'canary'])
  })
})

describe('a caller who sees nothing of a token', () => {
  const changes = [
    { mask: '{{ data }}' },
    { search_indexes: ['{{ data | slice: 0, 1 }}'] },
    { fingerprint_expression: '{{ data | slice: 0, 1 }}' },
  ]

  test.each(changes)('may not change how it is shown or compared: %j', async change => {
    const vault = await openTestVault(75)
    const permissions = ['token:create', 'token:update']
    const maker = await vault.application({ type: 'private', permissions })
    const rules = [{ priority: 1, container: '/', transform: 'redact', permissions }]
    const key = await vault.application({ type: 'public', rules })
    const body = { id: 'unseen', type: 'token', data: 'canary' }
    expect((await vault.ask('POST', '/tokens', { key: maker, body })).status).toBe(201)
    const answer = await vault.ask('PATCH', '/tokens/unseen', { key, body: change })
    expect(answer.status).toBe(403)
    expect(answer.text).not.toContain('canary')
    const allowed = await vault.ask('PATCH', '/tokens/unseen', { key, body: { data: 'other' } })
    expect(allowed.status).toBe(200)
    expect(allowed.body).not.toHaveProperty('data')
  })
})

// proves C9.10
test('a token that moves to where its caller sees nothing is shown as there', async () => {
  const vault = await openTestVault(76)
  const permissions = ['token:create', 'token:update']
  const rules = [
    { priority: 1, container: '/open/', transform: 'mask', permissions },
    { priority: 2, container: '/closed/', transform: 'redact', permissions },
  ]
  const key = await vault.application({ type: 'private', rules })
  const card = { type: 'card_number', data: '4242424242424242', containers: ['/open/'] }
  const made = await vault.ask('POST', '/tokens', { key, body: { id: 'moving', ...card } })
  expect(made.body['data']).toBe('XXXXXXXXXXXX4242')
  const moved = await vault.ask('PATCH', '/tokens/moving', {
    key,
    body: { containers: ['/closed/'] },
  })
  expect(moved.status).toBe(200)
  expect(moved.body).not.toHaveProperty('data')
})

test('a mask that is too long is refused', async () => {
  const vault = await openTestVault(77)
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const create = (mask: unknown) =>
    vault.ask('POST', '/tokens', { key, body: { type: 'token', data: 1, mask } })
  expect((await create({ ['n'.repeat(16_000)]: '{{ data }}' })).status).toBe(201)
  expect((await create({ ['n'.repeat(17_000)]: '{{ data }}' })).body['errors']).toHaveProperty(
    'mask',
  )
})

describe('without strict masks', () => {
  // proves C6.43
  test.each(changes)('%s can be changed by a caller who may update', async (_, body) => {
    const vault = await openTestVault(72, loose)
    const key = await vault.application({ type: 'private', permissions })
    const made = await vault.ask('POST', '/tokens', { key, body: secret })
    const path = `/tokens/${String(made.body['id'])}`
    expect((await vault.ask('PATCH', path, { key, body })).status).toBe(200)
  })

  // proves S56
  test('the mask of a card still has to hide part of its number', async () => {
    const vault = await openTestVault(73, loose)
    const key = await vault.application({ type: 'private', permissions })
    const made = await vault.ask('POST', '/tokens', { key, body: { type: 'card', data: card } })
    const path = `/tokens/${String(made.body['id'])}`
    for (const mask of ['{{ data.number }}', { number: 'is {{ data.number }}' }]) {
      const answer = await vault.ask('PATCH', path, { key, body: { mask } })
      expectProblem(answer, 400, ['mask'], [cardNumber])
    }
  })
})

describe('the guards', () => {
  const guarded: readonly (readonly [string, object, string])[] = [
    ['a mask that shows a card number', { mask: { number: '{{ data.number }}' } }, 'mask'],
    ['a card number in metadata', { metadata: { order: cardNumber } }, 'metadata.order'],
    ['a card number as metadata name', { metadata: { [cardNumber]: '1' } }, 'metadata[0]'],
    ['a card number as container', { containers: [`/${cardNumber}/`] }, 'containers[0]'],
  ]

  // proves C6.39, C7.17, H65
  test.each(guarded)('refuse %s, on create and on update', async (_, members, path) => {
    const vault = await openTestVault(74)
    const key = await vault.application({ type: 'private', permissions })
    const body = { id: 'guarded', type: 'card', data: card }
    const refused = await vault.ask('POST', '/tokens', { key, body: { ...body, ...members } })
    expectProblem(refused, 400, [path], [cardNumber])
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    const sees = await vault.application({ type: 'private', rules: rulesOf('reveal') })
    const patched = await vault.ask('PATCH', '/tokens/guarded', { key: sees, body: members })
    expectProblem(patched, 400, [path], [cardNumber])
  })

  // proves C6.39, C7.17
  test.each(guarded)('let %s pass when they are off', async (_, members) => {
    const vault = await openTestVault(75, { maskGuard: false, cardNumberGuard: false })
    const key = await vault.application({ type: 'private', rules: rulesOf('reveal') })
    const body = { id: 'unguarded', type: 'card', data: card }
    const made = await vault.ask('POST', '/tokens', { key, body: { ...body, ...members } })
    expect(made.status).toBe(201)
    const patched = await vault.ask('PATCH', '/tokens/unguarded', { key, body: members })
    expect(patched.status).toBe(200)
  })

  test('are apart: each can be off alone', async () => {
    const maskOff = await openTestVault(76, { maskGuard: false })
    const key = await maskOff.application({ type: 'private', permissions })
    const body = { type: 'card', data: card, metadata: { order: cardNumber } }
    expectProblem(await maskOff.ask('POST', '/tokens', { key, body }), 400, ['metadata.order'])
    const numbersOff = await openTestVault(77, { cardNumberGuard: false })
    const other = await numbersOff.application({ type: 'private', permissions })
    const masked = { ...body, mask: '{{ data.number }}' }
    const answer = await numbersOff.ask('POST', '/tokens', { key: other, body: masked })
    expectProblem(answer, 400, ['mask'], [cardNumber])
  })

  test('of ids hold without them: no expression gives the number of its token away', async () => {
    const vault = await openTestVault(78, { maskGuard: false, cardNumberGuard: false })
    const key = await vault.application({ type: 'private', permissions })
    const body = { type: 'card', data: card, id: '{{ data.number }}' }
    expectProblem(await vault.ask('POST', '/tokens', { key, body }), 400, ['id'], [cardNumber])
    const loose = { type: 'token', data: { order: cardNumber }, id: '{{ data.order }}' }
    expect((await vault.ask('POST', '/tokens', { key, body: loose })).status).toBe(201)
  })
})
