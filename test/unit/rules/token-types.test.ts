import { describe, expect, test } from 'bun:test'
import { containerAncestors, normaliseContainer } from '../../../src/rules/container-paths.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { tokenTypeNames, tokenTypeOf } from '../../../src/rules/token-types.ts'
import { expectRefusal } from '../../support/refusal.ts'

const lastFour = '"{{ data | reveal_last: 4 }}"'

/** Contract section 5, row by row: container, fingerprint, mask, number of search indexes. */
const table = [
  ['token', '/general/high/', '{{ data | stringify }}', undefined, 0],
  [
    'card',
    '/pci/high/',
    '{{ data.number }}',
    '{"number":"{{ data.number | reveal_last: 4 }}",' +
      '"expiration_month":"{{ data.expiration_month }}",' +
      '"expiration_year":"{{ data.expiration_year }}"}',
    0,
  ],
  [
    'bank',
    '/bank/high/',
    '{{ data.account_number }}|{{ data.routing_number }}',
    '{"routing_number":"{{ data.routing_number }}",' +
      '"account_number":"{{ data.account_number | reveal_last: 4 }}"}',
    0,
  ],
  ['card_number', '/pci/high/', '{{ data }}', lastFour, 0],
  ['us_bank_account_number', '/bank/high/', '{{ data }}', lastFour, 0],
  ['us_bank_routing_number', '/bank/low/', '{{ data }}', lastFour, 0],
  ['social_security_number', '/pii/high/', "{{ data | remove: '-' }}", lastFour, 3],
  ['employer_id_number', '/pii/high/', "{{ data | remove: '-' }}", lastFour, 3],
  [
    'email',
    '/pii/high/',
    '{{ data | downcase }}',
    `"{{ data | slice: 0 }}***@{{ data | split: '@' | last }}"`,
    2,
  ],
  ['phone', '/pii/high/', '{{ data }}', '"{{ data | phone_mask }}"', 2],
  [
    'iban',
    '/pii/high/',
    "{{ data | remove: ' ' | upcase }}",
    `"{{ data | remove: ' ' | reveal: 2, 4 }}"`,
    2,
  ],
  ['name', '/pii/high/', '{{ data | stringify }}', '"{{ data | initials }}"', 0],
  ['address', '/pii/high/', '{{ data | stringify }}', '{"country":"{{ data.country }}"}', 0],
  ['date_of_birth', '/pii/high/', '{{ data }}', '"{{ data | slice: 0, 4 }}"', 0],
] as const

const nowMs = Date.UTC(2030, 0, 1)
/** They take any text. */
const free = ['token', 'name', 'address']

/** A text that each type takes, and one that each type but `token` refuses. */
const examples: Readonly<Record<string, string>> = {
  token: 'any',
  card_number: '4242424242424242',
  us_bank_account_number: '000123',
  us_bank_routing_number: '021000021',
  social_security_number: '123-45-6789',
  employer_id_number: '12-3456789',
  email: 'ada@example.com',
  phone: '+4930123456',
  iban: 'DE89 3704 0044 0532 0130 00',
  name: 'Ada Lovelace',
  address: '1 High Street',
  date_of_birth: '1990-12-31',
}

describe('token types', () => {
  // proves C5.1
  test('are those of the contract, in its order', () => {
    expect(tokenTypeNames).toEqual(table.map(([name]) => name))
  })

  test.each(table)(
    '%s has the defaults of the contract',
    (name, container, print, mask, indexes) => {
      const type = tokenTypeOf(name)
      expect(type?.name).toBe(name)
      expect(type?.defaultContainer).toBe(container)
      expect(type?.defaultFingerprintExpression).toBe(print)
      const { defaultMask } = type ?? {}
      expect(defaultMask === undefined ? undefined : printJson(defaultMask)).toBe(mask)
      expect(type?.defaultSearchIndexes).toHaveLength(indexes)
    },
  )

  test('with a national id are found whole, without dashes and by the last four', () => {
    expect(tokenTypeOf('social_security_number')?.defaultSearchIndexes).toEqual([
      '{{ data }}',
      "{{ data | remove: '-' }}",
      '{{ data | last4 }}',
    ])
  })

  test.each(tokenTypeNames)('%s has a default container in normal form', name => {
    const container = tokenTypeOf(name)?.defaultContainer ?? ''
    expect(normaliseContainer(container, 'containers[0]')).toBe(container)
    expect(containerAncestors(container)).toHaveLength(3)
  })

  test.each(Object.entries(examples))('%s takes its own data', (name, data) => {
    expect(tokenTypeOf(name)?.normalise(data, 'data', nowMs)).toBe(data)
  })

  test.each(tokenTypeNames.filter(name => !free.includes(name)))('%s refuses other data', name => {
    expectRefusal(() => tokenTypeOf(name)?.normalise('x1', 'data', nowMs), ['data'], ['x1'])
  })

  test('token takes any JSON, null too', () => {
    for (const data of [null, false, 0, '', [], new Map(), { numberText: '1.0' }]) {
      expect(tokenTypeOf('token')?.normalise(data, 'data', nowMs)).toBe(data)
    }
  })

  test.each(['', 'Card', 'CARD', 'card ', 'cards', 'constructor', '__proto__', 'toString'])(
    'there is none named %j',
    name => {
      expect(tokenTypeOf(name)).toBeUndefined()
    },
  )
})
