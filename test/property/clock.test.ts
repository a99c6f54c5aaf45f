/**
 * Laws of the clock of a running vault, over walls that step, jump and stand still, and over
 * processes that end in any way. Source: src/server/process/clock.ts; contract section 10.
 * @module
 */
import { describe, test } from 'bun:test'
import * as fc from 'fast-check'
import type { Clock } from '../../src/server/process/clock.ts'
import {
  clockHoldMs,
  clockLeaseMs,
  clockStartHoldMs,
  clockStepMsMax,
} from '../../src/limits/operation-limits.ts'
import { fakeMachine, type FakeMachine } from '../support/fake-wall.ts'

const minuteMs = 60_000
const yearMs = 365 * 24 * 60 * minuteMs

/** A run of a machine: its clock now, all that was read, and what stood at the last start. */
interface Run {
  readonly machine: FakeMachine
  clock: Clock
  last: Reading | undefined
  /** Latest settled time over all processes: none may tell an earlier one. */
  settledEver: number
  readonly readings: Reading[]
}

interface Reading {
  readonly elapsedMs: number
  readonly now: number
  readonly settled: number
}

function startRun(): Run {
  const machine = fakeMachine()
  return { machine, clock: machine.start(), last: undefined, settledEver: 0, readings: [] }
}

function check(holds: boolean, law: string): void {
  if (!holds) throw new Error(law)
}

/** Reads the clock, and checks the laws that hold whatever the wall does. */
function read(run: Run): Reading {
  const { machine, clock, last } = run
  const elapsedMs = machine.elapsedMs()
  const reading = { elapsedMs, now: clock.now(), settled: clock.settled() }
  const { now, settled } = reading
  check(now >= machine.wall(), 'serves nothing at or after its expiry by the wall')
  check(now >= settled, 'hides what it may destroy')
  check(now >= run.settledEver, 'revives nothing, also over a restart')
  check(Number(machine.text) >= settled, 'has on disk what it settled')
  if (last !== undefined) {
    check(now >= last.now, 'never decreases what serves requests')
    check(settled >= last.settled, 'never decreases what is settled')
  }
  run.last = reading
  run.settledEver = Math.max(run.settledEver, settled)
  run.readings.push(reading)
  return reading
}

function restart(run: Run, isClean: boolean): void {
  if (isClean) run.clock.keep()
  run.clock = run.machine.start()
  run.last = undefined
  run.readings.length = 0
}

type Step =
  | { readonly passMs: number }
  | { readonly stepMs: number }
  | { readonly wall: 'freezes' | 'is set right' }
  | { readonly restart: 'clean' | 'killed' }

function take(run: Run, step: Step): void {
  const { machine } = run
  if ('passMs' in step) machine.pass(step.passMs)
  else if ('stepMs' in step) machine.step(step.stepMs)
  else if ('restart' in step) restart(run, step.restart === 'clean')
  else if (step.wall === 'freezes') machine.freeze()
  else machine.correct()
}

type Steps = fc.Arbitrary<Step>

const pass = (ms: fc.Arbitrary<number>): Steps => ms.map(passMs => ({ passMs }))
const step = (ms: fc.Arbitrary<number>): Steps => ms.map(stepMs => ({ stepMs }))
const freeze: Steps = fc.constant({ wall: 'freezes' })
const correct: Steps = fc.constant({ wall: 'is set right' })
const restarts: Steps = fc.constantFrom({ restart: 'clean' }, { restart: 'killed' })

const spans = fc.oneof(
  fc.integer({ min: 0, max: 3_000 }),
  fc.integer({ min: 0, max: 2 * clockStepMsMax }),
  fc.integer({ min: 0, max: 2 * clockHoldMs }),
)
const anySteps = fc.oneof(
  fc.integer({ min: -2 * clockStepMsMax, max: 2 * clockStepMsMax }),
  fc.integer({ min: -2 * clockHoldMs, max: 2 * clockHoldMs }),
  fc.integer({ min: -100 * yearMs, max: 100 * yearMs }),
)

const runs = (...kinds: readonly Steps[]) =>
  fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 60 })

describe('the clock, whatever the wall does', () => {
  // proves C10.8
  test('never decreases, revives nothing, and is never before the wall', () => {
    const all = runs(pass(spans), pass(spans), step(anySteps), freeze, correct, restarts)
    fc.assert(
      fc.property(all, steps => {
        const run = startRun()
        for (const one of steps) {
          take(run, one)
          read(run)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('goes on over every restart when the wall is never ahead of what it should be', () => {
    const back = step(fc.integer({ min: -100 * yearMs, max: -2 * clockStepMsMax }))
    fc.assert(
      fc.property(runs(pass(spans), back, correct, restarts), steps => {
        const run = startRun()
        let told = 0
        for (const one of steps) {
          take(run, one)
          const { now } = read(run)
          check(now >= told, 'revives nothing at all')
          told = now
        }
        const slackMs = clockLeaseMs * (steps.length + 1)
        check(told <= run.machine.right() + slackMs, 'hides nothing before its time')
      }),
      { numRuns: 2_000 },
    )
  })

  test('never stands still for longer than a few minutes', () => {
    const brief = fc.integer({ min: 0, max: 2 * minuteMs })
    const boundMs = 8 * clockStepMsMax
    fc.assert(
      fc.property(runs(pass(brief), step(anySteps), freeze, correct), steps => {
        const run = startRun()
        for (const one of steps) {
          take(run, one)
          const { elapsedMs, now, settled } = read(run)
          const before = run.readings.findLast(past => elapsedMs - past.elapsedMs > boundMs)
          if (before === undefined) continue
          check(now > before.now && settled > before.settled, 'goes on')
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

/** Jumps that could not be corrections, and are taken back before they are believed. */
const jump = fc.record({
  byMs: fc.integer({ min: 10 * minuteMs, max: 100 * yearMs }).chain(ms => fc.constantFrom(ms, -ms)),
  restartsBefore: fc.boolean(),
  restartsWithin: fc.boolean(),
  restartsAfter: fc.boolean(),
  isClean: fc.boolean(),
  /** Share of the allowed duration. */
  lasts: fc.double({ min: 0, max: 0.9, noNaN: true }),
  rightMs: spans,
})

describe('the clock, when jumps are taken back in time', () => {
  // proves C10.9
  test('settles nothing before its time, and all once the wall is right', () => {
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 8 }), jumps => {
        const run = startRun()
        const { machine } = run
        const readSettled = () => read(run).settled - machine.right()
        for (const { byMs, lasts, rightMs, isClean, ...at } of jumps) {
          if (at.restartsBefore) restart(run, isClean)
          machine.step(byMs)
          readSettled()
          if (at.restartsWithin) restart(run, isClean)
          const lastsMs = Math.floor(lasts * (at.restartsWithin ? clockStartHoldMs : clockHoldMs))
          for (let looks = 0; looks < 4; looks += 1) {
            machine.pass(Math.floor(lastsMs / 4))
            check(readSettled() <= 0, 'destroys nothing that is not expired')
          }
          machine.correct()
          check(readSettled() === 0, 'destroys what is expired once the wall is right')
          if (at.restartsAfter) restart(run, isClean)
          machine.pass(rightMs)
          check(readSettled() === 0, 'is right from then on')
        }
        restart(run, true)
        const { now } = read(run)
        const slackMs = clockLeaseMs * (2 * jumps.length + 1)
        check(now - machine.right() <= slackMs, 'shows all that is not expired after a restart')
      }),
      { numRuns: 2_000 },
    )
  })
})
