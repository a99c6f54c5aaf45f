import { expect, test } from 'bun:test'
import { decodeRow, encodeRow } from '../../../../../src/store/core/row-format.ts'
import { seededBytes } from '../../../../support/seeded.ts'

const random = seededBytes(23)

const rowOf = (...sizes: readonly number[]) => ({
  uniques: [random(32)],
  terms: [random(16), random(16)],
  version: 1,
  parts: sizes.map(random),
})

test('a row keeps its bytes, whatever becomes of those it was read from and of later rows', () => {
  const rows = [rowOf(47, 200, 90), rowOf(47, 100_000), rowOf(0, 1), rowOf(65_536)]
  const values = rows.map(encodeRow)
  const read = values.map(decodeRow)
  for (const value of values) value.fill(0)
  for (let count = 0; count < 1_000; count += 1) decodeRow(encodeRow(rowOf(47, count)), count)
  const hex = (digests: readonly Uint8Array[]) =>
    digests.map(bytes => Buffer.from(bytes).toString('hex'))
  read.forEach(({ uniques, terms, parts }, index) => {
    expect(hex(uniques)).toEqual(hex(rows[index]?.uniques ?? []))
    expect(hex(terms)).toEqual(hex(rows[index]?.terms ?? []))
    expect(hex(parts)).toEqual(hex(rows[index]?.parts ?? []))
  })
})
