/**
 * Order that a worker takes. Source: src/server/process/worker.ts.
 * @module
 */
import { expect, test } from 'bun:test'
import { startHoldMsOf } from '../../../src/server/process/worker.ts'
import { clockHoldMs, clockStartHoldMs } from '../../../src/limits/operation-limits.ts'

test('only a worker that begins with the instance takes a late mark for downtime', () => {
  expect(startHoldMsOf({ mark: '1893456000000\n' })).toBe(clockStartHoldMs)
  expect(startHoldMsOf({ mark: '' })).toBe(clockStartHoldMs)
  expect(startHoldMsOf({})).toBe(clockHoldMs)
})
