import { expect, test } from 'bun:test'
import type { Rule } from '../../../src/rules/access.ts'
import { callerBytes } from '../../../src/rules/caller-size.ts'
import type { Caller } from '../../../src/rules/caller.ts'

const rule: Rule = { priority: 1, transform: 'mask', permissions: ['token:read'] }
const callerOf = (rules: readonly Rule[], dependsOn: readonly Caller[] = []): Caller => ({
  tenantId: 't',
  applicationId: 'a',
  type: 'private',
  grants: { permissions: [], rules },
  expiresAtMs: undefined,
  credential: { ordinal: 1, version: 1, uniques: [] },
  dependsOn,
  keyNumber: 0,
})
const none = callerBytes(callerOf([]))

test('a caller holds the texts of its rules, two bytes for each character', () => {
  const text = 'x'.repeat(400)
  const plain = callerBytes(callerOf([rule]))
  expect(none).toBeGreaterThan(0)
  expect(plain).toBeGreaterThan(none)
  expect(callerBytes(callerOf([{ ...rule, description: text }]))).toBe(plain + 800)
  expect(callerBytes(callerOf([{ ...rule, container: text }]))).toBe(plain + 800)
  const condition = { attribute: 'id', operator: 'equals', value: text } as const
  const conditions = [condition, condition]
  expect(callerBytes(callerOf([{ ...rule, conditions }]))).toBeGreaterThan(plain + 1_600)
})

test('and those of the applications behind it', () => {
  const behind = callerOf([{ ...rule, container: '/'.padEnd(400, 'x') }])
  expect(callerBytes(callerOf([], [behind, behind]))).toBe(none + 2 * callerBytes(behind))
})
