/**
 * The audit log against a model of it: one entry for each request, and each filter of `GET /logs`.
 * @module
 */
import { test } from 'bun:test'
import { cases } from '../../support/thorough.ts'
import { checkLog } from './check.ts'

// proves S90, C17.1, C17.3, C17.7
test('any run of requests is told by the log as the model of the contract says', async () => {
  await checkLog({ numRuns: cases(60, 2), maxSteps: 20 })
}, 600_000)
