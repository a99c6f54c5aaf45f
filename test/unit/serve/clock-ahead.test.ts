/**
 * Reports of a clock that is ahead of its wall, and the events that end them. Source:
 * src/server/process/clock.ts.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { clockHoldMs, clockStepMsMax } from '../../../src/limits/operation-limits.ts'
import { aheadOf, passLooking, startRight } from '../../support/fake-wall.ts'

const hourMs = 60 * 60 * 1_000
const yearsMs = 3_652 * 24 * hourMs

describe('a clock that is ahead of its wall', () => {
  test('says so from more than a minute on, until the wall has come up to it, once each', () => {
    const { machine, clock } = startRight()
    machine.pass(hourMs)
    clock.now()
    machine.step(-clockStepMsMax)
    expect(clock.aheadMs()).toBe(0)
    machine.step(-1)
    expect(clock.aheadMs()).toBe(clockStepMsMax + 1)
    machine.step(2)
    expect(clock.aheadMs()).toBe(clockStepMsMax - 1)
    passLooking(machine, clock, clockStepMsMax - 2)
    expect(clock.aheadMs()).toBe(1)
    expect(machine.logged).toEqual([['clock_behind', { behind_ms: clockStepMsMax + 1 }]])
    machine.pass(1)
    expect(clock.aheadMs()).toBe(0)
    passLooking(machine, clock, hourMs)
    expect(machine.logged.slice(1)).toEqual([['clock_caught_up']])
  })

  test.each([
    ['was held: a start ends that', clockHoldMs - 1_000, 0],
    ['was believed: a start goes on', clockHoldMs, 5 * hourMs],
  ])('after a jump that %s', (_, standsMs, aheadMs) => {
    const { machine, clock } = startRight()
    machine.step(5 * hourMs)
    expect(clock.aheadMs()).toBe(0)
    passLooking(machine, clock, standsMs)
    machine.correct()
    passLooking(machine, clock, 10 * hourMs)
    expect(clock.aheadMs()).toBe(5 * hourMs)
    clock.keep()
    const again = machine.start()
    expect(again.aheadMs()).toBe(aheadMs)
    machine.text = ''
    const without = machine.start()
    expect(without.aheadMs()).toBe(0)
    expect(aheadOf(machine, without)).toEqual({ now: 0, settled: 0 })
  })

  test('of a wall that jumps is not: what is told is that it has jumped', () => {
    const { machine, clock } = startRight()
    machine.step(yearsMs)
    expect(clock.aheadMs()).toBe(0)
    expect(machine.logged.map(([event]) => event)).toEqual(['clock_jumped'])
  })
})
