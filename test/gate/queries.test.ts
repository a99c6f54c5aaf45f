/**
 * Query strings that try to be more than texts. Group D of
 * docs/hostile-inputs.md.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { idFilterMax } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import { expectUnharmed, jsonOf, openWire, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(106)
  await make('plain', { colour: 'red' })
  await make('proto', JSON.parse('{"__proto__":"1","constructor":"1"}'))
  await make('letters', { Straße: 'ſtraße', ılık: 'K' })
  await make('plus', { sum: '1+1', space: '1 1' })
})
afterAll(() => wire.close())

const make = (id: string, metadata: unknown) =>
  wire.ask('POST', '/tokens', JSON.stringify({ id, type: 'token', data: id, metadata }))

const list = (query: string) => wire.ask('GET', `/tokens?${query}`)

async function expectFound(query: string, ids: readonly string[]): Promise<void> {
  const answer = await list(query)
  expect([query, answer.status]).toEqual([query, 200])
  const { data, pagination } = jsonOf(answer) as {
    data: { id: string }[]
    pagination: { total_items: number }
  }
  expect([query, data.map(({ id }) => id).sort()]).toEqual([query, [...ids].sort()])
  expect(pagination.total_items).toBe(ids.length)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
}

async function expectRefused(query: string): Promise<void> {
  const answer = await list(query)
  expect([query, answer.status]).toEqual([query, 400])
  await expectUnharmed(wire, answer)
}

describe('names and values are texts', () => {
  // proves A10.12, C7.16, C14.3, C14.4
  test.each([
    // proves H67
    ['H67', 'metadata.__proto__=1', ['proto']],
    // proves H67
    ['H67', 'metadata[constructor]=1', ['proto']],
    // proves H67
    ['H67', 'metadata={"__proto__":"1"}', ['proto']],
    // proves H67
    ['H67', 'metadata.=x', []],
    // proves H68
    ['H68', 'metadata[]=1', []],
    // proves H68
    ['H68', 'id={"$gt":""}', []],
    // proves H68
    ['H68', 'id=[1,2]', []],
    // proves H75
    ['H75', 'metadata.colour=red&metadata.colour=blue', ['plain']],
    // proves H75
    ['H75', 'metadata.colour=blue&metadata.colour=red', []],
    ['', 'metadata.sum=1%2B1', ['plus']],
    ['', 'metadata.sum=1+1', []],
    ['', 'metadata.space=1+1', ['plus']],
    ['', 'metadata.space=1%201', ['plus']],
    ['', 'metadata.sum=1%252B1', []],
    ['', 'id=plain&id=plain&&&=&', ['plain']],
    ['', 'id=plain?id=proto', []],
    ['', `metadata.colour=${canary}`, []],
  ] as const)('%s: ?%s finds exactly what it names', async (_row, query, ids) => {
    await expectFound(query, ids)
  })
})

// proves C14.5, H73
test.each([
  ['H67', '__proto__=1&constructor=1&__proto__[polluted]=1'],
  ['H68', 'a[b]=1&a[]=1'],
  ['H73', `unknown=${canary}&_=2`],
])('%s: ?%s names no parameter, and is refused', async (_row, query) => {
  await expectRefused(query)
})

describe('H74: letters are folded as documented, and no further', () => {
  const found = (name: string, value: string) =>
    `metadata.${encodeURIComponent(name)}=${encodeURIComponent(value)}`

  // proves A10.10
  test.each([
    ['another case', 'STRAßE', 'ſTRAßE', ['letters']],
    ['the Kelvin sign', 'ılık', '\u212a', ['letters']],
    ['sharp s as ss', 'strasse', 'ſtraße', []],
    ['long s as s', 'straße', 'straße', []],
    ['dotless i as i', 'ilik', 'k', []],
  ] as const)('%s', async (_name, name, value, ids) => {
    await expectFound(found(name, value), ids)
  })

  // proves H74
  test('a letter and its parts are one', async () => {
    await make('composed', { name: 'caf\u00e9' })
    await expectFound(found('name', 'cafe\u0301'), ['composed'])
    expect((await wire.ask('DELETE', '/tokens/composed')).status).toBe(204)
  })
})

describe('pages are counted in digits', () => {
  const wrong = ['0', '-1', '1.5', '1e3', '0x10', '01', 'NaN', '9007199254740993', '%201', '١', '']

  // proves C4.2, H69
  test.each(wrong.map(text => [text]))('H69: page=%s is refused', async text => {
    await expectRefused(`page=${text}`)
  })

  // proves C4.3, H70
  test.each(['0', '-1', '101', '1e9', '100.0'].map(text => [text]))(
    'H70: size=%s is refused',
    async text => {
      await expectRefused(`size=${text}`)
    },
  )

  // proves C4.4
  test('a page beyond the end is empty', async () => {
    const answer = await list('page=1000000000&size=100')
    expect([answer.status, jsonOf(answer)['data']]).toEqual([200, []])
  })
})

describe('a query that cannot be read is refused', () => {
  // contract section 16 bounds the ids, so that 400 of them are too many whatever the URL holds.
  const ids = (count: number) => Array.from({ length: count }, () => 'id=plain').join('&')

  // proves C16.16, H72
  test('H72: many ids are taken up to their bound', async () => {
    await expectFound(ids(idFilterMax), ['plain'])
    await expectRefused(ids(idFilterMax + 1))
  })

  // proves C14.4, H76
  test.each(['%zz', '%ff', '%E0%A4%A', '%', '%c0%af', '%ed%a0%80'].map(code => [code]))(
    'H76: a bad percent code %s, in a name or a value',
    async code => {
      await expectRefused(`metadata.colour=${canary}${code}`)
      await expectRefused(`${canary}${code}=1`)
    },
  )

  // proves C14.2
  test('metadata that is no object of texts', async () => {
    await expectRefused(`metadata=${canary}`)
    await expectRefused(`metadata=["${canary}"]`)
    await expectRefused('metadata={"a":1}')
    await expectRefused('metadata={"a":"1","a":"2"}')
  })

  test('also where it stands in the query of applications', async () => {
    const headers = { 'SVC-API-KEY': wire.vault.managementKey }
    const ask = async (query: string) =>
      (await wire.ask('GET', `/applications?${query}`, '', headers)).status
    expect(await ask('page=0')).toBe(400)
    expect(await ask('id=%zz')).toBe(400)
    expect(await ask('__proto__=1&type=private&size=1')).toBe(400)
    expect(await ask('type=private&size=1')).toBe(200)
  })
})
