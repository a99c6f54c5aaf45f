/**
 * The outcome of an attempt, by the answer of its receiver.
 */
import { expect, test } from 'bun:test'
import { attemptWaitsMs } from '../../../src/limits/work-limits.ts'
import { outcomeOf } from '../../../src/webhooks/attempt-outcome.ts'

const answer = (status: number, retryAfterSeconds?: number) => ({
  status,
  retryAfterSeconds,
  body: new Uint8Array(),
})
const last = attemptWaitsMs.length + 1

// proves C18.7
test('a receiver that is busy is left alone, also by what was given up with its answer', () => {
  expect(outcomeOf(answer(503, 60), last, 0)).toMatchObject({ kind: 'dead', pauseMs: 60_000 })
  expect(outcomeOf(answer(429, 60), 1, 0)).toMatchObject({ kind: 'again', pauseMs: 60_000 })
})

// proves C18.7
test('one that fails otherwise gets everything else', () => {
  expect(outcomeOf(answer(500, 60), last, 0)).toMatchObject({ kind: 'dead', pauseMs: 0 })
  expect(outcomeOf({ failure: 'connection' }, 1, 0)).toMatchObject({ kind: 'again', pauseMs: 0 })
})
