/**
 * `docs/hostile-inputs.md`: every case is there, once and in order, with request and answer.
 * @module
 */
import { expect, test } from 'bun:test'
import { readStatements } from '../support/statements.ts'

const rows = readStatements('docs/hostile-inputs.md')

/** Attacks by readers of the code: the number of the point, and its cases. */
const attack = /^E(\d+)(?:\.(\d+))?$/

const names = rows.map(([name = '']) => name)
const listed = names.filter(name => !attack.test(name))
const attacks = names.filter(name => attack.test(name))

/** Numbers of the list that stand for no case. */
const gaps = new Set([21, 42, 45, 47, 59, 71, 77, 83, 86, 89, 103, 112, 119, 132, 159])
const last = 172

test('every case is there, once, in order', () => {
  const expected = Array.from({ length: last }, (_, index) => index + 1).filter(
    number => !gaps.has(number),
  )
  expect(listed).toEqual(expected.map(number => `H${number}`))
})

test('every attack stands once, in order', () => {
  const numbers = attacks.map(name => {
    const [, point = '', at = '0'] = attack.exec(name) ?? []
    return Number(point) * 1_000 + Number(at)
  })
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
})

test('every case says what is sent and what is answered', () => {
  expect(rows.filter(cells => cells.length !== 3 || cells.includes(''))).toEqual([])
})
