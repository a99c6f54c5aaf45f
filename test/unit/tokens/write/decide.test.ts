import { expect, test } from 'bun:test'
import { changesOfOthers } from '../../../../src/tokens/write/decide-token.ts'

test('one row is required once, though it stands in the way twice', () => {
  const seats = [
    { require: 3, ifVersion: 1 },
    { require: 5, ifVersion: 1 },
    { require: 3, ifVersion: 1 },
  ]
  expect(changesOfOthers(seats)).toEqual([
    { require: 3, ifVersion: 1 },
    { require: 5, ifVersion: 1 },
  ])
})
