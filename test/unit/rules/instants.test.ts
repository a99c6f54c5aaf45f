import { describe, expect, test } from 'bun:test'
import { parseFutureInstant, parseInstant, printInstantUtc } from '../../../src/rules/instants.ts'
import { expiryTextCharsMax } from '../../../src/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const read = (text: string) => parseInstant(text, 'expires_at')

const refuse = (text: string) =>
  expectRefusal(() => read(text), ['expires_at'], text.length > 6 ? [text] : [])

describe('parseInstant takes', () => {
  test.each([
    ['8/26/2030', '2030-08-26T00:00:00.000+00:00'],
    ['08/06/2030', '2030-08-06T00:00:00.000+00:00'],
    ['8/26/2030 7:23:57 PM -07:00', '2030-08-26T19:23:57.000-07:00'],
    ['8/26/2030 7:23:57 PM', '2030-08-26T19:23:57.000+00:00'],
    ['8/26/2030 12:00:00 AM +02:00', '2030-08-26T00:00:00.000+02:00'],
    ['8/26/2030 12:00:00 PM', '2030-08-26T12:00:00.000+00:00'],
    ['8/26/2030 12:59:59 AM', '2030-08-26T00:59:59.000+00:00'],
    ['8/26/2030 11:59:59 PM', '2030-08-26T23:59:59.000+00:00'],
    ['8/26/2030 01:00:00 AM', '2030-08-26T01:00:00.000+00:00'],
    ['2/29/2028', '2028-02-29T00:00:00.000+00:00'],
    ['2/29/2000', '2000-02-29T00:00:00.000+00:00'],
    ['12/31/9999 11:59:59 PM', '9999-12-31T23:59:59.000+00:00'],
    ['1/1/0001', '0001-01-01T00:00:00.000+00:00'],
    ['1/1/0099', '0099-01-01T00:00:00.000+00:00'],
    ['2030-08-26', '2030-08-26T00:00:00.000+00:00'],
    ['2030-08-26T19:23', '2030-08-26T19:23:00.000+00:00'],
    ['2030-08-26T19:23:57', '2030-08-26T19:23:57.000+00:00'],
    ['2030-08-26T19:23:57Z', '2030-08-26T19:23:57.000+00:00'],
    ['2030-08-26T19:23:57.1Z', '2030-08-26T19:23:57.100+00:00'],
    ['2030-08-26T19:23:57.123456789+05:30', '2030-08-26T19:23:57.123+05:30'],
    ['2030-08-26T19:23:57.999999999', '2030-08-26T19:23:57.999+00:00'],
    ['2030-08-26T00:00:00-00:00', '2030-08-26T00:00:00.000+00:00'],
    ['9999-12-31T23:59:59.999-14:00', '9999-12-31T23:59:59.999-14:00'],
    ['0001-01-01T00:00:00+14:00', '0001-01-01T00:00:00.000+14:00'],
  ])('%s and shows it as %s', (text, shown) => {
    expect(read(text).text).toBe(shown)
  })

  test.each([
    ['8/26/2030 12:00:00 AM +14:00', '2030-08-25T10:00:00.000+00:00'],
    ['8/26/2030 12:00:00 AM -12:00', '2030-08-26T12:00:00.000+00:00'],
    ['8/26/2030 12:00:00 AM -14:00', '2030-08-26T14:00:00.000+00:00'],
    ['2030-08-26T00:00:00+05:45', '2030-08-25T18:15:00.000+00:00'],
  ])('%s as the instant %s', (text, utc) => {
    expect(printInstantUtc(read(text).epochMs)).toBe(utc)
  })

  test('a text without an offset as UTC', () => {
    expect(read('8/26/2030 7:23:57 PM').epochMs).toBe(Date.UTC(2030, 7, 26, 19, 23, 57))
    expect(read('8/26/2030').epochMs).toBe(Date.UTC(2030, 7, 26))
    expect(read('2030-08-26').epochMs).toBe(Date.UTC(2030, 7, 26))
  })
})

describe('parseInstant refuses', () => {
  test.each([
    '2/30/2030',
    '2/29/2027',
    '2/29/2100',
    '4/31/2030',
    '13/1/2030',
    '0/1/2030',
    '1/0/2030',
    '1/32/2030',
    '1/1/0000',
    '2030-02-29',
    '2030-13-01',
    '2030-00-10',
    '2030-01-00',
    '0000-01-01',
    '0000-12-31T23:59:59-14:00',
  ])('%s, a day that does not exist', text => {
    expect(refuse(text).message).toContain('exist')
  })

  test.each([
    '8/26/2030 0:00:00 PM',
    '8/26/2030 0:00:00 AM',
    '8/26/2030 13:00:00 AM',
    '8/26/2030 99:00:00 PM',
    '8/26/2030 12:60:00 PM',
    '8/26/2030 12:00:60 PM',
    '12/31/2016 11:59:60 PM',
    '2030-08-26T24:00:00',
    '2030-08-26T25:00:00',
    '2030-08-26T12:60:00',
    '2016-12-31T23:59:60Z',
  ])('%s, a time that does not exist', text => {
    expect(refuse(text).message).toContain('exist')
  })

  test.each([
    '8/26/2030 1:00:00 AM +15:00',
    '8/26/2030 1:00:00 AM +14:01',
    '8/26/2030 1:00:00 AM -14:01',
    '8/26/2030 1:00:00 AM +99:99',
    '8/26/2030 1:00:00 AM +13:60',
    '2030-08-26T01:00:00+24:00',
  ])('%s, an offset that is nowhere', text => {
    expect(refuse(text).message).toContain('offset')
  })

  test.each([
    '',
    ' ',
    canary,
    '1/1/0',
    '1/1/30',
    '1/1/99999',
    '001/1/2030',
    '1/1/+2030',
    '1-1-2030',
    '8/26/2030 ',
    ' 8/26/2030',
    '8/26/2030\n',
    `8/26/2030 ${canary}`,
    '8/26/2030\0',
    '8/26/2030  1:00:00 AM',
    '8/26/2030 1:00:00  AM',
    '8/26/2030 1:00:00 AM  +00:00',
    '8/26/2030 1:00:00',
    '8/26/2030 1:00 AM',
    '8/26/2030 1:0:00 AM',
    '8/26/2030 1:00:00AM',
    '8/26/2030 1:00:00 am',
    '8/26/2030 1:00:00 AM Z',
    '8/26/2030 1:00:00 AM 00:00',
    '8/26/2030 1:00:00 AM +0:00',
    '8/26/2030 1:00:00 AM +0000',
    '8/26/2030 -1:00:00 AM',
    '8/26/2030 1:00:00 AM −07:00',
    '８/26/2030',
    '٨/26/2030',
    '8∕262030',
    '8/26/2030 001:00:00 AM',
    '8/26/2030 1:00:00.5 AM',
    '8/26/2030T1:00:00 AM',
    '2030-8-26',
    '30-08-26',
    '12030-08-26',
    '+002030-08-26',
    '-2030-08-26',
    '20300826',
    '2030-08-26 01:00:00',
    '2030-08-26t01:00:00',
    '2030-08-26T01:00:00z',
    '2030-08-26T01',
    '2030-08-26T1:00:00',
    '2030-08-26T01:00:00.',
    '2030-08-26T01:00:00.1234567890',
    '2030-08-26T01:00:00,5',
    '2030-08-26T01:00:00+00',
    '2030-08-26T01:00:00+0000',
    '2030-08-26Z',
    '2030-08-26+02:00',
    '2030-W35-1',
    '2030-238',
    '1900000000',
    'now',
  ])('%j, no form that is stated', text => {
    expect(refuse(text).message).toContain('M/D/YYYY')
  })

  test('a text of hostile length before it is read', () => {
    const hostile = `${'1'.repeat(50_000)}/1/2030`
    expect(refuse(hostile).message).toContain(`at most ${expiryTextCharsMax} characters`)
    expect(refuse(' '.repeat(expiryTextCharsMax + 1)).message).toContain('characters')
    expect(refuse(' '.repeat(expiryTextCharsMax)).message).toContain('M/D/YYYY')
  })
})

describe('parseFutureInstant', () => {
  const text = '2030-08-26T00:00:00.000+02:00'
  const { epochMs } = read(text)

  test('takes what is due one millisecond from now', () => {
    expect(parseFutureInstant(text, 'expires_at', epochMs - 1)).toEqual({ epochMs, text })
  })

  test.each([0, 1, 1_000_000])('refuses what was due %d ms ago', agoMs => {
    const run = () => parseFutureInstant(text, 'expires_at', epochMs + agoMs)
    expect(expectRefusal(run, ['expires_at'], [text]).message).toContain('future')
  })

  test('refuses a text that is no date as such', () => {
    expectRefusal(() => parseFutureInstant(canary, 'expires_at', 0), ['expires_at'])
  })
})

describe('printInstantUtc', () => {
  test.each([
    [0, '1970-01-01T00:00:00.000+00:00'],
    [1, '1970-01-01T00:00:00.001+00:00'],
    [-1, '1969-12-31T23:59:59.999+00:00'],
    [1_911_945_600_000, '2030-08-03T00:00:00.000+00:00'],
  ])('prints %d as %s', (epochMs, text) => {
    expect(printInstantUtc(epochMs)).toBe(text)
  })
})
