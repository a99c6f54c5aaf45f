import { expect, test } from 'bun:test'
import { boundReaders } from '../../../src/webhooks/feed-readers.ts'

/** Readers of credentials by their ordinals, of one tenant unless another is named. */
function readers() {
  const enter = boundReaders({ own: 1, all: 2 }, 'streams')
  return (ordinal: number, tenantId = 'first') =>
    enter({ tenantId, credential: { ordinal, version: 1, uniques: [] } })
}

test('a reader that leaves twice has left once', () => {
  const enter = readers()
  const leave = enter(1)
  enter(2)
  leave()
  leave()
  enter(3)
  expect(() => enter(4)).toThrow('All 2 streams are taken.')
})

test('a reader that leaves makes room for its credential, and not for another', () => {
  const enter = readers()
  const leave = enter(1)
  enter(2)
  expect(() => enter(1)).toThrow('This credential has 1 streams')
  leave()
  expect(() => enter(2)).toThrow('This credential has 1 streams')
  expect(() => enter(1)).not.toThrow()
})

// proves S43
test('readers of one tenant keep no other from as many as a credential may have', () => {
  const enter = readers()
  enter(1)
  enter(2)
  const leave = enter(3, 'second')
  expect(() => enter(4, 'second')).toThrow('All 2 streams are taken.')
  expect(() => enter(5)).toThrow('All 2 streams are taken.')
  leave()
  expect(() => enter(4, 'second')).not.toThrow()
})
