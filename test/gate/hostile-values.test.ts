/**
 * Values that are hostile by their name, shape or number, and by no rule of JSON. Groups C to G of
 * docs/hostile-inputs.md, as far as they stand in no test of their own.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { searchIndexesMax } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:search']

let vault: TestVault
/** Each caller by its name in the rows. */
const keys: Record<string, string> = {}

beforeAll(async () => {
  vault = await openTestVault(151)
  const rules = (container: string) => [
    { priority: 1, container, transform: 'reveal', permissions },
  ]
  keys['all'] = await vault.application({ type: 'private', rules: rules('/') })
  keys['nothing'] = await vault.application({ type: 'private', rules: rules('/nowhere/') })
  keys['management'] = vault.managementKey
  const metadata = { '.': '1', 'a.b': '2', 'a=b': '3', A: '4', a: '5' }
  await seed({ id: 'base', type: 'token', data: { a: 1 } })
  await seed({ id: 'odd', type: 'token', data: 1, metadata })
})

async function seed(body: object): Promise<void> {
  expect((await vault.ask('POST', '/tokens', { key: keys['all'] ?? '', body })).status).toBe(201)
}

/** Expects the invariants that hold after every row (hardening I1 and I3). */
async function expectUnharmed({ text, headers }: Answer): Promise<void> {
  const good = await vault.ask('GET', '/tokens/base', { key: keys['all'] ?? '' })
  expect([good.status, good.body['id'], good.body['data']]).toEqual([200, 'base', { a: 1 }])
  expect(`${[...headers].join('\n')}\n${text}`).not.toContain(canary)
  expect(vault.logged.join('\n')).not.toContain(canary)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
}

/** @param members JSON text that is added to a token */
const token = (members: string) => `{"type":"token","data":"${canary}",${members}}`
const indexes = (...texts: readonly string[]) =>
  token(`"search_indexes":${JSON.stringify(texts)},"mask":"hidden"`)
const expiry = (value: string) => token(`"expires_at":${value}`)

/** Name, body, status, and a text that the answer has. */
type Row = readonly [string, string, number, string]

const creates: readonly Row[] = [
  // proves H51
  ['H51: __proto__ beside the members', token('"__proto__":{"polluted":1}'), 201, '"id"'],
  // proves H51
  ['H51: __proto__ around them', `{"__proto__":${token('"id":"inner"')}}`, 400, '"type"'],
  // proves H51
  ['H51: constructor', token('"constructor":{"prototype":{"polluted":1}}'), 201, '"id"'],
  // proves H51
  ['H51: an object', token('"metadata":{"__proto__":{"polluted":1}}'), 400, '"metadata[0]"'],
  // proves H60
  ['H60: null', token('"metadata":{"a":null}'), 201, '"id"'],
  // proves H62
  ['H62: no name', token(`"metadata":{"":"${canary}"}`), 400, '"metadata[0]"'],
  // proves H81
  ['H81: 400 letters of 4 bytes', token(`"id":"${'\u{1f600}'.repeat(400)}"`), 201, '"id"'],
  // proves H81
  ['H81: 401 letters of 4 bytes', token(`"id":"${'\u{1f600}'.repeat(401)}"`), 400, '"id"'],
  // proves H91
  ['H91: doubled 22 times', token(`"mask":"{{ data${'|append:data'.repeat(22)} }}"`), 400, 'mask'],
  // proves H92
  ['H92: 10,000 filters', token(`"mask":"{{ data${'|upcase'.repeat(10_000)} }}"`), 400, 'mask'],
  // proves H92
  ['H92: 1,000 outputs', token(`"mask":"${'{{ data }}'.repeat(1_000)}"`), 400, 'mask'],
  // proves H92
  ['H92: a megabyte', token(`"mask":"${'x'.repeat(1_000_000)}"`), 400, 'mask'],
  // proves H102
  ['H102: 1,000', indexes(...Array<string>(1_000).fill(canary)), 400, '"search_indexes"'],
  // proves H102
  ['H102: one of a megabyte', indexes('x'.repeat(1_000_000)), 400, '"search_indexes[0]"'],
  ['H102: equal ones', indexes(...Array<string>(searchIndexesMax).fill('{{ data }}')), 201, '"id"'],
  ['H102: ones without a result', indexes('{{ data.none }}', ''), 201, '"id"'],
  // proves H106
  ['H106: a day that its month has not', expiry('"2/30/2030"'), 400, '"expires_at"'],
  // proves H106
  ['H106: a leap day of no leap year', expiry('"2/29/2031"'), 400, '"expires_at"'],
  // proves H106
  ['H106: a thirteenth month', expiry('"13/1/2030"'), 400, '"expires_at"'],
  // proves H106
  ['H106: a month 0', expiry('"0/1/2030"'), 400, '"expires_at"'],
  // proves H106
  ['H106: a year 0', expiry('"1/1/0"'), 400, '"expires_at"'],
  // proves H106
  ['H106: a year of 5 digits', expiry('"1/1/99999"'), 400, '"expires_at"'],
  // proves H107
  ['H107: an hour 0 of 12', expiry('"8/26/2030 0:00:00 PM"'), 400, '"expires_at"'],
  // proves H107
  ['H107: an hour 13 of 12', expiry('"8/26/2030 13:00:00 AM"'), 400, '"expires_at"'],
  // proves H107
  ['H107: a minute 60', expiry('"8/26/2030 12:60:00 PM"'), 400, '"expires_at"'],
  // proves H107
  ['H107: a leap second', expiry('"2030-12-31T23:59:60Z"'), 400, '"expires_at"'],
  // proves H108
  ['H108: an offset of 14 hours', expiry('"8/26/2030 7:00:00 PM +14:00"'), 201, '+14:00"'],
  // proves H108
  ['H108: an offset of -12 hours', expiry('"8/26/2030 7:00:00 PM -12:00"'), 201, '-12:00"'],
  // proves H108
  ['H108: an offset of 15 hours', expiry('"8/26/2030 7:00:00 PM +15:00"'), 400, '"expires_at"'],
  // proves H108
  ['H108: an offset of 99:99', expiry('"8/26/2030 7:00:00 PM +99:99"'), 400, '"expires_at"'],
  // proves H108
  ['H108: Z', expiry('"2030-08-26T19:00:00Z"'), 201, '19:00:00.000+00:00"'],
  // proves H108
  ['H108: no offset, which is UTC', expiry('"8/26/2030 7:00:00 PM"'), 201, '+00:00"'],
  // proves H109
  ['H109: wide digits', expiry('"\uff18/26/2030"'), 400, '"expires_at"'],
  // proves H109
  ['H109: a minus of its own', expiry('"8/26/2030 7:00:00 PM \u221207:00"'), 400, '"expires_at"'],
  // proves H109
  ['H109: two spaces', expiry('"8/26/2030  7:00:00 PM"'), 400, '"expires_at"'],
  // proves H109
  ['H109: text after it', expiry(`"8/26/2030 ${canary}"`), 400, '"expires_at"'],
  // proves H110
  ['H110: an instant in the past', expiry('"1/1/2020"'), 400, '"expires_at"'],
  // proves H115
  ['H115: null', expiry('null'), 201, '"id"'],
  // proves H115
  ['H115: nothing', expiry('""'), 400, '"expires_at"'],
  // proves H115
  ['H115: a number', expiry('1893456000000'), 400, '"expires_at"'],
  // proves H115
  ['H115: an array', expiry(`["${canary}"]`), 400, '"expires_at"'],
  // proves H115
  ['H115: an object', expiry(`{"${canary}":1}`), 400, '"expires_at"'],
  // proves H117
  ['H117: 50,000 digits', expiry(`"${'1'.repeat(50_000)}/1/2030"`), 400, '"expires_at"'],
  // proves H117
  ['H117: spaces without end', expiry(`"8/26/2030${' '.repeat(50_000)}!"`), 400, '"expires_at"'],
]

test.each(creates)('%s, at create', async (_name, raw, status, shown) => {
  const answer = await vault.ask('POST', '/tokens', { key: keys['all'] ?? '', raw })
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(shown)])
  await expectUnharmed(answer)
})

// proves H102
test('H102: equal search indexes find their token once, empty ones find none', async () => {
  const key = keys['all'] ?? ''
  const search = async (query: string) =>
    (await vault.ask('POST', '/tokens/search', { key, body: { query } })).body['pagination']
  const raw = (text: string) =>
    `{"type":"token","data":"once","search_indexes":${JSON.stringify([text, text])}}`
  for (const text of ['{{ data }}', '{{ data.none }}']) {
    expect((await vault.ask('POST', '/tokens', { key, raw: raw(text) })).status).toBe(201)
  }
  expect(await search('data:once')).toMatchObject({ total_items: 1 })
})

const patches: readonly Row[] = [
  // proves H52
  ['H52: __proto__ beside the members', '{"__proto__":{"polluted":1}}', 200, '"id":"base"'],
  // proves H52
  ['H52: constructor', '{"constructor":{"prototype":{"polluted":1}}}', 200, '"id":"base"'],
  // proves H52
  ['H52: in metadata', '{"metadata":{"__proto__":{"polluted":1}}}', 400, '"metadata[0]"'],
  // proves H57
  ['H57: an id', `{"id":"${canary}"}`, 200, '"id":"base"'],
  // proves H57
  ['H57: a type', `{"type":"card","tenant_id":"${canary}"}`, 200, '"type":"token"'],
  ['H115: a number as expiry', '{"expires_at":1}', 400, '"expires_at"'],
  ['H115: an array as expiry', `{"expires_at":["${canary}"]}`, 400, '"expires_at"'],
]

test.each(patches)('%s, at update', async (_name, raw, status, shown) => {
  const answer = await vault.ask('PATCH', '/tokens/base', { key: keys['all'] ?? '', raw })
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(shown)])
  await expectUnharmed(answer)
})

// proves H85
test('H85: ids that differ by case, composition or a space are different', async () => {
  const key = keys['all'] ?? ''
  const ids = ['Pair', 'pair', 'p\u00e9ir', 'pe\u0301ir', 'pair ', ' pair']
  for (const [index, id] of ids.entries()) {
    const answer = await vault.ask('POST', '/tokens', {
      key,
      body: { id, type: 'token', data: index },
    })
    expect([answer.status, answer.body['id']]).toEqual([201, id])
  }
  for (const [index, id] of ids.entries()) {
    const answer = await vault.ask('GET', `/tokens/${encodeURIComponent(id)}`, { key })
    expect([answer.body['id'], answer.body['data']]).toEqual([id, index])
  }
})

// proves H64
test('H64: versions are not offered, and a condition on one is passed over', async () => {
  const ask = { key: keys['all'] ?? '', raw: '{}', headers: { 'If-Match': `"${canary}"` } }
  const answer = await vault.ask('PATCH', '/tokens/base', ask)
  expect([answer.status, answer.headers.get('etag')]).toEqual([200, null])
  await expectUnharmed(answer)
})

const absent = 'There is no such'
const braced = '%7B00000000-0000-4000-8000-000000000000%7D'

/** Name, caller, address, status, and a text that the answer has. */
const reads: readonly (readonly [string, string, string, number, string])[] = [
  // proves H62
  ['H62: a dot', 'all', '/tokens?metadata..=1', 200, '"total_items":1,'],
  // proves H62
  ['H62: a dot within', 'all', '/tokens?metadata.a.b=2', 200, '"total_items":1,'],
  // proves H62
  ['H62: an equals sign', 'all', '/tokens?metadata.a%3Db=3', 200, '"total_items":1,'],
  ['H62: A for A', 'all', '/tokens?metadata.A=4', 200, '"total_items":1,'],
  ['H62: a for A', 'all', '/tokens?metadata.a=4', 200, '"total_items":1,'],
  ['H62: the value of another', 'all', '/tokens?metadata.a.b=1', 200, '"total_items":0,'],
  // proves H67
  ['H67: no name', 'all', `/tokens?metadata=${canary}`, 400, '"query.metadata"'],
  // proves H72
  ['H72: beyond the address', 'all', `/tokens?${'id=base&'.repeat(1_100)}`, 414, '8192'],
  // proves H79
  ['H79: by one who sees nothing', 'nothing', '/tokens', 200, '"total_items":0,'],
  // proves H79
  ['H79: one token, by the same', 'nothing', '/tokens/base', 404, absent],
  ...[...'#/\\+?[]|&=%<>{}^\u0000\n\u007f'].map(
    char =>
      // proves H82
      [
        `H82: ${encodeURIComponent(char)}`,
        'all',
        `/tokens/base${encodeURIComponent(char)}`,
        404,
        absent,
      ] as const,
  ),
  // proves H88
  ['H88: no UUID', 'management', `/applications/${canary}`, 404, absent],
  // proves H88
  ['H88: in braces', 'management', `/applications/${braced}`, 404, absent],
  // proves H88
  ['H88: with a NUL', 'management', '/applications/a%00b', 404, absent],
  // proves H88
  ['H88: of 5,000 letters', 'management', `/applications/${'x'.repeat(5_000)}`, 404, absent],
]

test.each(reads)('%s, read by %s', async (_name, caller, path, status, shown) => {
  const answer = await vault.ask('GET', path, { key: keys[caller] ?? '' })
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(shown)])
  await expectUnharmed(answer)
})
