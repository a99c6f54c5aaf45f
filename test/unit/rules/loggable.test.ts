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
  ...['٤', '۴', '४', '４', '𝟒', '④', '⁴'].map(four => '4242424242424242'.replaceAll('4', four)),
  'Ｋｅｙ＿short',
  encodeURIComponent('٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢'),
  '4242424242424242²',
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
  '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٣',
  'caf%E9',
])('%s is shown', text => {
  expect(loggable(text)).toBe(text)
})

/** Digit groups of it form a number with a valid check sum, by chance. */
const unlucky = 'bf62ea5f-db0f-4c16-8434-19413351f3cc'

// proves E24.6
test.each([
  unlucky,
  unlucky.toUpperCase(),
  `${unlucky}-trace-1`,
  `req:${unlucky}/2`,
  `${unlucky},${unlucky}`,
])('the UUID in %s is shown', text => {
  expect(loggable(text)).toBe(text)
})

// proves E24.6, S2
test.each([
  ['of digits alone', '42424242-4242-4242-8242-424242424242'],
  ['of digits alone, before a letter', '42424242-4242-4242-8242-424242424242-a'],
  ['of a version that no UUID has', 'bf62ea5f-db0f-0c16-8434-19413351f3cc'],
  ['of a variant that no UUID has', 'bf62ea5f-db0f-4c16-7063-19413351f3cc'],
  ['that goes on', `${unlucky}a`],
  ['that has begun before', `a${unlucky}`],
  ['beside a card number', `${unlucky}-4242424242424242`],
  ['behind a card number', `4242-4242-4242-4242-${unlucky}`],
  ['whose first half is a card number', '42424242-4242-4242-a0a0-a0a0a0a0a0a0'],
  ['whose first half is one, before digits', '42424242-4242-4242-8000-00000000000a'],
  ['whose last half is a card number', 'a0a0a0a0-a0a0-4aa0-8100-000000000002'],
  ['that ends with a card number', 'deadbeef-dead-4ead-a378-282246310005'],
  ['with a card number between letters', 'deadbee4-2424-2428-8000-005aaaaaaaaa'],
  ['with a card number of 19 digits', '62055000-0000-4000-802a-bcdefabcdefa'],
])('a UUID %s is hidden', (_, text) => {
  expect(loggable(text)).toBe('hidden')
})

test('of random UUIDs nearly all are shown', () => {
  const uuids = Array.from({ length: 100_000 }, () => uuidOf(random(16)))
  expect(uuids.filter(uuid => loggable(uuid) === 'hidden').length).toBeLessThan(60)
})

// proves E24.6, S2
test('a failure of the vault is logged without a trace id that is a card number', () => {
  const lines: unknown[] = []
  const log = (event: string, facts?: object) => void lines.push({ event, ...facts })
  const error = new ApiError('internal', 'unexpected')
  problemResponse(error, '4242.4242.4242.4242', log, new Headers())
  expect(lines).toMatchObject([{ event: 'request_failed', trace_id: 'hidden' }])
})
