import { expect, test } from 'bun:test'
import { changesOfOthers } from '../../../../src/tokens/write/decide-token.ts'

test('one row is changed once, though it stands in the way twice', () => {
  const seats = [
    { require: 3, ifVersion: 1 },
    { remove: 4, ifVersion: 2 },
    { require: 3, ifVersion: 1 },
    { require: 5, ifVersion: 1 },
  ]
  const leaving = new Map([
    [4, { remove: 4, ifVersion: 2 }],
    [5, { remove: 5, ifVersion: 1 }],
    [6, { remove: 6, ifVersion: 9 }],
  ])
  expect(changesOfOthers(seats, leaving)).toEqual([
    { require: 3, ifVersion: 1 },
    { remove: 4, ifVersion: 2 },
    { remove: 5, ifVersion: 1 },
    { remove: 6, ifVersion: 9 },
  ])
})
