/**
 * Windows of guesses, by a clock that is handed in.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeGuessWindows } from '../../../../src/tokens/find/guess-windows.ts'
import { guessersMax, guessWindowMs } from '../../../../src/limits/limits.ts'
import { fakeClock } from '../../../support/seeded.ts'

const minute = guessWindowMs

function openCounted(budget = 10) {
  const clock = fakeClock()
  const windows = makeGuessWindows(clock.now)
  const take = (count: number, guesser = 1, tenantId = 'first') =>
    windows.take([{ guesser, tenantId, budget }], count)
  const isFree = (...asked: Parameters<typeof take>) => take(...asked).waitSeconds === 0
  return { clock, windows, take, isFree }
}

describe('a budget of guesses', () => {
  test('is spent exactly, and fresh a minute after its first guess', () => {
    const { clock, take, isFree } = openCounted()
    expect([isFree(4), isFree(6), isFree(1)]).toEqual([true, true, false])
    clock.advance(minute - 1)
    expect(take(1).waitSeconds).toBe(1)
    clock.advance(1)
    expect([isFree(10), isFree(1)]).toEqual([true, false])
  })

  test('is not touched by what it refuses', () => {
    const { isFree } = openCounted()
    expect([isFree(8), isFree(3), isFree(2)]).toEqual([true, false, true])
  })

  test('tells the first refusal of each window, and how long it lasts', () => {
    const { clock, take } = openCounted()
    take(10)
    expect([take(1), take(1)]).toEqual([
      { waitSeconds: 60, isFirst: true },
      { waitSeconds: 60, isFirst: false },
    ])
    clock.advance(minute)
    take(10)
    expect(take(1)).toEqual({ waitSeconds: 60, isFirst: true })
  })

  test('lets what is larger than itself pass in a fresh window, which lasts for all of it', () => {
    const { clock, take, isFree } = openCounted()
    expect(isFree(35)).toBe(true)
    expect(take(1).waitSeconds).toBe(240)
    clock.advance(4 * minute)
    expect([isFree(1), isFree(35)]).toEqual([true, false])
  })

  test('of none asks whether one is left', () => {
    const { isFree } = openCounted()
    expect([isFree(0), isFree(10), isFree(0)]).toEqual([true, true, false])
  })

  test('takes what was learned already, and waits for it', () => {
    const { windows, take } = openCounted()
    windows.add([{ guesser: 1, tenantId: 'first', budget: 10 }], 25)
    expect(take(1).waitSeconds).toBe(180)
  })

  test('takes from all shares or from none', () => {
    const { windows } = openCounted()
    const shares = (guesser: number) => [
      { guesser, tenantId: 'first', budget: 10 },
      { guesser: 'all', tenantId: 'first', budget: 15 },
    ]
    expect(windows.take(shares(1), 10).waitSeconds).toBe(0)
    expect(windows.take(shares(2), 6).waitSeconds).toBe(60)
    expect(windows.take(shares(2), 5).waitSeconds).toBe(0)
    expect(windows.take(shares(3), 1).waitSeconds).toBe(60)
  })

  // proves E6.4, S67
  test('is never fresh because others came, however many', () => {
    const { clock, isFree } = openCounted()
    expect(isFree(10)).toBe(true)
    for (let other = 2; other < guessersMax + 11; other += 1) isFree(1, other)
    expect(isFree(1)).toBe(false)
    // Guesses that come then share one budget.
    expect([isFree(1, -1), isFree(1, -2)]).toEqual([false, false])
    clock.advance(minute)
    expect([isFree(10, -1), isFree(10, -2), isFree(10)]).toEqual([true, true, true])
  })

  // proves S43
  test('of newcomers is not spent by those of another tenant, however many', () => {
    const { isFree } = openCounted()
    for (let other = 0; other < guessersMax; other += 1) isFree(1, other)
    expect([isFree(10, -1), isFree(1, -2)]).toEqual([true, false])
    expect([isFree(10, -3, 'second'), isFree(1, -4, 'second')]).toEqual([true, false])
  })

  test('lets no more pass in any time than its minutes allow', () => {
    const steps = fc.array(
      fc.record({
        waitMs: fc.integer({ min: 0, max: 40_000 }),
        count: fc.integer({ min: 1, max: 9 }),
      }),
      { maxLength: 200 },
    )
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 40 }), steps, (budget, asked) => {
        const { clock, take } = openCounted(budget)
        let passed = 0
        let ms = 0
        for (const { waitMs, count } of asked) {
          clock.advance(waitMs)
          ms += waitMs
          if (take(count).waitSeconds === 0) passed += count
        }
        expect(passed).toBeLessThanOrEqual(budget * (Math.floor(ms / minute) + 1))
      }),
    )
  })
})
