import { expect, test } from 'bun:test'
import { makeSeats } from '../../../src/webhooks/seats.ts'

/** @returns seats for credentials by their ordinals, of one tenant unless another is named */
function take() {
  const takeSeat = makeSeats({ own: 1, all: 2 }, 'streams')
  return (ordinal: number, tenantId = 'first') =>
    takeSeat({ tenantId, credential: { ordinal, version: 1 } })
}

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

// proves S43
test('seats that one tenant holds keep no other from as many as a credential has', () => {
  const takeSeat = take()
  takeSeat(1)
  takeSeat(2)
  const giveBack = takeSeat(3, 'second')
  expect(() => takeSeat(4, 'second')).toThrow('All 2 streams are taken.')
  expect(() => takeSeat(5)).toThrow('All 2 streams are taken.')
  giveBack()
  expect(() => takeSeat(4, 'second')).not.toThrow()
})
