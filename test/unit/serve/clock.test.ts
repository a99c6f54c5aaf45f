/**
 * The clock of a running vault, over a wall clock that steps, stands still and lies.
 * Source: src/server/process/clock.ts; contract section 10; hardening H114.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { noMark, makeClock } from '../../../src/server/process/clock.ts'
import {
  clockHoldMs,
  clockLeaseMs,
  clockStartHoldMs,
  clockStepMsMax,
} from '../../../src/limits/operation-limits.ts'
import { deadlineMsMax } from '../../../src/limits/work-limits.ts'
import {
  aheadOf,
  fakeMachine,
  fakeStartMs,
  passLooking,
  startRight,
} from '../../support/fake-wall.ts'

const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
const yearsMs = 3_652 * dayMs

describe('a wall that is right', () => {
  test('is what both answers show, in whole milliseconds', () => {
    const { machine, clock, ahead } = startRight()
    for (const ms of [0, 1, 0.5, 0.5, 1_000, dayMs]) {
      machine.pass(ms)
      expect(ahead()).toEqual({ now: 0, settled: 0 })
    }
    expect(Number.isInteger(clock.now()) && Number.isInteger(clock.settled())).toBe(true)
    expect(machine.logged).toEqual([])
  })

  test('may be corrected ahead by as much as a minute, at once for both', () => {
    const { machine, ahead } = startRight()
    machine.step(clockStepMsMax)
    expect(ahead()).toEqual({ now: clockStepMsMax, settled: clockStepMsMax })
    expect(machine.logged).toEqual([])
  })

  test('may be corrected back by as much as a minute: both wait until it has caught up', () => {
    const { machine, clock } = startRight()
    machine.pass(hourMs)
    const before = clock.now()
    machine.step(-clockStepMsMax)
    expect([clock.now(), clock.settled()]).toEqual([before, before])
    passLooking(machine, clock, clockStepMsMax)
    expect([clock.now(), clock.settled()]).toEqual([before, before])
    machine.pass(1)
    expect([clock.now(), clock.settled()]).toEqual([before + 1, before + 1])
    expect(machine.logged).toEqual([])
  })

  test('may drift, whatever that comes to over the days', () => {
    const { machine, clock } = startRight()
    for (let hour = 0; hour < 100; hour += 1) {
      machine.step(hour < 50 ? 3_000 : -6_000)
      passLooking(machine, clock, hourMs)
      expect([clock.now(), clock.settled()]).toEqual([machine.wall(), machine.wall()])
    }
    expect(machine.logged).toEqual([])
  })

  test('moved by small steps in a short time goes no further than a large one', () => {
    const { machine, clock, ahead } = startRight()
    for (let steps = 0; steps < 100; steps += 1) {
      machine.step(clockStepMsMax / 2)
      passLooking(machine, clock, 5_000)
    }
    expect(ahead()).toEqual({ now: 50 * clockStepMsMax, settled: clockStepMsMax })
  })
})

describe('a wall that jumps ahead', () => {
  test.each([clockStepMsMax + 1, hourMs, dayMs, yearsMs])(
    'by %d ms hides at once, and destroys nothing when it is taken back in time',
    jumpMs => {
      const { machine, clock, ahead } = startRight()
      machine.step(jumpMs)
      expect(ahead()).toEqual({ now: jumpMs, settled: 0 })
      passLooking(machine, clock, clockHoldMs - 1_000)
      expect(ahead()).toEqual({ now: jumpMs, settled: 0 })
      machine.correct()
      passLooking(machine, clock, 3 * clockHoldMs)
      expect(ahead().settled).toBe(0)
      expect(machine.logged).toEqual([
        ['clock_jumped', { ahead_ms: jumpMs }],
        ['clock_behind', { behind_ms: jumpMs }],
      ])
      expect(clock.aheadMs()).toBe(jumpMs)
    },
  )

  test('and back leaves what serves requests ahead, and going on', () => {
    const { machine, clock, ahead } = startRight()
    machine.step(yearsMs)
    clock.now()
    machine.correct()
    for (const ms of [0, 1, 1_000, dayMs]) {
      machine.pass(ms)
      expect(ahead()).toEqual({ now: yearsMs, settled: 0 })
    }
  })

  test('and stands there is believed after the hold, not before', () => {
    const { machine, clock, ahead } = startRight()
    machine.step(yearsMs)
    expect(ahead().settled).toBe(0)
    passLooking(machine, clock, clockHoldMs - 1)
    expect(ahead().settled).toBe(0)
    machine.pass(1)
    expect(ahead()).toEqual({ now: yearsMs, settled: yearsMs })
    passLooking(machine, clock, 2 * clockHoldMs)
    expect(ahead()).toEqual({ now: yearsMs, settled: yearsMs })
  })

  test('and does not stay in one place is not believed', () => {
    const { machine, clock, ahead } = startRight()
    for (let jumps = 1; jumps <= 6; jumps += 1) {
      machine.step(2 * clockStepMsMax)
      passLooking(machine, clock, clockHoldMs - 1_000)
      expect(ahead()).toEqual({ now: jumps * 2 * clockStepMsMax, settled: 0 })
    }
  })
})

describe('a wall that falls behind', () => {
  test.each([clockStepMsMax + 1, hourMs, dayMs, fakeStartMs, 2 * fakeStartMs])(
    'by %d ms is not listened to: both go on as if it were right',
    stepMs => {
      const { machine, clock, ahead } = startRight()
      clock.now()
      machine.step(-stepMs)
      for (const ms of [0, 1, 1_000, dayMs]) {
        passLooking(machine, clock, ms)
        expect(ahead()).toEqual({ now: 0, settled: 0 })
      }
      expect(clock.aheadMs()).toBe(clock.now() - Math.max(0, machine.wall()))
      machine.correct()
      expect(ahead()).toEqual({ now: 0, settled: 0 })
      expect(clock.aheadMs()).toBe(0)
      expect(machine.logged.map(([event]) => event)).toEqual(['clock_behind', 'clock_caught_up'])
    },
  )

  test('because it stands still does not stop the time for longer than two minutes', () => {
    const { machine, clock } = startRight()
    machine.freeze()
    passLooking(machine, clock, clockStepMsMax)
    const [now, settled] = [clock.now(), clock.settled()]
    passLooking(machine, clock, clockStepMsMax)
    expect(clock.now()).toBeGreaterThan(now)
    expect(clock.settled()).toBeGreaterThan(settled)
    const later = clock.now()
    machine.pass(hourMs)
    expect([clock.now(), clock.settled()]).toEqual([later + hourMs, later + hourMs])
  })
})

describe('a clock that starts again', () => {
  test('with an earlier wall goes on from what the killed process told', () => {
    const { machine, clock } = startRight()
    machine.pass(dayMs)
    const told = clock.now()
    machine.step(-hourMs)
    const again = machine.start()
    expect(again.now()).toBeGreaterThanOrEqual(told)
    expect(again.now()).toBeLessThanOrEqual(told + clockLeaseMs)
    const before = again.now()
    machine.pass(1_000)
    expect(again.now()).toBe(before + 1_000)
    expect(machine.logged).toEqual([['clock_behind', { behind_ms: hourMs + clockLeaseMs }]])
  })

  test('with an earlier wall destroys only what that wall calls expired too', () => {
    const { machine, clock } = startRight()
    clock.keep()
    machine.step(-hourMs)
    const again = machine.start()
    passLooking(machine, again, 3 * clockHoldMs)
    expect(aheadOf(machine, again)).toEqual({ now: 0, settled: -hourMs })
  })

  test('with an earlier wall that is set right is right at once', () => {
    const { machine, clock } = startRight()
    clock.keep()
    machine.step(-yearsMs)
    const again = machine.start()
    passLooking(machine, again, hourMs)
    machine.correct()
    expect(aheadOf(machine, again)).toEqual({ now: 0, settled: 0 })
    machine.step(yearsMs)
    expect(aheadOf(machine, again)).toEqual({ now: yearsMs, settled: 0 })
  })

  test('while the wall is ahead believes it after the hold of a start, not before', () => {
    const { machine, clock } = startRight()
    clock.keep()
    machine.step(yearsMs)
    const again = machine.start()
    const held = { now: yearsMs, settled: -clockStepMsMax }
    expect(aheadOf(machine, again)).toEqual(held)
    machine.pass(clockStartHoldMs - 1)
    expect(aheadOf(machine, again)).toEqual(held)
    machine.pass(1)
    expect(aheadOf(machine, again)).toEqual({ now: yearsMs, settled: yearsMs })
    expect(machine.logged).toEqual([])
  })

  test('while the wall is ahead, in the place of one among others, holds it as a jump', () => {
    const { machine, clock } = startRight()
    clock.keep()
    machine.step(yearsMs)
    const again = machine.start(clockHoldMs)
    const held = { now: yearsMs, settled: -clockStepMsMax }
    expect(aheadOf(machine, again)).toEqual(held)
    machine.pass(clockHoldMs - 1)
    expect(aheadOf(machine, again)).toEqual(held)
    machine.pass(1)
    expect(aheadOf(machine, again)).toEqual({ now: yearsMs, settled: yearsMs })
  })

  test('while the wall is ahead, and is then set right, has destroyed nothing', () => {
    const { machine, clock } = startRight()
    clock.keep()
    machine.step(yearsMs)
    const jumped = machine.start()
    passLooking(machine, jumped, clockStartHoldMs - 1)
    machine.correct()
    passLooking(machine, jumped, 2 * clockHoldMs)
    expect(aheadOf(machine, jumped)).toEqual({ now: yearsMs, settled: 0 })
    const last = aheadOf(machine, machine.start())
    expect(last.settled).toBe(0)
    expect(last.now).toBeLessThanOrEqual(clockLeaseMs)
  })

  test('jumped in its first seconds holds the jump for the whole hour', () => {
    const { machine } = startRight()
    machine.start().keep()
    machine.pass(dayMs)
    const again = machine.start()
    machine.step(yearsMs)
    passLooking(machine, again, clockHoldMs - 1_000)
    // The downtime is skipped too: it can no longer be told apart from the jump.
    expect(again.settled()).toBeLessThan(machine.right())
  })

  test('after a clean stop shows the very instant again', () => {
    const { machine, clock } = startRight()
    machine.pass(1_234)
    clock.keep()
    const told = clock.now()
    expect(machine.text).toBe(`${told}\n`)
    machine.step(-dayMs)
    expect(machine.start().now()).toBe(told)
  })

  test('and stops again and again never goes back, though the wall stays behind', () => {
    const { machine, clock } = startRight()
    let told = clock.now()
    machine.step(-dayMs)
    for (let starts = 0; starts < 20; starts += 1) {
      const again = machine.start()
      expect(again.now()).toBeGreaterThanOrEqual(told)
      machine.pass(500)
      told = again.now()
      if (starts % 2 === 0) again.keep()
    }
    expect(told).toBeLessThan(machine.right() + 21 * clockLeaseMs)
  })
})

describe('the mark', () => {
  test('covers what was told, and is written once in a lease at most', () => {
    const { machine, clock } = startRight()
    for (let ms = 0; ms < 20_000; ms += 1) {
      machine.pass(1)
      const told = clock.now()
      if (Number(machine.text) < told) throw new Error('an instant was told that is not covered')
    }
    expect(machine.writes).toBeGreaterThan(1)
    expect(machine.writes).toBeLessThanOrEqual(20_000 / clockLeaseMs + 1)
  })

  test('says nothing of a jump that is held', () => {
    const { machine, clock } = startRight()
    machine.step(yearsMs)
    passLooking(machine, clock, 10_000)
    clock.keep()
    expect(Number(machine.text)).toBe(machine.right())
  })

  const largest = String(deadlineMsMax)
  const damaged = [
    '\n',
    'canary',
    '1',
    '-1\n',
    '1e3\n',
    ' 1\n',
    '1\n1\n',
    '\0\0\0\0',
    '9'.repeat(64),
  ]

  test.each([...damaged, `${deadlineMsMax + 1}\n`, `${'9'.repeat(15)}\n`])(
    'that is %j is ignored, with a line in the log, and is written anew',
    text => {
      const machine = fakeMachine()
      machine.text = text
      const clock = machine.start()
      expect(aheadOf(machine, clock)).toEqual({ now: 0, settled: 0 })
      expect(machine.logged).toEqual([['clock_mark_ignored']])
      expect(machine.text).toBe(`${machine.right() + clockLeaseMs}\n`)
    },
  )

  test('that is missing is no damage; the largest there can be is taken', () => {
    expect(startRight().machine.logged).toEqual([])
    const machine = fakeMachine()
    machine.text = `${largest}\n`
    expect(machine.start().now()).toBe(deadlineMsMax)
    expect(machine.logged.map(([event]) => event)).toEqual(['clock_behind'])
  })

  test('that cannot be kept stops no clock, is said once, and is tried again', () => {
    const machine = fakeMachine()
    machine.isBroken = true
    const clock = machine.start()
    for (let seconds = 0; seconds < 10; seconds += 1) {
      machine.pass(1_000)
      expect(aheadOf(machine, clock)).toEqual({ now: 0, settled: 0 })
    }
    expect(machine.logged).toEqual([['clock_mark_ignored'], ['clock_not_kept']])
    machine.isBroken = false
    machine.pass(clockLeaseMs)
    clock.now()
    machine.pass(1)
    clock.now()
    expect(Number(machine.text)).toBeGreaterThanOrEqual(clock.now())
    machine.isBroken = true
    clock.keep()
    expect(machine.logged).toHaveLength(3)
  })

  test('is not needed by a vault that does not stay', () => {
    const { wall, elapsedMs, right } = fakeMachine()
    const log = () => {
      throw new Error('there is nothing to tell')
    }
    const clock = makeClock({ wall, elapsedMs, mark: noMark, startHoldMs: 0, log })
    expect(clock.now()).toBe(right())
    clock.keep()
  })
})
