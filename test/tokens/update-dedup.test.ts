/**
 * Updates of tokens with deduplication on, and what their answers leave out.
 * Source: contract section 9; hardening H145.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

let vault: TestVault
let plain: string
/** Reads below `/mine/` alone, and may create and update everywhere. */
let narrow: string

beforeAll(async () => {
  vault = await openTestVault(51)
  plain = await vault.application({ type: 'private', permissions })
  const rules = [
    { priority: 1, container: '/mine/', transform: 'mask', permissions: ['token:read'] },
    {
      priority: 2,
      container: '/',
      transform: 'mask',
      permissions: ['token:create', 'token:update'],
    },
  ]
  narrow = await vault.application({ type: 'private', rules })
})

const create = (body: object, key = plain) =>
  vault.ask('POST', '/tokens', { key, body: { type: 'token', ...body } })
const patch = (id: unknown, body: object, key = plain) =>
  vault.ask('PATCH', `/tokens/${String(id)}`, { key, body })
const extrasOf = ({ body }: Answer): unknown => body['_extras']
const idOf = ({ status, body }: Answer): string => {
  expect(status).toBe(201)
  return String(body['id'])
}

describe('an update with deduplication on', () => {
  // proves A10.21, C8.17
  test('says whether an equal token is there, and otherwise says nothing of it', async () => {
    const own = await create({ data: 'u1', deduplicate_token: true })
    expect(extrasOf(await patch(own.body['id'], { metadata: { a: '1' } }))).toEqual({
      deduplicated: false,
    })
    const off = await create({ data: 'u1 without' })
    expect((await patch(off.body['id'], {})).body).not.toHaveProperty('_extras')
    const turnedOn = await patch(off.body['id'], { deduplicate_token: true })
    expect(extrasOf(turnedOn)).toEqual({ deduplicated: false })
    const turnedOff = await patch(off.body['id'], { deduplicate_token: false })
    expect(turnedOff.body).not.toHaveProperty('_extras')
    const cleared = await patch(own.body['id'], { deduplicate_token: null })
    expect(cleared.body).not.toHaveProperty('_extras')
  })

  test('moves with the data: the new value is found, the old one is free', async () => {
    const own = await create({ data: 'u2 before', deduplicate_token: true })
    const id = idOf(own)
    await patch(id, { data: 'u2 after' })
    expect(idOf(await create({ data: 'u2 after', deduplicate_token: true }))).toBe(id)
    expect(idOf(await create({ data: 'u2 before', deduplicate_token: true }))).not.toBe(id)
  })

  // proves C9.11
  test('that equals another token stays a token of its own', async () => {
    const other = await create({ data: 'u3 other', deduplicate_token: true })
    const own = await create({ data: 'u3 own', deduplicate_token: true, id: 'u3 own' })
    const answer = await patch('u3%20own', { data: 'u3 other' })
    expect(answer.status).toBe(200)
    expect(extrasOf(answer)).toEqual({ deduplicated: true })
    expect(answer.body).toMatchObject({
      id: idOf(own),
      fingerprint: other.body['fingerprint'],
      fingerprint_expression: '{{ data | stringify }}',
      search_indexes: [],
    })
    // The other one still stands for the value, and this one follows when it leaves.
    expect(idOf(await create({ data: 'u3 other', deduplicate_token: true }))).toBe(idOf(other))
    await vault.ask('DELETE', `/tokens/${idOf(other)}`, { key: plain })
    expect(idOf(await create({ data: 'u3 other', deduplicate_token: true }))).toBe('u3 own')
    expect(extrasOf(await patch('u3%20own', {}))).toEqual({ deduplicated: false })
  })

  // proves A10.25, C9.12, H145
  test('leaves out contents when an equal token of its own may not be read', async () => {
    await create({ data: 'canary-u4', containers: ['/theirs/'] }, narrow)
    const mine = { containers: ['/mine/'], mask: '{{ data | last4 }}', metadata: { a: '1' } }
    await create({ data: 'up4', id: 'up4', deduplicate_token: true, ...mine }, narrow)
    const answer = await patch('up4', { data: 'canary-u4' }, narrow)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body).toSorted()).toEqual([
      '_extras',
      'containers',
      'created_at',
      'created_by',
      'fingerprint',
      'id',
      'modified_at',
      'modified_by',
      'tenant_id',
      'type',
    ])
    expect(extrasOf(answer)).toEqual({ deduplicated: true })
    // It was written all the same, and its reader sees it.
    const read = await vault.ask('GET', '/tokens/up4', { key: narrow })
    expect(read.body).toMatchObject({ data: 'y-u4', metadata: { a: '1' } })
  })

  // proves C8.11, E15.4
  test('tells nothing of an equal token that is out of reach', async () => {
    await create({ data: 'u10 other', containers: ['/theirs/'], deduplicate_token: true })
    const mine = { containers: ['/mine/'], mask: '{{ data | last4 }}' }
    const own = { id: 'up10', deduplicate_token: true, ...mine }
    await create({ data: 'up10', ...own }, narrow)
    const before = await patch('up10', { data: 'u10 alone' }, narrow)
    const answer = await patch('up10', { data: 'u10 other' }, narrow)
    expect(extrasOf(answer)).toEqual({ deduplicated: false })
    expect(answer.body).toMatchObject({ data: 'ther', mask: '{{ data | last4 }}' })
    expect(Object.keys(answer.body)).toEqual(Object.keys(before.body))
  })

  // proves C9.12
  test('goes by the oldest of several equal tokens that may be read', async () => {
    await create({ data: 'u11', containers: ['/theirs/'] }, narrow)
    await create({ data: 'u11', containers: ['/mine/'] })
    const mine = { containers: ['/mine/'], mask: '{{ data | last4 }}' }
    await create({ data: 'up11', id: 'up11', deduplicate_token: true, ...mine }, narrow)
    const answer = await patch('up11', { data: 'u11' }, narrow)
    expect(extrasOf(answer)).toEqual({ deduplicated: true })
    expect(answer.body).toMatchObject({
      mask: '{{ data | last4 }}',
      fingerprint_expression: expect.any(String),
    })
  })

  // proves A10.25
  test('shows contents when the equal token may be read', async () => {
    await create({ data: 'u5 other', containers: ['/mine/b/'] })
    const mine = { containers: ['/mine/'], mask: '{{ data | last4 }}' }
    await create({ data: 'up5', id: 'up5', deduplicate_token: true, ...mine }, narrow)
    const answer = await patch('up5', { data: 'u5 other' }, narrow)
    expect(answer.body).toMatchObject({ data: 'ther', mask: '{{ data | last4 }}' })
    expect(extrasOf(answer)).toEqual({ deduplicated: true })
  })

  // proves C9.12
  test('shows contents without deduplication, also where another has the same', async () => {
    await create({ data: 'u6 other', containers: ['/theirs/'] })
    const mine = { containers: ['/mine/'], mask: '{{ data | last4 }}' }
    await create({ data: 'up6', id: 'up6', ...mine }, narrow)
    const answer = await patch('up6', { data: 'u6 other' }, narrow)
    expect(answer.body).toMatchObject({ data: 'ther' })
    expect(answer.body).not.toHaveProperty('_extras')
  })

  test('is refused when there is nothing to deduplicate by, and changes nothing', async () => {
    await create({ data: 'up7', id: 'up7', deduplicate_token: true })
    const path = ['fingerprint_expression']
    expectProblem(await patch('up7', { data: '' }), 400, path)
    const rules = [
      { priority: 1, container: '/', transform: 'reveal', permissions: ['token:update'] },
    ]
    const sees = await vault.application({ type: 'private', rules })
    expectProblem(await patch('up7', { fingerprint_expression: 'canary' }, sees), 400, path)
    await create({ data: '', id: 'u7 empty' })
    expectProblem(await patch('u7%20empty', { deduplicate_token: true }), 400, path)
    expect((await patch('up7', { data: '', deduplicate_token: false })).status).toBe(200)
  })

  test('of two tokens to one value at the same time lets one hold it', async () => {
    const ids = await Promise.all(
      Array.from({ length: 8 }, async (_, index) =>
        idOf(await create({ data: `u8 ${index}`, deduplicate_token: true })),
      ),
    )
    const answers = await Promise.all(ids.map(id => patch(id, { data: 'u8 same' })))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect(answers.filter(({ text }) => text.includes('"deduplicated":false'))).toHaveLength(1)
    const hit = await create({ data: 'u8 same', deduplicate_token: true })
    expect(ids).toContain(idOf(hit))
  })

  test('against creates of the value at the same time never makes a second one', async () => {
    const id = idOf(await create({ data: 'u9 before', deduplicate_token: true }))
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => create({ data: 'u9', deduplicate_token: true })),
      patch(id, { data: 'u9' }),
      ...Array.from({ length: 10 }, () => create({ data: 'u9', deduplicate_token: true })),
    ])
    const created = answers.filter(({ status }) => status === 201).map(idOf)
    expect(created).toHaveLength(20)
    expect(new Set(created).size).toBe(1)
  })
})
