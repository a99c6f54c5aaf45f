/**
 * The table of `docs/hostile-inputs.md`: every case is there, and names tests that exist.
 * @module
 */
import { expect, test } from 'bun:test'
import { faultsOf, readRows } from '../support/proofs.ts'

const rows = readRows('docs/hostile-inputs.md')

/** Numbers of the list that stand for no case. */
const gaps = new Set([21, 42, 45, 47, 59, 71, 77, 83, 86, 89, 103, 112, 119, 132, 159])
const last = 171

/** Of the last section: the points of a review, some with cases of their own. */
const ofReview = /^E(\d+)(?:\.(\d+))?$/
const isOfReview = ([name = '']: readonly string[]) => ofReview.test(name)

test('every case is there, once, in order', () => {
  const expected = Array.from({ length: last }, (_, index) => index + 1).filter(
    number => !gaps.has(number),
  )
  const listed = rows.filter(cells => !isOfReview(cells)).map(([name = '']) => name)
  expect(listed).toEqual(expected.map(number => `H${number}`))
  const points = rows.filter(isOfReview).map(([name = '']) => name)
  expect(new Set(points).size).toBe(points.length)
})

test('every case says what is sent and what is answered, and names tests that exist', () => {
  expect(rows.filter(cells => cells.length !== 4 || cells.includes(''))).toEqual([])
  expect(faultsOf(rows)).toEqual([])
})
