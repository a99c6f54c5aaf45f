/**
 * The guard of masks of cards by their form: masks that provably show little pass, all others are
 * refused. Source: contract section 6, PCI DSS 3.4.1.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  cardShapeOf,
  shownPlaces,
  showsEndsAtMost,
  showsNoMore,
} from '../../../src/rules/mask-guard.ts'
import { fromPlain } from '../../../src/lib/json/json.ts'
import { present } from '../../../src/lib/errors.ts'

const shapeOf = (type: string) => present(cardShapeOf(type), 'a type of cards')
const card = shapeOf('card')
const cardNumber = shapeOf('card_number')

const endsAtMost = (mask: unknown, length = 16, shape = card) =>
  showsEndsAtMost(shape, fromPlain(mask), length)
const placesOf = (mask: unknown, length = 16, shape = card) => {
  const places = shownPlaces(shape, fromPlain(mask), length)
  return places && [...places].toSorted((a, b) => a - b)
}
const from = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, at) => start + at)

test('cards alone are guarded', () => {
  for (const type of ['token', 'bank', 'social_security_number', 'Card', 'constructor']) {
    expect(cardShapeOf(type)).toBeUndefined()
  }
})

describe('the places of a number that a mask shows', () => {
  test.each([
    ['{{ data.number | reveal_last: 4 }}', from(12, 16)],
    ["{{ data.number | reveal_last: 4, '7' }}", from(12, 16)],
    ['{{ data.number | last4 }}', from(12, 16)],
    ['{{ data.number | reveal: 6, 4 }}', [...from(0, 6), ...from(12, 16)]],
    ["{{ data.number | reveal: 6, 4, 'X', '-' }}", [...from(0, 6), ...from(12, 16)]],
    ["{{ data.number | card_mask: 'true', 'true' }}", [...from(0, 8), ...from(12, 16)]],
    ["{{ data.number | card_mask: 'true', 'true', '4', '-' }}", [...from(0, 8), ...from(12, 16)]],
    ['{{ data.number | card_bin }}', from(0, 8)],
    ['{{ data["number"] | slice: 8, 8 }}', from(8, 16)],
    ['{{ data.number | slice: -6, 3 }}', from(10, 13)],
    ["{{ data.number | truncate: 9, '...' }}", from(0, 6)],
    ["{{ data.number | prepend: '1234567890123456' | slice: 16, 8 }}", from(0, 8)],
    ["{{ data.number | append: '00' | last4 }}", from(14, 16)],
    ["{{ data.number | pad_left: 20, '0' | slice: 4, 4 }}", from(0, 4)],
    ["{{ data.number | pad_right: 20, '1' | last4 }}", []],
    ["{{ data.number | reveal_last: 4 | replace: 'X', '*' }}", from(12, 16)],
    ["{{ data.number | reveal_last: 4 | remove: 'X' | slice: 0 }}", [12]],
    ["{{ data.number | reveal_last: 4 | remove_first: 'X' | slice: 11 }}", [12]],
    ["{{ data.number | reveal_last: 4 | replace_first: 'X', '*' }}", from(12, 16)],
    ["{{ data.number | replace: '', '-' | slice: 0, 3 }}", [0, 1]],
    ["{{ data.number | replace: nil, '-' | slice: 2 }}", [1]],
    ['{{ data.number | reveal_last: 4 | to_string }}', from(12, 16)],
    ['**** {{ data.number | last4 }} {{ data.number | slice: 0 }}', [0, ...from(12, 16)]],
    [
      { a: ['{{ data.number | last4 }}'], b: '{{ data.number | slice: 1, 2 }}' },
      [1, 2, 12, 13, 14, 15],
    ],
    ['{{ data.number }}', from(0, 16)],
    ['{{ data.number | reveal: 10, 10 }}', []],
    ['{{ data.number | slice: 1.5 }}', []],
    ['{{ data.holder | slice: 1 }} {{ data | card_exp: "MM/YY" }}', []],
    ['{{ data[0] }} {{ "4242" | append: 4242 }}', []],
    [['constant 4242', 4242, null, true], []],
  ])('of %j are %j', (mask, places) => {
    expect(placesOf(mask)).toEqual(places)
  })

  test.each(from(13, 20))('are told apart in a number of %d digits', length => {
    for (const place of from(0, length)) {
      expect(placesOf(`{{ data.number | slice: ${place} }}`, length)).toEqual([place])
    }
    expect(placesOf('{{ data | slice: 1, 2 }}', length, cardNumber)).toEqual([1, 2])
  })

  // proves E3.2, E3.4
  test.each([
    ['{{ data }}'],
    ['{{ data | stringify }}'],
    ['{{ data | last4 }}'],
    ["{{ data | json: '$.number' }}"],
    ['{{ data.cvc }}'],
    ['{{ data.cvc | reveal_last: 0 }}'],
    ['{{ data["cvc"] | size }}'],
    ['{{ data.number.x }}'],
    ['{{ "x" | append: data.cvc }}'],
    ['{{ "x" | append: data.number }}'],
    ['{{ data.holder | default: data }}'],
    ['{{ data.number | append: data.cvc | last4 }}'],
    ['{{ data.number | card_exp: "MM" }}'],
    ['{{ data | stringify | card_exp: "MM" }}'],
    ['{{ data | card_exp: "MM" | append: data.number }}'],
    ['{{ data | card_exp: "MM" | append: data }}'],
    ['{{ data.number | slice: data.from, 8 }}'],
    ['{{ data.number | prepend: data.pad | slice: 16, 8 }}'],
    ["{{ data.number | reveal: 0, 0, 'X', '5' }}"],
    ["{{ data.number | remove: '4' }}"],
    ["{{ data.number | replace: 4, 'x' }}"],
    ["{{ data.number | remove_first: '1-' }}"],
    ["{{ data.number | replace_first: '0', 'x' }}"],
    ['{{ data.number | divided_by: 2 }}'],
    ['{{ data.number | modulo: 97 }}'],
    ['{{ data.number | to_number }}'],
    ['{{ data.number | at_least: 4242424242424200 }}'],
    [`{{ data.number | json: "$[?@ > '4']" }}`],
    ["{{ data.number | split: '' | uniq | size }}"],
    ["{{ data.number | split: '' | sort | join: '' }}"],
    ["{{ data.number | split: '4' | first | size }}"],
    ["{{ data.number | split: '' | where: 'x' }}"],
    ["{{ data.number | default: 'x' }}"],
    ['{{ data.number | first }}'],
    ['{{ data.number | date: "%Y" }}'],
    ["{{ data.number | hmac: 'sha-256', 'k' | to_base64 }}"],
    ['{{ data.number | url_encode }}'],
    ['{{ data.number | upcase }}'],
  ])('cannot be told of %j', mask => {
    expect(placesOf(mask)).toBeUndefined()
    expect(endsAtMost(['constant', mask])).toBe(false)
  })

  test('are not told of a mask that reads the number too often', () => {
    const times = (count: number) =>
      Array.from({ length: count }, () => '{{ data.number | last4 }}')
    expect(placesOf([...times(64), '{{ data.holder }}'])).toEqual(from(12, 16))
    expect(placesOf(times(65))).toBeUndefined()
    expect(showsNoMore(card, times(64), times(1), 16)).toBe(true)
    expect(showsNoMore(card, times(65), times(1), 16)).toBe(false)
    expect(showsNoMore(card, times(1), times(65), 16)).toBe(true)
    expect(showsNoMore(card, ['{{ data.number | slice: 15 }}'], times(65), 16)).toBe(false)
  })

  test('are not told of an output that takes much work', () => {
    const padded = (length: number) =>
      `{{ data.number | pad_left: ${length}, 'a' | remove: 'a' | last4 }}`
    expect(placesOf(padded(100))).toEqual(from(12, 16))
    expect(placesOf(padded(300))).toBeUndefined()
  })

  test('are no longer looked for when the work of the request is done', () => {
    const meter = { stepsSpent: 0, stepsMax: 1_000 }
    const look = () => shownPlaces(card, '{{ data.number | last4 }}', 16, meter)
    expect(look()).toEqual(new Set(from(12, 16)))
    expect(meter.stepsSpent).toBeGreaterThan(0)
    meter.stepsSpent = meter.stepsMax
    expect(look).toThrow('less work together')
  })

  test('of a bare number are those of the data itself', () => {
    expect(placesOf('{{ data | last4 }}', 16, cardNumber)).toEqual(from(12, 16))
    expect(placesOf('{{ data.number | last4 }} {{ data.cvc }}', 16, cardNumber)).toEqual([])
    expect(placesOf('{{ data | slice: data }}', 16, cardNumber)).toBeUndefined()
    expect(placesOf('{{ data | card_exp: "MM" }}', 16, cardNumber)).toEqual([])
  })
})

describe('at most BIN and last four', () => {
  test.each([
    ['{{ data.number | reveal: 8, 4 }}', 16, true],
    ['{{ data.number | reveal: 8, 4 }}', 19, true],
    ['{{ data.number | reveal: 8, 4 }}', 15, false],
    ['{{ data.number | reveal: 6, 4 }}', 15, true],
    ['{{ data.number | reveal: 6, 4 }}', 13, true],
    ['{{ data.number | reveal: 7, 4 }}', 13, false],
    ['{{ data.number | reveal: 9, 4 }}', 16, false],
    ['{{ data.number | reveal: 8, 5 }}', 16, false],
    ['{{ data.number | slice: 0, 8 }} {{ data.number | last4 }}', 16, true],
    ['{{ data.number | slice: 8, 8 }}', 16, false],
    [{ a: '{{ data.number | card_bin }}', b: '{{ data.number | slice: 8 }}' }, 16, false],
    ['{{ data.number | card_mask: true, true }}', 14, true],
    [{ holder: '{{ data.holder }}', at: '{{ data.expiration_month }}' }, 16, true],
  ])('are shown by %j of %d digits: %p', (mask, length, isAllowed) => {
    expect(endsAtMost(mask, length)).toBe(isAllowed)
  })
})

describe('a mask in the place of another one', () => {
  const noMore = (mask: unknown, standing: unknown, length = 16) =>
    showsNoMore(card, fromPlain(mask), fromPlain(standing), length)
  const usual = {
    number: '{{ data.number | reveal_last: 4 }}',
    month: '{{ data.expiration_month }}',
    year: '{{ data.expiration_year }}',
  }

  test.each([
    ['{{ data.number | last4 }}', usual],
    ['{{ data.number | slice: 13, 2 }}', usual],
    ['{{ data | card_exp: "MM/YY" }}', usual],
    ['{{ data.expiration_month | plus: data.expiration_year }}', usual],
    ['ends in {{ data.number | last4 }}', { b: [{ c: '{{ data.number | reveal: 0, 4 }}' }] }],
    ['{{ data.cvc | size }}', ['{{ data.cvc | size }}', '{{ data.holder }}']],
    ['{{ data.cvc | slice: 1 }}', '{{ data.cvc }}'],
    ['{{ data.number | modulo: 97 }}', ['{{ data.number | modulo: 97 }}']],
    ['{{ data.address.city | upcase }}', '{{ data.address }}'],
    ['{{ data.number | modulo: 97 }} {{ data.cvc }}', '{{ data }}'],
    ['constant', usual],
    ['constant', null],
    [{}, null],
  ])('%j shows no more than %j', (mask, standing) => {
    expect(noMore(mask, standing)).toBe(true)
  })

  test.each([
    ['{{ data.number | reveal_last: 5 }}', usual],
    ['{{ data.number | slice: 8, 8 }}', '{{ data.number | slice: 0, 8 }}'],
    ['{{ data.number | last4 }}', '{{ data.number | card_bin }}'],
    ['{{ data.number | last4 }}', null],
    ['{{ data.number | modulo: 97 }}', '{{ data.number | modulo: 98 }}'],
    ['{{ data.cvc }}', usual],
    ['{{ data.cvc }}', '{{ data.cvc | size }}'],
    ['{{ data.holder }}', usual],
    ['{{ data.holder }}', '{{ data.holder | slice: 0 }}'],
    ['{{ data.holder | slice: 1 }}', '{{ data.holder | slice: 0 }}'],
    ['{{ data.address }}', '{{ data.address.city }}'],
    ['{{ data.expiration_month | append: data.holder }}', usual],
    ['{{ data | card_exp: "MM" }}', '{{ data.expiration_month }}'],
    ['{{ data }}', usual],
    ['{{ data | stringify }}', usual],
    [{ ...usual, holder: '{{ data.holder }}' }, usual],
    ['{{ data.number | slice: data.at }}', usual],
  ])('%j shows more than %j', (mask, standing) => {
    expect(noMore(mask, standing)).toBe(false)
  })

  test('is compared for the number that stands: its length decides what is shown', () => {
    expect(noMore('{{ data.number | slice: 9, 4 }}', usual, 13)).toBe(true)
    expect(noMore('{{ data.number | slice: 9, 4 }}', usual, 16)).toBe(false)
  })

  test('finds its outputs among many, whatever their order', () => {
    const members = Array.from({ length: 60 }, (_, index) => `{{ data.m${index} | size }}`)
    for (const member of members) expect(noMore(member, members.toReversed())).toBe(true)
    expect(noMore('{{ data.m60 | size }}', members)).toBe(false)
    expect(noMore('{{ data.a | size }}', members)).toBe(false)
    expect(noMore('{{ data.z | size }}', members)).toBe(false)
  })
})
