import { expect, test } from 'bun:test'
import { makeSeats } from '../../../src/webhooks/seats.ts'

const take = () => makeSeats({ own: 1, all: 2 }, 'streams')

test('a seat that is given back twice is one seat', () => {
  const takeSeat = take()
  const giveBack = takeSeat(1)
  takeSeat(2)
  giveBack()
  giveBack()
  takeSeat(3)
  expect(() => takeSeat(4)).toThrow('All 2 streams are taken.')
})

test('a seat given back is one for the credential again, and not for another', () => {
  const takeSeat = take()
  const giveBack = takeSeat(1)
  takeSeat(2)
  expect(() => takeSeat(1)).toThrow('This credential has 1 streams')
  giveBack()
  expect(() => takeSeat(2)).toThrow('This credential has 1 streams')
  expect(() => takeSeat(1)).not.toThrow()
})
