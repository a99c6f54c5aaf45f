/**
 * The header Retry-After, in both forms and in neither.
 * @module
 */
import { expect, test } from 'bun:test'
import { readRetryAfter } from '../../src/egress/retry-after.ts'

const nowMs = Date.UTC(2026, 10, 27, 2, 0, 0)

test.each([
  ['0', 0],
  ['120', 120],
  ['86400', 86_400],
  ['86401', 86_400],
  ['999999999999999', 86_400],
  ['Fri, 27 Nov 2026 02:01:30 GMT', 90],
  ['Fri, 27 Nov 2026 01:00:00 GMT', 0],
  ['Fri, 27 Nov 2099 01:00:00 GMT', 86_400],
  [null, undefined],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['5, 9', undefined],
  ['1e3', undefined],
  ['9999999999999999', undefined],
  ['tomorrow', undefined],
  ['2026-11-27T02:01:30Z', undefined],
  ['Fri, 99 Nov 2026 02:01:30 GMT', undefined],
])('%j is %p', (value, seconds) => {
  expect(readRetryAfter(value, nowMs)).toBe(seconds)
})
