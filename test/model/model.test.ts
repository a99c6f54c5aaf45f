/**
 * The application against a model of its interface: plain Maps, written from the contract.
 * @module
 */
import { test } from 'bun:test'
import { checkModel } from './check.ts'

test('any run of requests is answered as the model of the contract says', async () => {
  await checkModel({ numRuns: 300, maxCommands: 50 })
}, 120_000)
