/**
 * The work of one request goes on in turns, by counted steps.
 * @module
 */
import { expect, test } from 'bun:test'
import { turnStepsMax } from '../../src/limits/work-limits.ts'
import { makeWork } from '../../src/lib/work.ts'

const turnsOf = (isWaiting: boolean) => ({
  noteRequest: () => {},
  requests: () => 0,
  next: () => Promise.resolve(),
  isWaiting: () => isWaiting,
  soon: () => undefined,
})
const caller = { tenantId: 'a', applicationId: 'b', credential: { ordinal: 1 } }

// proves E10.11
test('others have their turn once enough was evaluated, also where no time has passed', () => {
  const work = makeWork({ elapsedMs: () => 0, turns: turnsOf(false) }, caller)
  work.meter.stepsSpent += turnStepsMax - 1
  expect(work.pause()).toBeUndefined()
  work.meter.stepsSpent += 1
  expect(work.pause()).toBeInstanceOf(Promise)
  expect(work.pause()).toBeUndefined()
  work.meter.stepsSpent += turnStepsMax
  expect(work.pause()).toBeInstanceOf(Promise)
})

// proves E10.15
test('work begins with a turn while other work of its credential waits for one', () => {
  const open = (isWaiting: boolean) =>
    makeWork({ elapsedMs: () => 0, turns: turnsOf(isWaiting) }, caller)
  const behind = open(true)
  expect(behind.pause()).toBeInstanceOf(Promise)
  expect(behind.pause()).toBeUndefined()
  expect(open(false).pause()).toBeUndefined()
})
