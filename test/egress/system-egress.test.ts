/**
 * The resolver and the timer of this machine.
 * @module
 */
import { expect, test } from 'bun:test'
import { systemEgress } from '../../src/egress/system-egress.ts'
import { deliver, makeTestSend } from '../support/receivers.ts'

test('localhost is resolved by the list of hosts, and refused', async () => {
  const found = await systemEgress.resolve('localhost')
  expect(found.some(address => address === '127.0.0.1' || address === '::1')).toBe(true)
  const send = makeTestSend({ resolve: systemEgress.resolve })
  expect(await deliver('https://localhost/', send)).toEqual({ failure: 'address_refused' })
})

test('a name that nobody has is unresolved', async () => {
  const send = makeTestSend({ resolve: systemEgress.resolve })
  expect(await deliver('https://nobody.invalid/', send)).toEqual({ failure: 'unresolved' })
})

test('a timer runs out, or is prevented', async () => {
  const ended = Promise.withResolvers<string>()
  systemEgress.startTimer(1, () => ended.resolve('first'))()
  systemEgress.startTimer(2, () => ended.resolve('second'))
  expect(await ended.promise).toBe('second')
})
