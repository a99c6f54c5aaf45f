/**
 * The model test, longer: source hardening F12.
 * @module
 */
import { test } from 'bun:test'
import { checkModel } from '../model/check.ts'

test('ten thousand long runs are answered as the model of the contract says', async () => {
  await checkModel({ numRuns: 10_000, maxCommands: 60 })
}, 3_600_000)
