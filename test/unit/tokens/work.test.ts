/**
 * The work of one request goes on in turns, by counted steps.
 * @module
 */
import { expect, test } from 'bun:test'
import { turnStepsMax } from '../../../src/limits.ts'
import { openWork } from '../../../src/tokens/work.ts'

const turns = { noteRequest: () => {}, next: () => Promise.resolve() }
const credential = { ordinal: 1, version: 1 }

test('others have their turn once enough was evaluated, also where no time has passed', () => {
  const work = openWork({ elapsedMs: () => 0, turns }, { credential })
  work.meter.stepsSpent += turnStepsMax - 1
  expect(work.pause()).toBeUndefined()
  work.meter.stepsSpent += 1
  expect(work.pause()).toBeInstanceOf(Promise)
  expect(work.pause()).toBeUndefined()
  work.meter.stepsSpent += turnStepsMax
  expect(work.pause()).toBeInstanceOf(Promise)
})
