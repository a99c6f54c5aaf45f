import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'
import {
  evaluateJson,
  expectDataRefusal,
  expectParseRefusal,
  filter,
} from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

const instant = '2027-02-03T04:05:06.078Z'

describe('date', () => {
  // proves C6.38
  test.each([
    [instant, '2027-02-03 04:05:06'],
    ['2027-02-03T04:05:06', '2027-02-03 04:05:06'],
    ['2027-02-03T04:05:06+02:00', '2027-02-03 02:05:06'],
    ['2027-02-03', '2027-02-03 00:00:00'],
    ['2027-02', '2027-02-01 00:00:00'],
    ['8/26/2030 1:02:03 PM', '2030-08-26 13:02:03'],
    [1801627506, '2027-02-03 04:05:06'],
    ['1801627506', '2027-02-03 04:05:06'],
    [-1, '1969-12-31 23:59:59'],
    [null, null],
  ])('takes %j', (data, output) => {
    expect(filter("date: '%Y-%m-%d %H:%M:%S'", data)).toBe(output)
  })

  test('takes exact numbers', () => {
    const printed = evaluateJson("{{ data | date: '%Y' }}", parseJson('1801627506.0'))
    expect(printed).toBe('2027')
  })

  test.each([
    'now',
    'today',
    '',
    canary,
    '2027-02-30',
    '2027-13-01',
    '2027-02-03  04:05',
    '2027-02-03T25:00:00Z',
    '9'.repeat(20),
    9e15,
    true,
    { 0: instant },
    [[instant]],
    [['1801627506']],
    {},
  ])('fails on %j: there is no clock, and nothing comes out unchanged', data => {
    expectDataRefusal("date: '%Y'", data)
  })

  test.each([
    ['%a %A %b %B %h', 'Wed Wednesday Feb February Feb'],
    ['%C %d %e %-d %_d %H %I %j %k %l', '20 03  3 3  3 04 04 034  4  4'],
    ['%L %m %-m %M %N %3N %6N %p %P', '078 02 2 05 078000000 078 078000 AM am'],
    ['%q %s %S %u %U %w %W %y %Y', 'rd 1801627506 06 3 05 3 05 27 2027'],
    ['%z %:z %Z %%', '+0000 +00:00 UTC %'],
    ['%n%t', '\n\t'],
    ['%c|%x|%X', 'Wed Feb  3 04:05:06 2027|02/03/27|04:05:06'],
    ['%^a %#a %#p %^B', 'WED WED am FEBRUARY'],
    ['%5d %_5d %05d %-5d %010Y', '00003     3 00003 3 0000002027'],
    ['%Ey %Od', '27 03'],
    ['plain', 'plain'],
    ['', ''],
    ["%d'%m", "03'02"],
  ])('prints %j', (format, output) => {
    expect(filter(`date: "${format}"`, instant)).toBe(output)
  })

  test.each([
    ['2027-01-01', '%U %W %j %u', '00 00 001 5'],
    ['2028-12-31', '%U %W %j %u', '53 52 366 7'],
    ['2027-01-02', '%U %W', '00 00'],
    ['2027-01-03', '%U %W', '01 00'],
    ['2027-01-04', '%U %W', '01 01'],
    ['2027-01-09', '%U %W', '01 01'],
    ['2027-01-10', '%U %W', '02 01'],
    ['2027-01-11', '%U %W', '02 02'],
    ['2027-01-11', '%q %-d', 'th 11'],
    ['2027-01-22', '%q', 'nd'],
    ['2027-01-10', '%q', 'th'],
    ['2027-01-12', '%q', 'th'],
    ['2027-01-13', '%q', 'th'],
    ['2027-01-14', '%q', 'th'],
    ['2027-01-23', '%q', 'rd'],
    ['2027-01-24', '%q', 'th'],
    ['2027-01-01T12:00:00Z', '%p %P', 'PM pm'],
    ['2027-01-01T11:59:59Z', '%p %P', 'AM am'],
    ['2027-01-01', '%0e %_d', '01  1'],
    [-62198755200, '%_5C|%5C', '   -1|-0001'],
    ['2027-01-31T12:00:00Z', '%q %I %l %p', 'st 12 12 PM'],
    [-62198755200, '%Y %C %y', '-001 -1 99'],
  ])('%j as %j is %j', (data, format, output) => {
    expect(filter(`date: '${format}'`, data)).toBe(output)
  })

  test('pads to a width of 1,000 characters and no further', () => {
    expect(filter("date: '%1000d'", instant)).toBe('3'.padStart(1_000, '0'))
    expectParseRefusal("{{ data | date: '%1001d' }}")
  })

  test('has the format of Liquid when none is given', () => {
    expect(filter('date', instant)).toBe('Wednesday, February 3, 2027 at 4:05 am +0000')
  })

  test.each([
    "date: '%'",
    "date: 'a%'",
    "date: '%E'",
    "date: '%Q'",
    "date: '%1001d'",
    `date: '%${'9'.repeat(300)}d'`,
    'date: 1',
    'date: data',
    "date: '%Y', 1",
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })
})
