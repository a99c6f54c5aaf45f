import { describe, expect, test } from 'bun:test'
import { utf8 } from '../../../src/bytes.ts'
import { createKeyring } from '../../../src/crypto/keyring.ts'
import { openKeys } from '../../../src/crypto/scope.ts'
import { openPart, sealRow, type RowSealer } from '../../../src/records/sealed-row.ts'
import type { NewRow } from '../../../src/store/contract.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(3)
const keys = openKeys(createKeyring(random))
const sealer: RowSealer = { scope: keys.tenant('a'), collection: 'token' }
const header = { uniques: [random(32)], terms: [random(16), random(16)], deadlineMs: 5_000 }
const parts = [utf8('the record'), utf8('the data')]
const row = sealRow(sealer, random, header, 2, parts)

describe('a sealed row', () => {
  test('opens part by part', () => {
    expect(Buffer.from(openPart(sealer, row, 0)).toString()).toBe('the record')
    expect(Buffer.from(openPart(sealer, row, 1)).toString()).toBe('the data')
  })

  const tampered: readonly (readonly [string, NewRow])[] = [
    ['its parts are swapped', { ...row, parts: row.parts.toReversed() }],
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

  test.each(tampered)('does not open when %s', (_, changed) => {
    expect(() => openPart(sealer, changed, 0)).toThrow('did not open')
  })

  test('does not open in another tenant or collection', () => {
    const elsewhere: RowSealer[] = [
      { scope: keys.tenant('b'), collection: 'token' },
      { scope: keys.installation, collection: 'token' },
      { scope: keys.tenant('a'), collection: 'application' },
    ]
    for (const other of elsewhere) expect(() => openPart(other, row, 0)).toThrow('did not open')
  })
})
