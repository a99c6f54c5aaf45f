import { describe, expect, test } from 'bun:test'
import { utf8 } from '../../../src/lib/bytes.ts'
import { makeKeys } from '../../../src/crypto/keyring.ts'
import { createKeyring } from '../../../src/crypto/keyring-format.ts'
import { jsonRecord } from '../../../src/records/json-record.ts'
import { unsealRow, sealRow } from '../../../src/records/seal-row.ts'
import { storedRow } from '../../../src/store/core/row.ts'
import { seededBytes } from '../../support/seeded.ts'

const randomBytes = seededBytes(5)
const keys = makeKeys(createKeyring(randomBytes, 0))
const header = { uniques: [randomBytes(32)], terms: [randomBytes(16)], deadlineMs: 5_000 }
const tenants = jsonRecord<{ name: string }>('tenant')
const record = { name: 'Älter' }
const row = tenants.seal({ keys, randomBytes }, record, header, 2)

describe('a record as sealed JSON', () => {
  test('opens as what was sealed', () => {
    expect(tenants.open(keys, storedRow(1, row))).toEqual(record)
  })

  test('is one value of a row: the JSON text, in the scope of the installation', () => {
    const sealer = { scope: keys.installation, collection: 'tenant' } as const
    expect(unsealRow(sealer, storedRow(1, row)).text(0)).toBe('{"name":"Älter"}')
    const byHand = sealRow(sealer, randomBytes, header, 2, [utf8('{"name":"b"}')])
    expect(tenants.open(keys, storedRow(1, byHand))).toEqual({ name: 'b' })
  })

  test('opens in no other collection, installation or version', () => {
    const others = makeKeys(createKeyring(randomBytes, 0))
    expect(() => jsonRecord('session').open(keys, storedRow(1, row))).toThrow()
    expect(() => tenants.open(others, storedRow(1, row))).toThrow()
    expect(() => tenants.open(keys, storedRow(1, { ...row, version: 3 }))).toThrow()
  })
})
