/**
 * The model test, longer: source hardening F12.
 * @module
 */
import { test } from 'bun:test'
import { checkModel } from '../model/check.ts'
import { checkLog } from '../model/log/check.ts'
import { checkWebhooks } from '../model/webhooks/check.ts'

test('ten thousand long runs are answered as the model of the contract says', async () => {
  await checkModel({ numRuns: 10_000, maxCommands: 60 })
}, 3_600_000)

test('five hundred long runs of webhooks are delivered as the model says', async () => {
  await checkWebhooks({ numRuns: 500, maxCommands: 60 })
}, 7_200_000)

test('a thousand long runs are told by the log as the model says', async () => {
  await checkLog({ numRuns: 1_000, maxSteps: 30 })
}, 7_200_000)
