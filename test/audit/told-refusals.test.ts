/**
 * A refusal that tells what expressions make of revealed data is entered as the read that it is.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AnswerEvent } from '../../src/deps.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { entriesOf } from '../support/audit-log.ts'
import { tokenPermissions } from '../support/sessions.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const ssn = '123-45-6789'

let vault: TestVault
let revealing: string
let masking: string
let manager: string
beforeAll(async () => {
  vault = await openTestVault(72)
  const under = (transform: string) =>
    vault.application({
      type: 'private',
      rules: [{ priority: 1, container: '/', transform, permissions: tokenPermissions }],
    })
  revealing = await under('reveal')
  masking = await under('mask')
  manager = await vault.application({ type: 'management', permissions: ['log:read'] })
  const body = { id: 'ssn', type: 'social_security_number', data: ssn }
  expect((await vault.ask('POST', '/tokens', { key: revealing, body })).status).toBe(201)
})
afterAll(() => vault.deps.store.close())

/** Fails if the first digit is this one. */
const first = (digit: number) => `slice: 0, 1 | replace: '${digit}', 'x' | to_number`
const references = [1, 2].map(digit => `{{ ssn | ${first(digit)} }}`)
const path = '/tokens/ssn'

async function entryBy(method: string, at: string, key: string, body: unknown) {
  const { status } = await vault.ask(method, at, { key, body })
  const { line } = (await entriesOf(vault)).at(-1) ?? { line: '{}' }
  return { status, entry: JSON.parse(line) as Record<string, unknown> }
}

describe('a refusal', () => {
  // proves S91
  test('of references whose filters fail by the data says what was shown', async () => {
    const shown = { operation: 'detokenize', result: 400, entity_id: 'ssn' }
    const revealed = await entryBy('POST', '/detokenize', revealing, references)
    expect(revealed.entry).toMatchObject({ ...shown, transform: 'reveal' })
    const masked = await entryBy('POST', '/detokenize', masking, references)
    expect(masked).toMatchObject({ status: 400, entry: { ...shown, transform: 'mask' } })
  })

  test('of references without a filter tells of no data, and says so', async () => {
    const body = ['{{ ssn }}', '{{ no-such-token }}']
    const { status, entry } = await entryBy('POST', '/detokenize', revealing, body)
    expect(status).toBe(400)
    expect(entry).not.toHaveProperty('transform')
  })

  // proves S91
  test.each([
    { search_indexes: [`{{ data | ${first(1)} }}`] },
    { fingerprint_expression: `{{ data | ${first(1)} }}` },
  ])('of other expressions says so as well: %j', async body => {
    const { entry } = await entryBy('PATCH', path, revealing, body)
    const told = { operation: 'updateToken', result: 400, transform: 'reveal', entity_id: 'ssn' }
    expect(entry).toMatchObject(told)
    const untried = await entryBy('PATCH', path, masking, body)
    expect(untried.status).toBe(403)
    expect(untried.entry).not.toHaveProperty('transform')
    const wrong = await entryBy('PATCH', path, revealing, { data: 'no number' })
    expect(wrong.status).toBe(400)
    expect(wrong.entry).not.toHaveProperty('transform')
  })

  // proves S91
  test('of a part that a mask would show beside hidden digits says so as well', async () => {
    const [number, other] = ['4000056655665556', '5555555555554444']
    const mask = { number: '{{ data.number | last4 }}', holder: '{{ data.holder }}' }
    const body = { id: 'card', type: 'card', data: { number, holder: 'a' }, mask }
    expect((await vault.ask('POST', '/tokens', { key: revealing, body })).status).toBe(201)
    const guess = (holder: string, more: object = {}) =>
      entryBy('PATCH', '/tokens/card', revealing, { data: { holder, ...more } })
    const told = { operation: 'updateToken', transform: 'reveal', entity_id: 'card' }
    const right = await guess(`${other}, ${number}`)
    expect(right).toMatchObject({ status: 400, entry: { ...told, result: 400 } })
    const wrong = await guess('b', { expiration_month: 13 })
    expect(wrong.status).toBe(400)
    expect(wrong.entry).not.toHaveProperty('transform')
    expect((await guess(other)).status).toBe(200)
  })

  // proves C18.12, S91
  test('is an event of a reveal where it tells of plaintext, and else none', async () => {
    const { next } = await vault.deps.store.logRange()
    await entryBy('POST', '/detokenize', masking, references)
    await entryBy('POST', '/detokenize', revealing, '{{ no-such-token }}')
    const { entry } = await entryBy('POST', '/detokenize', revealing, references)
    expect(entry).toMatchObject({ result: 400 })
    const feed = `/events?after=${next - 1}&types=token.revealed,token.read`
    const { text } = await vault.ask('GET', feed, { key: manager })
    const events = text.trim().split('\n').slice(0, -1)
    expect(events.map(line => JSON.parse(line))).toMatchObject([
      { type: 'token.revealed', data: { token: { id: 'ssn' } } },
    ])
  })

  // proves S91
  test('is told of by the log of requests as by that of the audit', async () => {
    const seen: AnswerEvent[] = []
    const app = buildApp({ ...vault.deps, observe: one => void seen.push(one) })
    const ask = (method: string, at: string, key: string, body: unknown) =>
      app.handle(requestOf(method, at, { key, body }))
    const other = { search_indexes: [`{{ data | ${first(1)} }}`] }
    await ask('POST', '/detokenize', revealing, references)
    await ask('POST', '/detokenize', masking, references)
    await ask('PATCH', path, revealing, other)
    await ask('PATCH', path, masking, other)
    await ask('POST', '/detokenize', revealing, ['{{ ssn }}', '{{ no-such-token }}'])
    expect(seen.map(({ status, shown }) => [status, shown])).toEqual([
      [400, { reveal: 1, mask: 0, redact: 0 }],
      [400, { reveal: 0, mask: 1, redact: 0 }],
      [400, { reveal: 1, mask: 0, redact: 0 }],
      [403, undefined],
      [400, undefined],
    ])
    const digested = seen.map(({ more }) => more().tokenDigest !== undefined)
    expect(digested).toEqual([false, false, true, false, false])
  })

  // proves S91
  test('tells nothing where its entry cannot be written', async () => {
    const { deps } = vault
    const full = new ApiError('storage_full', 'The storage is full. Masked reads go on.')
    const audit = { ...deps.audit, record: () => Promise.reject(full) }
    const app = buildApp({ ...deps, audit })
    const ask = (key: string) =>
      app.handle(requestOf('POST', '/detokenize', { key, body: references }))
    const refused = await ask(revealing)
    expect(refused.status).toBe(507)
    expect(await refused.text()).not.toContain('[0]')
    expect((await ask(masking)).status).toBe(400)
  })
})
