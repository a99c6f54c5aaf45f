/**
 * Token buckets, by a clock that is handed in.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeRateLimit } from '../../../src/http/rate-limit.ts'
import { rateBucketsMax } from '../../../src/limits/limits.ts'
import { fakeClock } from '../../support/seeded.ts'

const freeOf = (perSecond: number | undefined, elapsedMs: () => number) => {
  const { enter } = makeRateLimit(perSecond, elapsedMs)
  return (ordinal: number) => enter(ordinal) === 0
}

const many = (isFree: (ordinal: number) => boolean, count: number, ordinal = 1) =>
  Array.from({ length: count }, () => isFree(ordinal)).filter(Boolean).length

describe('a rate limit', () => {
  test('lets as many through at once as in a second, and no more', () => {
    const clock = fakeClock()
    const isFree = freeOf(10, clock.now)
    expect(many(isFree, 100)).toBe(10)
    clock.advance(99)
    expect(many(isFree, 100)).toBe(0)
    clock.advance(1)
    expect(many(isFree, 100)).toBe(1)
    clock.advance(3_600_000)
    expect(many(isFree, 100)).toBe(10)
  })

  test('is for each credential', () => {
    const isFree = freeOf(1, fakeClock().now)
    expect([isFree(1), isFree(1), isFree(2), isFree(2)]).toEqual([true, false, true, false])
  })

  test('never lets more through than a full bucket and the time allow', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), steps, (perSecond, waits) => {
        const clock = fakeClock()
        const isFree = freeOf(perSecond, clock.now)
        const passed = waits.filter(waitMs => {
          clock.advance(waitMs)
          return isFree(1)
        })
        const seconds = waits.reduce((sum, waitMs) => sum + waitMs, 0) / 1_000
        expect(passed.length).toBeLessThanOrEqual(perSecond + seconds * perSecond)
      }),
    )
  })

  test('forgets the least recent credential when there are too many', () => {
    const isFree = freeOf(1, fakeClock().now)
    for (let ordinal = 0; ordinal < rateBucketsMax; ordinal += 1) isFree(ordinal)
    expect([isFree(0), isFree(1)]).toEqual([false, false])
    expect(isFree(rateBucketsMax)).toBe(true)
    // Number 2 had not called since, so it left for the new one.
    expect([isFree(0), isFree(1)]).toEqual([false, false])
    expect(isFree(2)).toBe(true)
  })

  test('is none where none is set', () => {
    expect(many(freeOf(undefined, fakeClock().now), 1_000)).toBe(1_000)
  })

  test('counts the items of a call beside the call itself', () => {
    const clock = fakeClock()
    const { enter, add } = makeRateLimit(10, clock.now)
    expect([enter(1), add(1, 6)]).toEqual([0, 0])
    expect([enter(1), add(1, 6)]).toEqual([0, 1])
    expect([enter(1), add(1, 0), add(1, 1)]).toEqual([0, 0, 0])
    expect(enter(1)).toBe(1)
  })

  test('lets what is larger than a bucket pass once, and then waits for all of it', () => {
    const clock = fakeClock()
    const { enter, add } = makeRateLimit(10, clock.now)
    expect([enter(1), enter(1)]).toEqual([0, 0])
    expect(add(1, 99)).toBe(0)
    expect(add(1, 99)).toBeGreaterThan(0)
    expect(enter(1)).toBe(10)
    clock.advance(9_000)
    expect(enter(1)).toBe(1)
    clock.advance(1_000)
    expect(enter(1)).toBe(0)
  })
})
