import { expect, test } from 'bun:test'
import { mapBytes } from '../../../src/limits/operation-limits.ts'
import { isLogNearlyFull, logBudgetBytes } from '../../../src/server/watch/log-budget.ts'

test('a log may take what is set, else what a folder can hold; else it has no bound', () => {
  expect(logBudgetBytes({ auditBytesMax: 1_000 }, false)).toBe(1_000)
  expect(logBudgetBytes({ auditBytesMax: 1_000 }, true)).toBe(1_000)
  expect(logBudgetBytes({ auditBytesMax: undefined }, false)).toBe(mapBytes)
  expect(logBudgetBytes({ auditBytesMax: undefined }, true)).toBeUndefined()
})

test('it is nearly full from four fifths on', () => {
  expect([799, 800, 1_200].map(bytes => isLogNearlyFull(bytes, 1_000))).toEqual([false, true, true])
  expect(isLogNearlyFull(Number.MAX_SAFE_INTEGER, undefined)).toBe(false)
})
