import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isAbaValid } from '../../src/rules/token-types.ts'
import { isLuhnValid } from '../../src/rules/clear-text.ts'
import { isDigits } from '../../src/lib/bytes.ts'

const digitsOf = (minLength: number, maxLength: number) =>
  fc.array(fc.nat({ max: 9 }), { minLength, maxLength }).map(digits => digits.join(''))

/** Follows the standard: doubled digits are replaced by the sum of their own digits. */
const slowLuhn = (digits: string): boolean => {
  const worth = [...digits].reverse().map((digit, place) => {
    const weighted = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return [...String(weighted)].reduce((sum, part) => sum + Number(part), 0)
  })
  return worth.reduce((sum, part) => sum + part, 0) % 10 === 0
}

const slowAba = (digits: string): boolean => {
  const [d1 = 0, d2 = 0, d3 = 0, d4 = 0, d5 = 0, d6 = 0, d7 = 0, d8 = 0, d9 = 0] = [...digits].map(
    Number,
  )
  return (3 * (d1 + d4 + d7) + 7 * (d2 + d5 + d8) + (d3 + d6 + d9)) % 10 === 0
}

const replaced = (text: string, at: number, char: string) =>
  text.slice(0, at) + char + text.slice(at + 1)

describe('check sums', () => {
  test('Luhn agrees with its definition on every number of up to four digits', () => {
    for (let number = 0; number < 10_000; number += 1) {
      const digits = String(number)
      expect(isLuhnValid(digits) === slowLuhn(digits)).toBe(true)
    }
  })

  test('Luhn agrees with its definition on long numbers', () => {
    fc.assert(
      fc.property(digitsOf(13, 19), digits => {
        expect(isLuhnValid(digits)).toBe(slowLuhn(digits))
      }),
    )
  })

  test('exactly one last digit makes a number Luhn-valid', () => {
    fc.assert(
      fc.property(digitsOf(12, 18), digits => {
        const valid = Array.from({ length: 10 }, (_, last) => isLuhnValid(`${digits}${last}`))
        expect(valid.filter(Boolean)).toHaveLength(1)
      }),
    )
  })

  test('ABA agrees with its definition', () => {
    fc.assert(
      fc.property(digitsOf(9, 9), digits => {
        expect(isAbaValid(digits)).toBe(slowAba(digits))
      }),
    )
  })

  test('one changed digit breaks a valid routing number', () => {
    fc.assert(
      fc.property(
        digitsOf(8, 8),
        fc.nat({ max: 8 }),
        fc.integer({ min: 1, max: 9 }),
        (head, at, by) => {
          const valid = Array.from({ length: 10 }, (_, last) => `${head}${last}`).filter(isAbaValid)
          expect(valid).toHaveLength(1)
          const routing = valid[0] ?? ''
          const changed = replaced(routing, at, String((Number(routing[at]) + by) % 10))
          expect(isAbaValid(changed)).toBe(false)
        },
      ),
    )
  })

  test('digits are ASCII digits of the wanted length', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('0', '9', '/', ':', '\uff11'), maxLength: 5 }),
        text => {
          expect(isDigits(text, 1, 4)).toBe(/^[0-9]{1,4}$/.test(text))
        },
      ),
    )
  })
})
