import { expect, test } from 'bun:test'
import { hiddenDataStepBytes } from '../../../src/limits/limits.ts'
import { rowStepBytesMin } from '../../../src/limits/work-limits.ts'
import { reserveRows } from '../../../src/records/budgeted.ts'
import type { Row } from '../../../src/store/contract.ts'

const rowOf = (...lengths: readonly number[]): Row => {
  const parts = lengths.map(length => new Uint8Array(length))
  return { ordinal: 1, version: 1, clear: new Uint8Array(), uniques: [], terms: [], parts }
}

function reservedFor(...rows: readonly Row[]): number {
  let reserved = 0
  const budget = { reserve: (bytes: number) => (reserved = bytes) }
  reserveRows({ budget }, rows)
  return reserved
}

// proves E11.3
test('rows take memory by whole steps of each, so that no sum tells how long one is', () => {
  const [least, step] = [rowStepBytesMin, hiddenDataStepBytes]
  for (const length of [1, least - 1, least]) expect(reservedFor(rowOf(length))).toBe(least)
  for (const length of [least, 3 * least])
    expect(reservedFor(rowOf(length, 1))).toBe(2 ** Math.ceil(Math.log2(length + 1)))
  for (const length of [step, 2 * step - 1]) expect(reservedFor(rowOf(1, length))).toBe(2 * step)
  expect(reservedFor(rowOf(7 * step))).toBe(7 * step)
  expect(reservedFor(rowOf(1), rowOf(least - 1), rowOf(step))).toBe(2 * least + step)
})
