/**
 * The stored form: omitted members come back, and the defaults may never change.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { tokenTypeNames } from '../../../../src/rules/token-types.ts'
import type { TokenRecord } from '../../../../src/tokens/token-record.ts'
import { decodeRecord, encodeRecord } from '../../../../src/tokens/stored-form.ts'

const base = { id: 'a-b', fingerprint: 'f', createdBy: 'c', createdAtMs: 5 }

/** Record of a token with nothing but defaults, in this form for ever. */
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
  email: {
    containers: ['/pii/high/'],
    fingerprintExpression: '{{ data | downcase }}',
    maskText: `"{{ data | slice: 0 }}***@{{ data | split: '@' | last }}"`,
    searchIndexes: ['{{ data }}', "{{ data | split: '@' | last }}"],
  },
  phone: {
    containers: ['/pii/high/'],
    fingerprintExpression: '{{ data }}',
    maskText: '"{{ data | phone_mask }}"',
    searchIndexes: ['{{ data }}', '{{ data | last4 }}'],
  },
  iban: {
    containers: ['/pii/high/'],
    fingerprintExpression: "{{ data | remove: ' ' | upcase }}",
    maskText: `"{{ data | remove: ' ' | reveal: 2, 4 }}"`,
    searchIndexes: ["{{ data | remove: ' ' }}", "{{ data | remove: ' ' | last4 }}"],
  },
  name: {
    containers: ['/pii/high/'],
    fingerprintExpression: '{{ data | stringify }}',
    maskText: '"{{ data | initials }}"',
  },
  address: {
    containers: ['/pii/high/'],
    fingerprintExpression: '{{ data | stringify }}',
    maskText: '{"country":"{{ data.country }}"}',
  },
  date_of_birth: {
    containers: ['/pii/high/'],
    fingerprintExpression: '{{ data }}',
    maskText: '"{{ data | slice: 0, 4 }}"',
  },
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

const text = (value: string) => [0, value.length, ...Buffer.from(value)]
const uuids = [
  '00112233-4455-4677-8899-aabbccddeeff',
  'ffeeddcc-bbaa-4988-b766-554433221100',
] as const

/** Any, also such as no token has. */
const anyRecord = fc.record(
  {
    id: fc.oneof(fc.string(), fc.constant(uuids[0])),
    type: fc.constantFrom(...tokenTypeNames),
    containers: fc.array(fc.string(), { maxLength: 2 }),
    fingerprint: fc.string(),
    fingerprintExpression: fc.string(),
    searchIndexes: fc.array(fc.string(), { maxLength: 3 }),
    createdBy: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(uuids[1])),
    createdAtMs: fc.nat({ max: 2 ** 48 - 1 }),
    idIsRandom: fc.constant(true as const),
    maskText: fc.string(),
    maskedText: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(null)),
    metadataText: fc.string(),
    modifiedBy: fc.string(),
    modifiedAtMs: fc.nat(),
    expiresAt: fc.record({ text: fc.string(), epochMs: fc.nat() }),
    code: fc.record({
      at: fc.nat(),
      endsAtMs: fc.maxSafeNat().map(ms => ms % 2 ** 48),
      sealed: fc.uint8Array(),
    }),
    deduplicates: fc.constant(true as const),
    fingerprintHiddenUntilMs: fc.nat(),
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

describe('the stored form of a token', () => {
  test.each([...tokenTypeNames])('leaves out what %s says already', type => {
    const bytes = encodeRecord(defaultRecord(type))
    expect([...bytes]).toEqual([
      2,
      0,
      0,
      0,
      0,
      0,
      0,
      5,
      ...text('a-b'),
      ...text('c'),
      ...text(type),
      ...text('f'),
    ])
    expect(decodeRecord(bytes)).toEqual(defaultRecord(type))
  })

  test('has UUIDs as bytes, where both ids are some', () => {
    const [id, createdBy] = uuids
    const record = { ...defaultRecord('token'), id, createdBy, idIsRandom: true, maskedText: 'm' }
    const bytes = encodeRecord(record as TokenRecord)
    const ids = [id, createdBy]
      .map(uuid => [...Buffer.from(uuid.replaceAll('-', ''), 'hex')])
      .flat()
    expect([...bytes]).toEqual([
      2,
      1 + 2 + 4,
      0,
      0,
      0,
      0,
      0,
      5,
      ...ids,
      ...text('token'),
      ...text('f'),
      ...text('m'),
    ])
    expect(decodeRecord(bytes)).toEqual(record as TokenRecord)
    const upper = { ...record, createdBy: createdBy.toUpperCase() } as TokenRecord
    expect(decodeRecord(encodeRecord(upper))).toEqual(upper)
  })

  test('has a mark for each thing that not every record has', () => {
    const record: TokenRecord = {
      ...defaultRecord('token'),
      idIsRandom: true,
      createdAtMs: 0x01_02_03_04_05_06,
      maskedText: null,
      deduplicates: true,
    }
    const bytes = encodeRecord(record)
    expect([...bytes]).toEqual([
      2,
      1 + 8 + 16,
      1,
      2,
      3,
      4,
      5,
      6,
      ...text('a-b'),
      ...text('c'),
      ...text('token'),
      ...text('f'),
      ...Buffer.from('{"u":true}'),
    ])
    expect(decodeRecord(bytes)).toEqual(record)
  })

  test('knows no mask from the default mask', () => {
    const { maskText: _, ...bare } = defaultRecord('card')
    expect(decodeRecord(encodeRecord(bare))).toEqual(bare)
    expect(Buffer.from(encodeRecord(bare)).toString('latin1')).toEndWith('{"m":null}')
  })

  test('gives any record back', () => {
    const holds = (value: TokenRecord) => expect(decodeRecord(encodeRecord(value))).toEqual(value)
    fc.assert(fc.property(anyRecord, value => holds(value as TokenRecord)))
  })

  test('has no text of 64 KiB', () => {
    const record = (id: string) => ({ ...defaultRecord('token'), id })
    expect(() => encodeRecord(record('x'.repeat(65_536)))).toThrow('within its bound')
    const longest = record('x'.repeat(65_535))
    expect(decodeRecord(encodeRecord(longest))).toEqual(longest)
  })

  test('gives back the longest id there can be', () => {
    const long = { ...defaultRecord('token'), id: '𝔸'.repeat(400) }
    expect(decodeRecord(encodeRecord(long))).toEqual(long)
  })

  test('refuses a type that no token can have, and another form', () => {
    const unknown = Buffer.from(encodeRecord(defaultRecord('card')))
    unknown.write('dard', unknown.indexOf('card'))
    expect(() => decodeRecord(unknown)).toThrow('unknown type')
    for (const form of [0, 1, 3, 0x7b, 255]) {
      const bytes = Buffer.from(encodeRecord(defaultRecord('card')))
      bytes[0] = form
      expect(() => decodeRecord(bytes)).toThrow('a known form')
    }
    expect(() => decodeRecord(new Uint8Array())).toThrow('a known form')
  })
})
