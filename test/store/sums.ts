/**
 * The sum over the rows of a store, with keys that a test has.
 * @module
 */
import { expect } from 'bun:test'
import { sumSealerOf } from '../../src/records/sum-sealer.ts'
import { makeSumCheck, type SumFinding } from '../../src/store/core/check-sum.ts'
import type { OperatedStore } from '../../src/store/operated.ts'
import { seededBytes } from '../support/seeded.ts'

const random = seededBytes(98)

export const sumSealer = sumSealerOf({
  sumKeys: { share: random(32), nonce: random(32), seal: random(32) },
})

/** Counts all rows anew. @returns what their sum tells */
export async function sumFindings(store: OperatedStore): Promise<readonly SumFinding[]> {
  const { add, entriesFor, end } = makeSumCheck(sumSealer)
  return end(await store.eachRow(add, entriesFor))
}

export const expectSum = async (store: OperatedStore): Promise<void> =>
  expect(await sumFindings(store)).toEqual([])
