/**
 * Parts of a caller's text that may stand in a log.
 * @module
 */
import { expect, test } from 'bun:test'
import { base58, uuidOf } from '../../../src/lib/bytes.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { problemResponse } from '../../../src/http/problem.ts'
import { loggable } from '../../../src/rules/loggable.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(41)
const bare = base58(random(16))

// proves E24.6, S2
test.each([
  '4242424242424242',
  'a4242424242424242b',
  ...[' ', '-', '.', '_', '/', ':', '--', ', ', '%20', '%2D'].map(between =>
    ['4242', '4242', '4242', '4242'].join(between),
  ),
  'trace-4242_4242_4242_4242-1',
  '7.4242.4242.4242.4242',
  '42424242.42424242',
  Array.from('4242424242424242').join('.'),
  '3782/822463/10005',
  'key_short',
  `KEY_${bare}`,
  `key%5F${bare}`,
  bare,
  `trace-${bare}`,
  `key:${bare};1`,
])('%s is hidden', text => {
  expect(loggable(text)).toBe('hidden')
})

test.each([
  'x"y\\z',
  '4242.4242.4242.4243',
  '20261125-222436-123457-0001',
  '2026-11-25T22:24:36.123456Z',
  'a1b2c3d4e5f60718-1z',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'Root=1-67891233-abcdef012345678912345678',
  '%zz%4',
])('%s is shown', text => {
  expect(loggable(text)).toBe(text)
})

test('of random UUIDs nearly all are shown', () => {
  const uuids = Array.from({ length: 2_000 }, () => uuidOf(random(16)))
  expect(uuids.filter(uuid => loggable(uuid) === 'hidden').length).toBeLessThan(40)
})

// proves E24.6, S2
test('a failure of the vault is logged without a trace id that is a card number', () => {
  const lines: unknown[] = []
  const log = (event: string, facts?: object) => void lines.push({ event, ...facts })
  const error = new ApiError('internal', 'unexpected')
  problemResponse(error, '4242.4242.4242.4242', log, new Headers())
  expect(lines).toMatchObject([{ event: 'request_failed', trace_id: 'hidden' }])
})
