/**
 * The application against a model of its interface: plain Maps, written from the contract.
 * @module
 */
import { expect, test } from 'bun:test'
import { tokenTypeNames } from '../../src/rules/token-types.ts'
import { cases } from '../support/thorough.ts'
import { checkModel } from './check.ts'
import { modelTypes } from './token-types.ts'

test('any run of requests is answered as the model of the contract says', async () => {
  await checkModel({ numRuns: cases(300), maxCommands: 50, msMax: 60_000 })
}, 300_000)

test('the model knows the types that the application knows', () => {
  expect(Object.keys(modelTypes)).toEqual([...tokenTypeNames])
})
