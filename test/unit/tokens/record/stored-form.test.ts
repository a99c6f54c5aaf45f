/**
 * The stored form: what is left out comes back, and what the defaults are may never change.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { tokenTypeNames } from '../../../../src/rules/token-types.ts'
import { type TokenRecord, parseStored, printStored } from '../../../../src/tokens/record.ts'

const base = { id: 'a-b', fingerprint: 'f', createdBy: 'c', createdAtMs: 5 }

/** What a token with nothing but defaults stands for, in this form for ever. */
const defaults: Readonly<Record<string, Partial<TokenRecord>>> = {
  token: { containers: ['/general/high/'], fingerprintExpression: '{{ data | stringify }}' },
  card: {
    containers: ['/pci/high/'],
    fingerprintExpression: '{{ data.number }}',
    maskText:
      '{"number":"{{ data.number | reveal_last: 4 }}",' +
      '"expiration_month":"{{ data.expiration_month }}",' +
      '"expiration_year":"{{ data.expiration_year }}"}',
  },
  bank: {
    containers: ['/bank/high/'],
    fingerprintExpression: '{{ data.account_number }}|{{ data.routing_number }}',
    maskText:
      '{"routing_number":"{{ data.routing_number }}",' +
      '"account_number":"{{ data.account_number | reveal_last: 4 }}"}',
  },
  card_number: { containers: ['/pci/high/'], fingerprintExpression: '{{ data }}' },
  us_bank_account_number: { containers: ['/bank/high/'], fingerprintExpression: '{{ data }}' },
  us_bank_routing_number: { containers: ['/bank/low/'], fingerprintExpression: '{{ data }}' },
  social_security_number: { containers: ['/pii/high/'] },
  employer_id_number: { containers: ['/pii/high/'] },
}

const lastFour = '"{{ data | reveal_last: 4 }}"'
const nationalIndexes = ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}']

function defaultRecord(type: string): TokenRecord {
  const isNational = type === 'social_security_number' || type === 'employer_id_number'
  const { maskText = type === 'token' ? undefined : lastFour, ...own } = defaults[type] ?? {}
  return {
    ...base,
    type,
    containers: [],
    searchIndexes: isNational ? nationalIndexes : [],
    fingerprintExpression: "{{ data | remove: '-' }}",
    ...own,
    ...(maskText === undefined ? {} : { maskText }),
  }
}

describe('the stored form of a token', () => {
  test.each([...tokenTypeNames])('leaves out what %s says already', type => {
    expect(printStored(defaultRecord(type))).toBe(
      JSON.stringify({ i: 'a-b', t: type, f: 'f', b: 'c', a: 5 }),
    )
    expect(parseStored(printStored(defaultRecord(type)))).toEqual(defaultRecord(type))
  })

  test('knows no mask from the default mask', () => {
    const { maskText: _, ...bare } = defaultRecord('card')
    expect(parseStored(printStored(bare))).toEqual(bare)
    expect(printStored(bare)).toContain('"m":null')
  })

  test('gives any record back', () => {
    const record = fc.record(
      {
        id: fc.string(),
        type: fc.constantFrom(...tokenTypeNames),
        containers: fc.array(fc.string(), { maxLength: 2 }),
        fingerprint: fc.string(),
        fingerprintExpression: fc.string(),
        searchIndexes: fc.array(fc.string(), { maxLength: 3 }),
        createdBy: fc.string(),
        createdAtMs: fc.nat(),
        idIsRandom: fc.constant(true as const),
        maskText: fc.string(),
        metadataText: fc.string(),
        modifiedBy: fc.string(),
        modifiedAtMs: fc.nat(),
        expiresAt: fc.record({ text: fc.string(), epochMs: fc.nat() }),
        deduplicates: fc.constant(true as const),
      },
      {
        requiredKeys: [
          'id',
          'type',
          'containers',
          'fingerprint',
          'fingerprintExpression',
          'searchIndexes',
          'createdBy',
          'createdAtMs',
        ],
      },
    )
    fc.assert(fc.property(record, value => expect(parseStored(printStored(value))).toEqual(value)))
  })

  test('refuses a type that no token can have', () => {
    const unknown = JSON.stringify({ i: 'a-b', t: 'none', f: 'f', b: 'c', a: 5 })
    expect(() => parseStored(unknown)).toThrow('unknown type')
  })
})
