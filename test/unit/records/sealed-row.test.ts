import { describe, expect, test } from 'bun:test'
import { utf8 } from '../../../src/lib/bytes.ts'
import { makeKeys, type KeyScope } from '../../../src/crypto/keyring.ts'
import { createKeyring } from '../../../src/crypto/keyring-format.ts'
import { inNoStore, unsealRow, sealRow, type RowSealer } from '../../../src/records/seal-row.ts'
import { storedRow } from '../../../src/store/core/row.ts'
import type { NewRow } from '../../../src/store/contract.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(3)
const keys = makeKeys(createKeyring(random, 0))
const sealer: RowSealer = { scope: keys.tenant('a'), collection: 'token' }
const header = { uniques: [random(32)], terms: [random(16), random(16)], deadlineMs: 5_000 }
const values = [utf8('the record'), utf8('the data')]
const row = sealRow(sealer, random, header, 2, values)
const [head, first, second] = row.parts

const openStored = (stored: NewRow, by = sealer) => unsealRow(by, storedRow(1, stored))
const textAt = (stored: NewRow, index: number) =>
  Buffer.from(openStored(stored).value(index)).toString()

describe('a sealed row', () => {
  test('opens value by value, in any order and again', () => {
    expect([1, 0, 1].map(index => textAt(row, index))).toEqual([
      'the data',
      'the record',
      'the data',
    ])
    expect(() => textAt(row, 2)).toThrow('lacks a value')
  })

  const elsewhere: readonly (readonly [string, NewRow])[] = [
    ['its version is another', { ...row, version: 3 }],
    ['it stands under another unique', { ...row, uniques: [random(32)] }],
    ['a unique was added', { ...row, uniques: [...row.uniques, random(32)] }],
    ['a term was removed', { ...row, terms: row.terms.slice(1) }],
    ['a term became a unique', { ...row, uniques: [...row.uniques, ...row.terms], terms: [] }],
    ['its deadline was moved', { ...row, deadlineMs: 6_000 }],
    [
      'its deadline was removed',
      { uniques: row.uniques, terms: row.terms, version: row.version, parts: row.parts },
    ],
  ]

  // proves S8
  test.each(elsewhere)('does not open when %s', (_, changed) => {
    expect(() => openStored(changed)).toThrow('did not open')
  })

  test('gives no value in the place of another, and none that is missing', () => {
    const swapped = { ...row, parts: [head, second, first].map(part => part ?? new Uint8Array()) }
    for (const index of [0, 1]) expect(() => textAt(swapped, index)).toThrow('did not open')
    const shortened = { ...row, parts: row.parts.slice(0, 2) }
    expect(() => openStored(shortened)).toThrow('lacks a value')
    const longer = { ...row, parts: [...row.parts, ...row.parts.slice(2)] }
    expect(() => openStored(longer)).toThrow('lacks a value')
    expect(() => openStored({ ...row, parts: [] })).toThrow('lacks a value')
  })

  test('gives no value of another row, nor of an older state of its own', () => {
    const others = [
      sealRow(sealer, random, header, 2, values),
      sealRow(sealer, random, header, 1, values),
    ]
    for (const other of others) {
      const mixed = {
        ...row,
        parts: [row.parts[0], other.parts[1], row.parts[2]].map(p => p ?? new Uint8Array()),
      }
      expect(() => textAt(mixed, 0)).toThrow('did not open')
      expect(() => openStored({ ...row, parts: other.parts, version: 3 })).toThrow('did not open')
    }
  })

  test('does not open in another tenant or collection', () => {
    const places: RowSealer[] = [
      { scope: keys.tenant('b'), collection: 'token' },
      { scope: keys.installation, collection: 'token' },
      { scope: keys.tenant('a'), collection: 'application' },
    ]
    for (const other of places) expect(() => openStored(row, other)).toThrow('did not open')
  })
})

test('a row that is kept for good keeps no other values alive', () => {
  const shared = row.parts.map(part => part.buffer)
  expect(shared[2]).toBe(shared[1])
  const { parts } = inNoStore(row)
  expect(parts.map(part => part.buffer.byteLength)).toEqual(parts.map(part => part.length))
  expect(Buffer.from(unsealRow(sealer, inNoStore(row)).value(1)).toString()).toBe('the data')
})

describe('beside another implementation', () => {
  const count = (from: number, length: number) =>
    Uint8Array.from({ length }, (_, index) => from + index)
  const key = count(0x20, 32)
  const scope: KeyScope = {
    ...keys.tenant('a'),
    name: 'a',
    currentKeyNumber: 7,
    recordKey: () => key,
  }
  const plain: RowSealer = { scope, collection: 'token' }
  const terms = [new Uint8Array(16).fill(2), new Uint8Array(16).fill(3)]
  const known = { uniques: [new Uint8Array(32).fill(1)], terms, deadlineMs: 5_000 }
  const nonce = '606162636465666768696a6b6c6d6e6f7071727374757677'
  const sealed = sealRow(plain, length => count(0x60, length), known, 2, values)

  test('a row is sealed to the same bytes', () => {
    expect(sealed.parts.map(part => Buffer.from(part).toString('hex'))).toEqual([
      `02010000000702${nonce}59d6603cfecc6f89ed164802f38d206f4e3bb2fb3297352697ca77e8a5df17ba`,
      '832e91b0dac3fbfe76b18bb8c5c763786849d30fd2125978f4d6',
      'bc297fc513c2b033090cf7f171d7d176a44489fde942c8ee',
    ])
  })
})
