/**
 * What a worker takes from its order. Source: src/serve/worker.ts.
 * @module
 */
import { expect, test } from 'bun:test'
import { startHoldMsOf } from '../../../src/serve/worker.ts'
import { clockHoldMs, clockStartHoldMs } from '../../../src/operation-limits.ts'

test('only a worker that begins with the instance takes a late mark for downtime', () => {
  expect(startHoldMsOf({ mark: '1893456000000\n' })).toBe(clockStartHoldMs)
  expect(startHoldMsOf({ mark: '' })).toBe(clockStartHoldMs)
  expect(startHoldMsOf({})).toBe(clockHoldMs)
})
