/**
 * Restarts while callers go on, on a socket that a manager holds. Twenty are in `test/slow`.
 * @module
 */
import { expect, test } from 'bun:test'
import { restartUnderLoad } from '../support/restart-under-load.ts'

test.each([
  ['one process', '1'],
  ['three workers', '3'],
])('restarts of %s refuse and cut nothing', async (_, workers) => {
  const { failures, lines, exitCodes, requests } = await restartUnderLoad(2, '--workers', workers)
  expect({ failures, lines, exitCodes }).toEqual({ failures: [], lines: [], exitCodes: [0, 0, 0] })
  expect(requests).toBeGreaterThan(0)
})
