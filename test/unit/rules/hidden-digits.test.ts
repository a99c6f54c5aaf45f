import { countDigits } from '../../../src/lib/bytes.ts'
import { describe, expect, test } from 'bun:test'
import { digitsAt, digitsChanger, hidesDigits } from '../../../src/rules/hidden-digits.ts'
import type { Json } from '../../../src/lib/json/json.ts'

const member = { member: 'number' }
const card = new Map<string, Json>([
  ['cvc', '123'],
  ['number', '4242'],
])

describe('the place of digits', () => {
  test('is the text itself, or the text of a member', () => {
    expect(digitsAt('4242', 'whole')).toBe('4242')
    expect(digitsAt(card, member)).toBe('4242')
  })

  test.each<[string, Json]>([
    ['a number', 4242],
    ['null', null],
    ['an object', card],
    ['a list', ['4242']],
  ])('is nowhere in the whole of %s', (_, data) => {
    expect(digitsAt(data, 'whole')).toBeUndefined()
  })

  test.each<[string, Json]>([
    ['text', '4242'],
    ['null', null],
    ['a list', ['4242']],
    ['an object without it', new Map([['cvc', '123']])],
    ['an object whose member is a number', new Map([['number', 4242]])],
  ])('is in no member of %s', (_, data) => {
    expect(digitsAt(data, member)).toBeUndefined()
  })

  test('takes other digits, and leaves all else as it was', () => {
    expect(digitsChanger('4242', 'whole')('5')).toBe('5')
    expect(digitsChanger(card, 'whole')('5')).toBe('5')
    expect(digitsChanger('4242', member)('5')).toBe('5')
    const change = digitsChanger(card, member)
    for (const digits of ['5', '6']) {
      expect(change(digits)).toEqual(
        new Map([
          ['cvc', '123'],
          ['number', digits],
        ]),
      )
    }
    expect(card.get('number')).toBe('4242')
  })
})

test('digits are counted, separators are not', () => {
  expect(countDigits('42-4 2x')).toBe(4)
  expect(countDigits('\u0663')).toBe(0)
})

describe('hiding digits', () => {
  const showing =
    (from: number) =>
    (digits: string): string =>
      digits.slice(from)

  test.each([
    ['424242', 2, 2, true],
    ['424242', 1, 2, false],
    ['424242', 6, 6, true],
    ['42', 2, 3, false],
    ['', 0, 0, true],
    ['', 0, 1, false],
  ])('of %j all but the last ones from %d on: %d hidden is %p', (digits, from, least, hidden) => {
    expect(hidesDigits(digits, least, showing(from))).toBe(hidden)
  })

  test('counts no separator as hidden', () => {
    expect(hidesDigits('4-2-4', 3, showing(4))).toBe(false)
    expect(hidesDigits('4-2-4', 3, showing(5))).toBe(true)
    expect(hidesDigits('----', 1, showing(4))).toBe(false)
    expect(hidesDigits('4-2-4', 3, () => '')).toBe(true)
    expect(hidesDigits('4-2-4', 4, () => '')).toBe(false)
  })

  // proves C6.40
  test('tries every other digit at each place', () => {
    const tried: string[] = []
    hidesDigits('90', 3, digits => (tried.push(digits), ''))
    const first = ['00', '10', '20', '30', '40', '50', '60', '70', '80']
    const second = ['91', '92', '93', '94', '95', '96', '97', '98', '99']
    expect(tried).toEqual(['90', ...first, ...second])
  })

  test('finds a digit that is shown by half', () => {
    const halves = (digits: string) => [...digits].map(digit => Math.floor(Number(digit) / 2))
    expect(hidesDigits('4242', 1, digits => halves(digits).join(''))).toBe(false)
    const isAbove = (digits: string) => String(digits > '4250')
    expect(hidesDigits('4242', 2, isAbove)).toBe(false)
  })

  test('asks no further than it must', () => {
    let asked = 0
    expect(hidesDigits('4242424242424242', 2, () => ((asked += 1), ''))).toBe(true)
    expect(asked).toBe(1 + 2 * 9)
    asked = 0
    expect(hidesDigits('4242424242424242', 1, digits => ((asked += 1), digits))).toBe(false)
    expect(asked).toBe(1 + 16)
  })

  test('an output that is not there hides as any other that never changes', () => {
    expect(hidesDigits('4242', 4, () => undefined)).toBe(true)
  })
})
