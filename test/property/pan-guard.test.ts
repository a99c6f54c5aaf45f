import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { containsCardNumber, isLuhnValid } from '../../src/rules/clear-text.ts'

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })

const withCheckDigit = (head: string): string =>
  Array.from({ length: 10 }, (_, last) => `${head}${last}`).find(isLuhnValid) ?? ''

const around = fc.string({
  unit: fc.constantFrom('x', ' ', '-', '/', '_', '.', '\u00e9'),
  maxLength: 4,
})

describe('guard laws', () => {
  test('finds every valid number of 13 to 19 digits between other characters', () => {
    fc.assert(
      fc.property(digits(12, 18), around, around, (head, before, after) => {
        expect(containsCardNumber(before + withCheckDigit(head) + after)).toBe(true)
      }),
    )
  })

  test('finds it in four groups of four', () => {
    const joint = fc.constantFrom(' ', '-')
    fc.assert(
      fc.property(digits(15, 15), fc.tuple(joint, joint, joint), (head, [a, b, c]) => {
        const pan = withCheckDigit(head)
        const [w, x, y, z] = [0, 4, 8, 12].map(from => pan.slice(from, from + 4))
        expect(containsCardNumber(`${w}${a}${x}${b}${y}${c}${z}`)).toBe(true)
      }),
    )
  })

  test('takes a single run of digits exactly by its length and check sum', () => {
    fc.assert(
      fc.property(digits(0, 24), run => {
        const isCard = run.length >= 13 && run.length <= 19 && isLuhnValid(run)
        expect(containsCardNumber(run)).toBe(isCard)
      }),
      { numRuns: 500 },
    )
  })

  test('never refuses a UUID', () => {
    fc.assert(
      fc.property(fc.uuid(), id => {
        expect(containsCardNumber(id)).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })
})
