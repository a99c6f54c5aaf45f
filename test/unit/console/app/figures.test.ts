/**
 * Numbers as the console shows them.
 * @module
 */
import { expect, test } from 'bun:test'
import {
  printBytes,
  printCount,
  printMs,
  printRate,
  printSpan,
} from '../../../../src/console/app/figures.ts'

test('bytes have at most three digits and a unit', () => {
  expect([0, 999, 1_000, 65_500, 446_000, 70_400_000_000].map(printBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '65.5 KB',
    '446 KB',
    '70.4 GB',
  ])
})

test('times are in the largest unit of which there are two', () => {
  expect([0, 1.5, 119, 120, 7_199, 7_200, 172_800].map(printSpan)).toEqual([
    '0 s',
    '1 s',
    '119 s',
    '2 min',
    '119 min',
    '2 h',
    '2 d',
  ])
  expect([0.42, 37.4, 1_500].map(printMs)).toEqual(['0.4 ms', '37 ms', '1.5 s'])
})

test('counts and rates are short', () => {
  expect([printCount(1_204_311), printRate(0.25), printRate(1_234.5)]).toEqual([
    '1,204,311',
    '0.3/s',
    '1,235/s',
  ])
})
