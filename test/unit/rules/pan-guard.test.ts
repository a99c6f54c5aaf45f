import { describe, expect, test } from 'bun:test'
import { assertNoCardNumber, containsCardNumber } from '../../../src/rules/clear-text.ts'
import { expectRefusal } from '../../support/refusal.ts'

const pan = '4242424242424242'

describe('the guard finds a card number', () => {
  test.each([
    ['before hexadecimal digits in a word that is no hash', 'zz4242424242424242abababab'],
    ['behind hexadecimal digits in a word that is no hash', 'abababab4242424242424242zz'],
    ['alone', pan],
    ['of 13 digits', '4222222222222'],
    ['of 14 digits', '36227206271667'],
    ['of 15 digits', '378282246310005'],
    ['of 19 digits', '5589092000000000006'],
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
    ['in the groups of nineteen digits', '5589 0920 0000 0000 006'],
    ['in groups after another group', '1234 4242 4242 4242 4242'],
    ['in groups before another group', '4242-4242-4242-4242-12'],
    ['in groups inside a container', '/x/4242-4242-4242-4242/'],
  ])('%s', (_, text) => {
    expect(containsCardNumber(text)).toBe(true)
    expectRefusal(() => assertNoCardNumber(text, 'metadata[0]'), ['metadata[0]'], ['4242', text])
  })
})

describe('the guard lets pass', () => {
  test.each([
    ['nothing', ''],
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
    ['digits of another script', '\uff14242\uff14242\uff14242\uff14242'],
    ['a date and time', '2030-08-26 12:00:00'],
  ])('%s', (_, text) => {
    expect(containsCardNumber(text)).toBe(false)
    expect(() => assertNoCardNumber(text, 'metadata[0]')).not.toThrow()
  })
})
