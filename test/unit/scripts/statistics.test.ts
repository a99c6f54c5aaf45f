import { describe, expect, test } from 'bun:test'
import { median, quantile, ratiosOf, summaryOf } from '../../../scripts/bench/statistics.ts'

describe('the median', () => {
  test('is the value in the middle, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([10, 9, 100])).toBe(10)
  })

  test('of an even number of values is the middle between two', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  test('of nothing is refused', () => {
    expect(() => median([])).toThrow(RangeError)
  })
})

describe('a quantile', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at)

  test('is a value that came, by the nearest rank', () => {
    expect(quantile(hundred, 0.5)).toBe(50)
    expect(quantile(hundred, 0.99)).toBe(99)
    expect(quantile(hundred, 1)).toBe(100)
    expect(quantile([7], 0)).toBe(7)
  })

  test('of nothing is refused', () => {
    expect(() => quantile([], 0.5)).toThrow(RangeError)
  })
})

describe('rounds', () => {
  test('are compared with the round beside them', () => {
    expect(ratiosOf([10, 30], [5, 10])).toEqual([2, 3])
  })

  test('that have no other side are left out', () => {
    expect(ratiosOf([10, 30, 50], [5, 10])).toEqual([2, 3])
  })

  test('are told by their median and both ends', () => {
    expect(summaryOf([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
  })
})
