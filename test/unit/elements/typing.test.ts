/**
 * The fields without a browser: brands, groups, check sums, carets, dates and faults.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  cardNumberDigitsMax,
  cardNumberDigitsMin,
  maskHiddenDigitsMin,
} from '../../../src/limits/limits.ts'
import { groupNumber, kindOfNumber } from '../../../src/elements/frame/brands.ts'
import {
  cvcWriting,
  dataOf,
  faultsOf,
  keepsFromVault,
  numberWriting,
  stateOf,
} from '../../../src/elements/frame/card.ts'
import { digitsOf, isLuhnValid } from '../../../src/elements/frame/digits.ts'
import { rewrite } from '../../../src/elements/frame/editing.ts'
import { expiryOf, expiryWriting, isPast } from '../../../src/elements/frame/expiry.ts'
import { rewriteName } from '../../../src/elements/frame/name.ts'
import {
  cardDigitsMax,
  cardDigitsMin,
  hiddenDigitsMin,
  nameCharsMax,
} from '../../../src/elements/limits.ts'
import { isLuhnValid as isLuhnValidInVault, isCardNumber } from '../../../src/rules/clear-text.ts'
import { normaliseCard } from '../../../src/rules/token-types.ts'
import { seededBytes } from '../../support/seeded.ts'

const today = { month: 11, year: 2026 }

describe('a number', () => {
  test('is bounded as the vault bounds it', () => {
    expect([cardDigitsMin, cardDigitsMax]).toEqual([cardNumberDigitsMin, cardNumberDigitsMax])
    expect(hiddenDigitsMin).toBe(maskHiddenDigitsMin)
  })

  // proves F5
  test('is taken if and only if the vault takes it and its brand has numbers so long', () => {
    const bytes = seededBytes(5)(4_000)
    let taken = 0
    for (let at = 0; at < 2_000; at += 1) {
      const length = 10 + ((bytes[at] ?? 0) % 12)
      const number = Array.from({ length }, (_, digit) => (bytes[at + digit + 1] ?? 0) % 10).join(
        '',
      )
      const { number: fault } = faultsOf({ number, expiry: '1131', cvc: '123' }, today)
      const isOfBrand = kindOfNumber(number).lengths.includes(length)
      expect([number, fault === undefined]).toEqual([number, isCardNumber(number) && isOfBrand])
      expect(isLuhnValid(number)).toBe(isLuhnValidInVault(number))
      if (fault === undefined) taken += 1
    }
    expect(taken).toBeGreaterThan(50)
  })

  test.each([
    ['', 'unknown', ''],
    ['4', 'visa', '4'],
    ['4242424242424242', 'visa', '4242 4242 4242 4242'],
    ['4242424242424242424', 'visa', '4242 4242 4242 4242 424'],
    ['5555555555554444', 'mastercard', '5555 5555 5555 4444'],
    ['2221000000000009', 'mastercard', '2221 0000 0000 0009'],
    ['2720990000000007', 'mastercard', '2720 9900 0000 0007'],
    ['2721', 'unknown', '2721'],
    ['2220', 'unknown', '2220'],
    ['378282246310005', 'amex', '3782 822463 10005'],
    ['3782822', 'amex', '3782 822'],
    ['30569309025904', 'diners', '3056 930902 5904'],
    ['3056930902590400', 'diners', '3056 9309 0259 0400'],
    ['36227206271667', 'diners', '3622 720627 1667'],
    ['6011111111111117', 'discover', '6011 1111 1111 1117'],
    ['6445644564456445', 'discover', '6445 6445 6445 6445'],
    ['3530111333300000', 'jcb', '3530 1113 3330 0000'],
    ['6200000000000005', 'unionpay', '6200 0000 0000 0005'],
    ['6759649826438453', 'maestro', '6759 6498 2643 8453'],
    ['9', 'unknown', '9'],
  ])('%s is of %s and is written %j', (digits, brand, text) => {
    expect(kindOfNumber(digits).brand).toBe(brand as 'visa')
    expect(groupNumber(digits)).toBe(text)
  })

  test.each([
    ['4242-4242 4242.4242', '4242424242424242'],
    ['٤٢٤٢', '4242'],
    ['۴۲', '42'],
    ['４２', '42'],
    ['a4b2 ', '42'],
    ['½', ''],
  ])('%s has the digits %s', (text, digits) => {
    expect(digitsOf(text)).toBe(digits)
  })

  // proves E17.12
  test.each([
    ['4222222222222', 'incomplete'],
    ['42424242424242426', 'invalid'],
    ['4242424242424242428', undefined],
    ['5105105105102', 'incomplete'],
    ['3530111333301', 'incomplete'],
    ['6011000990136', 'incomplete'],
    ['6200000000000', 'incomplete'],
    ['30569309025904', undefined],
    ['9000000000001', undefined],
  ])('of the length of another brand is not whole: %s', (number, fault) => {
    const { number: found } = faultsOf({ number, expiry: '1131', cvc: '123' }, today)
    expect(isLuhnValidInVault(number)).toBe(true)
    expect(found).toBe(fault as 'incomplete')
  })

  test('has no more digits than its brand has', () => {
    expect(numberWriting.digits('37828224631000599', false)).toBe('378282246310005')
    expect(numberWriting.digits('4'.repeat(25), false)).toHaveLength(19)
  })
})

describe('a key', () => {
  /** `|` is the caret. */
  const typed = (marked: string) => ({ text: marked.replace('|', ''), caret: marked.indexOf('|') })
  const marked = ({ text, caret }: { text: string; caret: number }) =>
    `${text.slice(0, caret)}|${text.slice(caret)}`
  const backward = 'deleteContentBackward'
  const forward = 'deleteContentForward'

  test.each([
    ['', '4|', 'insertText', '4|'],
    ['4242', '42424|', 'insertText', '4242 4|'],
    ['42424242', '42942|4242', 'insertText', '4294 2|424 2'],
    ['42424242', '429|42 4242', 'insertText', '4294 2424 2'.replace('429', '429|')],
    ['4242424', '42424|24', 'insertText', '4242 4|24'],
    ['42424242', '4242|4242', backward, '424|4 242'],
    ['42424242', '4242|4242', forward, '4242| 242'],
    ['42424242', '424| 4242', backward, '424|4 242'],
    ['42424', '4242 |', backward, '4242|'],
    ['', '|', backward, '|'],
    ['', 'abc|', 'insertText', '|'],
    ['', '4242-4242-4242-4242|', 'insertFromPaste', '4242 4242 4242 4242|'],
    ['378282', '378282|', 'insertText', '3782 82|'],
    ['4', '|', 'deleteByCut', '|'],
  ])('in a number of %j that leaves %j by %s becomes %j', (before, left, kind, result) => {
    const written = rewrite(numberWriting, before, typed(left), kind)
    expect(marked(written)).toBe(result)
    expect(written.value).toBe(digitsOf(written.text))
  })

  test.each([
    ['', '1|', 'insertText', '1|'],
    ['', '5|', 'insertText', '05 / |'],
    ['1', '12|', 'insertText', '12 / |'],
    ['1', '1/|', 'insertText', '01 / |'],
    ['12', '12 / 3|', 'insertText', '12 / 3|'],
    ['1220', '12 / 203|', 'insertText', '12 / 203|'],
    ['1231', '12 / 313|', 'insertText', '12 / 31|'],
    ['12', '12 /|', backward, '1|'],
    ['123', '12 / |', backward, '12|'],
    ['1231', '|2 / 31', backward, '|23 / 1'],
    ['', '3/30|', 'insertFromPaste', '03 / 30|'],
    ['', '03/2030|', 'insertFromPaste', '03 / 2030|'],
    ['', '3-2030|', 'insertFromPaste', '03 / 2030|'],
    ['', '12 / 30|', 'insertReplacementText', '12 / 30|'],
    ['', '12/01/2030|', 'insertFromPaste', '12 / 01|'],
    ['', '4242 4242 4242 4242|', 'insertFromPaste', '|'],
  ])('in an expiry of %j that leaves %j by %s becomes %j', (before, left, kind, result) => {
    expect(marked(rewrite(expiryWriting, before, typed(left), kind))).toBe(result)
  })

  test('in a code ends with what the brand has', () => {
    const visa = cvcWriting(() => '4')
    const amex = cvcWriting(() => '37')
    const unknown = cvcWriting(() => '')
    const left = typed('12345|')
    const texts = [visa, amex, unknown].map(each => rewrite(each, '', left, 'insertText').text)
    expect(texts).toEqual(['123', '1234', '1234'])
  })
})

describe('a name', () => {
  // proves E17.15, S83
  test.each([
    ['Ada|', 'Ada|', 'Ada'],
    ['  Ada   Lovelace |', '  Ada   Lovelace |', 'Ada Lovelace'],
    ['A4d|a', 'Ad|a', 'Ada'],
    ['4242 4242|', ' |', ''],
    ['٤٢４２Ⅳ²①Ada|', 'Ada|', 'Ada'],
    ['A\u0000\u001bda|', 'Ada|', 'Ada'],
    ['𝟜𝟚é|', 'é|', 'é'],
  ])('of %j is written %j and counts as %j', (left, shown, value) => {
    const typed = { text: left.replace('|', ''), caret: left.indexOf('|') }
    const { text, caret, value: counted } = rewriteName('', typed)
    expect([`${text.slice(0, caret)}|${text.slice(caret)}`, counted]).toEqual([shown, value])
  })

  test('has a length, in whole characters', () => {
    const { value } = rewriteName('', { text: '𠮷'.repeat(nameCharsMax + 1), caret: 0 })
    expect(value).toBe('𠮷'.repeat(nameCharsMax))
  })

  test('keeps a card from the vault only where it is asked for and empty', () => {
    const card = { number: '4242424242424242', expiry: '1131', cvc: '123' }
    expect(faultsOf({ ...card, name: '' }, today)).toEqual({ name: 'incomplete' })
    expect(faultsOf({ ...card, name: 'Ada' }, today)).toEqual({})
    expect(dataOf({ ...card, name: 'Ada' })).toMatchObject({ cardholder_name: 'Ada' })
    expect(dataOf(card)).not.toHaveProperty('cardholder_name')
  })
})

describe('a date', () => {
  test('is whole with two or four digits of the year', () => {
    expect(['', '1', '12', '123', '12203'].map(expiryOf)).toEqual(Array(5).fill(undefined))
    expect(['1131', '112031'].map(expiryOf)).toEqual(Array(2).fill({ month: 11, year: 2031 }))
  })

  test('is past from the month behind it on', () => {
    expect(isPast({ month: 11, year: 2026 }, today)).toBe(false)
    expect(isPast({ month: 10, year: 2026 }, today)).toBe(true)
    expect(isPast({ month: 12, year: 2025 }, today)).toBe(true)
    expect(isPast({ month: 1, year: 2027 }, today)).toBe(false)
  })
})

describe('a card', () => {
  const right = { number: '4242424242424242', expiry: '1131', cvc: '123' }

  test.each([
    [{}, {}],
    [{ number: '' }, { number: 'incomplete' }],
    [{ number: '42424242' }, { number: 'incomplete' }],
    [{ number: '4242424242424241' }, { number: 'invalid' }],
    [{ number: '37828224631000', cvc: '1234' }, { number: 'incomplete' }],
    [{ number: '378282246310006', cvc: '1234' }, { number: 'invalid' }],
    [{ expiry: '' }, { expiry: 'incomplete' }],
    [{ expiry: '13' }, { expiry: 'invalid' }],
    [{ expiry: '0031' }, { expiry: 'invalid' }],
    [{ expiry: '1026' }, { expiry: 'past' }],
    [{ expiry: '1126' }, {}],
    [{ cvc: '12' }, { cvc: 'incomplete' }],
    [{ cvc: '1234' }, { cvc: 'invalid' }],
    [{ number: '378282246310005', cvc: '123' }, { cvc: 'incomplete' }],
  ])('with %j is at fault in %j', (change, faults) => {
    expect(faultsOf({ ...right, ...change }, today)).toEqual(faults as object)
  })

  // proves F5
  test('that has no fault is one that the vault takes as it is sent', () => {
    const data = new Map(Object.entries(dataOf(right)))
    expect(Object.fromEntries(normaliseCard(data, 'data') as Map<string, unknown>)).toEqual({
      number: right.number,
      expiration_month: 11,
      expiration_year: 2031,
      cvc: '123',
    })
  })

  test('tells the faults of fields that were left alone', () => {
    const digits = { ...right, number: '4242', expiry: '1020' }
    const state = (...left: readonly ('number' | 'expiry')[]) =>
      stateOf(digits, today, new Set(left))
    expect(state()).toEqual({ complete: false, brand: 'unknown', errors: {} })
    expect(state('number').errors).toEqual({ number: 'incomplete' })
    expect(state('expiry').errors).toEqual({ expiry: 'past' })
    expect(stateOf({ ...right, expiry: '1020' }, today, new Set()).complete).toBe(true)
    expect([undefined, 'past', 'invalid'].map(each => keepsFromVault(each as 'past'))).toEqual([
      false,
      false,
      true,
    ])
  })
})
