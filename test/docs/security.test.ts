/**
 * `SECURITY.md`: every guarantee names tests that exist.
 * @module
 */
import { expect, test } from 'bun:test'
import { faultsOf, readRows } from '../support/proofs.ts'

const rows = readRows('SECURITY.md')

test('every guarantee names tests that exist', () => {
  expect(rows.length).toBeGreaterThan(20)
  expect(faultsOf(rows)).toEqual([])
})

test('no guarantee stands twice', () => {
  expect(new Set(rows.map(([guarantee]) => guarantee)).size).toBe(rows.length)
})
