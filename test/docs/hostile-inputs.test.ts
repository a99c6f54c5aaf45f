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

test('every case is there, once, in order', () => {
  const expected = Array.from({ length: last }, (_, index) => index + 1).filter(
    number => !gaps.has(number),
  )
  const numbered = rows.map(([name = '']) => name).filter(name => !name.startsWith('E'))
  expect(numbered).toEqual(expected.map(number => `H${number}`))
})

test('cases of the code itself have a number of their own each', () => {
  const names = rows.map(([name = '']) => name).filter(name => name.startsWith('E'))
  expect(names.filter(name => !/^E\d+(?:\.\d+)?$/.test(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

test('every case says what is sent and what is answered, and names tests that exist', () => {
  expect(rows.filter(cells => cells.length !== 4 || cells.includes(''))).toEqual([])
  expect(faultsOf(rows)).toEqual([])
})
