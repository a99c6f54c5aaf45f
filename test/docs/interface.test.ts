/**
 * The table of `docs/interface.md`: every row names a test that exists.
 * @module
 */
import { expect, test } from 'bun:test'
import { faultOf, faultsOf, readRows } from '../support/proofs.ts'

const rows = readRows('docs/interface.md')

test('every row names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(150)
  expect(faultsOf(rows)).toEqual([])
})

test('no statement stands twice', () => {
  const statements = rows.map(([statement = '']) => statement)
  const again = statements.filter((text, index) => statements.indexOf(text) !== index)
  expect(again).toEqual([])
})

test('a row without a proof, or with one that is not there, is found', () => {
  const own = 'docs/interface.test.ts'
  expect(faultOf('said', `\`${own} › no statement stands twice\``)).toBeUndefined()
  for (const cell of ['', own, `${own} › rows`, `${own} › absent`, 'docs/absent.test.ts › a']) {
    expect(faultOf('said', cell)).toStartWith('said: ')
  }
})
