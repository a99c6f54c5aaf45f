import { describe, expect, test } from 'bun:test'
import { assertNoCardNumber, containsCardNumber } from '../../../src/rules/clear-text.ts'
import { expectRefusal } from '../../support/refusal.ts'

const pan = '4242424242424242'

describe('the guard finds a card number', () => {
  // proves C7.17
  test.each([
    ['before hexadecimal digits in a word that is no hash', 'zz4242424242424242abababab'],
    ['behind hexadecimal digits in a word that is no hash', 'abababab4242424242424242zz'],
    ['alone', pan],
    ['of 13 digits', '4222222222222'],
    ['of 14 digits', '36227206271667'],
    ['of 15 digits', '378282246310005'],
    ['of 19 digits', '6205500000000000004'],
    ['in a sentence', `paid with ${pan}, thanks`],
    ['inside a word', `card${pan}x`],
    ['after other digits', `12 ${pan}`],
    ['before other digits', `${pan} 12/30 123`],
    ['after a run that is too long', `00000000000000000000,${pan}`],
    ['in a container', `/customers/${pan}/`],
    ['beside an underscore', `pan_${pan}`],
    ['in groups with spaces', '4242 4242 4242 4242'],
    ['in groups with dashes', '4242-4242-4242-4242'],
    ['in groups with both', '4242 4242-4242 4242'],
    ['in the groups of fifteen digits', '3782 822463 10005'],
    ['in the groups of fourteen digits', '3622 720627 1667'],
    ['in the groups of nineteen digits', '6205 5000 0000 0000 004'],
    ['in groups after another group', '1234 4242 4242 4242 4242'],
    ['in groups before another group', '4242-4242-4242-4242-12'],
    ['in groups inside a container', '/x/4242-4242-4242-4242/'],
    ['of Mastercard with 2', '2223003122003222'],
    ['of American Express', '371449635398431'],
    ['of Diners Club', '30569309025904'],
    ['of JCB', '3530111333300000'],
    ['of Discover', '6011111111111117'],
    ['of UnionPay', '6200000000000005'],
    ['of Maestro', '6759649826438453'],
    ['before an instant', `${pan} 2026-11-25T10:00:00Z`],
    ['that ends as a day does, before a time', '4000000000001208 12:30'],
    ['behind a sum', `1+${pan}`],
    ['behind a blank that is written as a plus', `paid+${pan}`],
    ['behind the code of a country', `+1 ${pan}`],
    ['in groups behind one', 'call +49 4242 4242 4242 4242'],
    ['as the fraction of an instant that has none so long', `2026-11-25T10:00:00.${pan}`],
    ['in full-width digits', '４２４２４２４２４２４２４２４２'],
    ['in Arabic-Indic digits', '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢'],
    ['in mathematical digits', '𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐'],
    ['in digits of two scripts', '٤٢٤٢4242４２４２٤٢٤٢'],
    ['in wide groups with wide dashes', '４２４２－４２４２－４２４２－４２４２'],
    ['before a digit that is raised', `${pan}²`],
  ])('%s', (_, text) => {
    expect(containsCardNumber(text)).toBe(true)
    expectRefusal(() => assertNoCardNumber(text, 'metadata[0]'), ['metadata[0]'], ['4242', text])
  })
})

describe('the guard lets pass', () => {
  test.each([
    ['nothing', ''],
    ['a beginning of no scheme', '0000000000000000'],
    ['another one', '1234567812345670'],
    ['a length that its scheme has not', '42424242424242'],
    ['19 digits of a scheme that has 16', '5589092000000000006'],
    ['15 digits of a scheme that has 16 and more', '620000000000000'],
    ['a telephone number', '+4222222222222'],
    ['a telephone number with blanks', 'call +49 151 2345 6789 012'],
    ['a number after a leading plus', `+${pan}`],
    ['one in groups after it', '+4242-4242-4242-4242'],
    ['an instant of ISO 8601', '2026-11-25T10:00:00.424242424242+02:00'],
    ['one without separators', '20261125T100000Z'],
    ['epoch milliseconds', '1764064800006'],
    ['epoch milliseconds late in the century', '4012888888881'],
    ['epoch microseconds', '1764064800000002'],
    ['a number that fails the Luhn check', '4242424242424241'],
    ['groups that fail the Luhn check', '4242 4242 4242 4241'],
    ['twelve digits', '424242424242'],
    ['twenty digits', '00000000000000000000'],
    ['a number inside a longer run', `1${pan}000`],
    ['a long word without a digit', 'abcdefghijklmnopqrstuvwxyz'],
    ['such a word among many digits', 'abcdefghijklmnopqrstuvwxyz 4242424242424241'],
    ['groups of more digits than any card has', '1111 111111 111111 111111 111111'],
    ['a masked number', 'XXXXXXXXXXXX4242'],
    ['groups with two spaces', '4242  4242  4242  4242'],
    ['groups with commas', '4,242,424,242,424,242'],
    ['groups of two after a group of four', '4242-42-42-42-42-42-42-42'],
    ['groups that are no card', '42 42 42 42 42 42 42 42'],
    ['groups at the end of a hexadecimal word', 'ab4242-4242-4242-4242ab'],
    ['a UUID', '42424242-4242-4242-4242-424242424242'],
    ['an MD5 that holds a valid run', `${pan}abcdefabcdefabcd`],
    ['digits of another script that are no card number', '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٣'],
    ['a date and time', '2030-08-26 12:00:00'],
  ])('%s', (_, text) => {
    expect(containsCardNumber(text)).toBe(false)
    expect(() => assertNoCardNumber(text, 'metadata[0]')).not.toThrow()
  })
})
