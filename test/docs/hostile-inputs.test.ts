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

const names = rows.map(([name = '']) => name)
/** Cases that came later are numbered by points: `E3.1`. */
const pointOfIssue = /^E\d+(?:\.\d+)?$/

test('every case is there, once, in order', () => {
  const expected = Array.from({ length: last }, (_, index) => index + 1).filter(
    number => !gaps.has(number),
  )
  expect(names.filter(name => !pointOfIssue.test(name))).toEqual(
    expected.map(number => `H${number}`),
  )
})

test('no case stands twice', () => {
  expect(names.length).toBe(new Set(names).size)
})

test('every case says what is sent and what is answered, and names tests that exist', () => {
  expect(rows.filter(cells => cells.length !== 4 || cells.includes(''))).toEqual([])
  expect(faultsOf(rows)).toEqual([])
})
