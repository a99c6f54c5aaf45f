/**
 * The reason that a caller states: in its entry of the audit log, and nowhere else.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { statedReasonCharsMax } from '../../src/limits/limits.ts'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let desk: string
beforeAll(async () => {
  vault = await openTestVault(311, { headerPrefix: ['bt'] })
  const permissions = ['token:create', 'token:read']
  desk = await vault.application({
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions }],
  })
  const body = { id: 'asked', type: 'token', data: 'x' }
  expect((await vault.ask('POST', '/tokens', { key: desk, body })).status).toBe(201)
})

/** Reads the token. @returns the answer, and the last entry as it is exported */
async function readStating(headers: Readonly<Record<string, string>>, key = desk) {
  const answer = await vault.ask('GET', '/tokens/asked', { key, headers })
  const [last] = (await entriesOf(vault)).slice(-1)
  return { answer, line: last?.line ?? '', entry: JSON.parse(last?.line ?? '{}') }
}

describe('a stated reason', () => {
  // proves C1.60, C17.10
  test.each([
    ['Case 17: the customer asked', 'Case 17: the customer asked'],
    ['100%25 sure', '100% sure'],
    ['R%C3%BCckfrage%20%E2%9C%93', 'Rückfrage ✓'],
    ['%F0%9F%92%B3', '💳'],
    ['x'.repeat(statedReasonCharsMax), 'x'.repeat(statedReasonCharsMax)],
  ])('%p is in the entry, and not in the answer or the request log', async (sent, stated) => {
    const { answer, entry } = await readStating({ 'SVC-REASON': sent })
    expect(answer.status).toBe(200)
    expect(entry).toMatchObject({ operation: 'getToken', stated_reason: stated, result: 200 })
    expect(answer.text).not.toContain(stated)
    expect(vault.logged.join('\n')).not.toContain(stated)
  })

  // proves C17.10
  test('is what GET /logs tells of the entry', async () => {
    await readStating({ 'bt-reason': 'Case 18' })
    const asked = { key: vault.managementKey }
    const { body } = await vault.ask('GET', '/logs?operation=getToken&size=1', asked)
    expect(body['data']).toEqual([expect.objectContaining({ stated_reason: 'Case 18' })])
  })

  test('stands beside the code of an error', async () => {
    const headers = { 'SVC-REASON': 'Case 19' }
    await vault.ask('GET', '/tokens/absent', { key: desk, headers })
    const [last] = (await entriesOf(vault)).slice(-1)
    const entry = { reason: 'not_found', stated_reason: 'Case 19' }
    expect(JSON.parse(last?.line ?? '')).toMatchObject(entry)
  })

  // proves E24.12
  test.each([
    ['empty', ''],
    ['blank', '%20'],
    ['of characters without an image', '%E2%80%8B%E3%85%A4%E2%A0%80'],
    ['too long', 'x'.repeat(statedReasonCharsMax + 1)],
    ['a percent sign alone', '100% sure'],
    ['no UTF-8', '%ff'],
    ['Latin-1', 'caf\u00e9'],
    ['a tab', 'a\tb'],
    ['an end of a line', 'a%0ab'],
    ['what turns text around', 'a%E2%80%AEb'],
    ['a card number', 'for 4242424242424242'],
    ['a card number in groups', '4242 4242.4242-4242'],
    ['a card number in wide digits', encodeURIComponent('４２４２４２４２４２４２４２４２')],
    ['a card number in Arabic-Indic digits', encodeURIComponent('٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢')],
    ['a card number in mathematical digits', encodeURIComponent('𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐')],
    ['a percent-encoded card number', '%34242424242424242'],
    ['two that differ', ''],
  ])('that is %s is refused, and repeated nowhere', async (name, sent) => {
    const headers: Record<string, string> =
      name === 'two that differ'
        ? { 'SVC-REASON': 'one', 'bt-reason': 'two' }
        : { 'SVC-REASON': sent }
    const { answer, line, entry } = await readStating(headers)
    expect([answer.status, Object.keys(answer.body['errors'] ?? {})]).toEqual([400, ['SVC-REASON']])
    expect(entry).toMatchObject({ operation: 'getToken', reason: 'invalid_request' })
    for (const place of [answer.text, line, vault.logged.join('\n')]) {
      expect(place).not.toContain('4242')
      expect(place).not.toContain('stated_reason')
    }
  })

  // proves E24.12
  test('that holds a key is refused', async () => {
    const { answer } = await readStating({ 'SVC-REASON': `by ${desk}` })
    expect(answer.status).toBe(400)
    expect(answer.text).not.toContain(desk)
  })

  // proves C17.10
  test('of a request without a live key is not kept', async () => {
    const { answer, line } = await readStating({ 'SVC-REASON': 'Case 20' }, 'key_wrong')
    expect(answer.status).toBe(401)
    expect(line).not.toContain('Case 20')
  })
})
