/**
 * The line through the samples of a soak.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { fitTrend } from '../../../scripts/soak/slope.ts'

const minuteMs = 60_000

/** One sample a minute for an hour. */
const hourOf = (value: (minute: number) => number) =>
  Array.from({ length: 61 }, (_, minute) => ({ atMs: minute * minuteMs, value: value(minute) }))

describe('a trend', () => {
  test('of growth is told in percent of the mean for each hour', () => {
    const trend = fitTrend(hourOf(minute => 95 + minute / 6))
    expect(trend.percentPerHour).toBeCloseTo(10, 6)
    expect([trend.start, trend.end].map(Math.round)).toEqual([95, 105])
  })

  test('of what goes up and down is flat', () => {
    const trend = fitTrend(hourOf(minute => 100 + (Math.abs(minute - 30) % 2)))
    expect(Math.abs(trend.percentPerHour)).toBeLessThan(0.1)
  })

  test('of nothing, and of one sample, is flat', () => {
    expect(fitTrend(hourOf(() => 0)).percentPerHour).toBe(0)
    expect(fitTrend([{ atMs: 1, value: 7 }])).toEqual({ start: 7, end: 7, percentPerHour: 0 })
  })
})
