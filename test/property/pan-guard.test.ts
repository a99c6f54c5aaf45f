import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { containsCardNumber, isLuhnValid } from '../../src/rules/clear-text.ts'

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })

const withCheckDigit = (head: string): string =>
  Array.from({ length: 10 }, (_, last) => `${head}${last}`).find(isLuhnValid) ?? ''

/** Whole numbers but for their check digit, of some schemes with the lengths that they have. */
const cardHead = (lengths: readonly number[]) =>
  fc
    .constantFrom(
      ...(
        [
          ['4', 13],
          ['4', 16],
          ['4', 19],
          ['51', 16],
          ['2223', 16],
          ['37', 15],
          ['36', 14],
          ['3530', 16],
          ['6011', 16],
          ['62', 16],
          ['62', 19],
          ['6759', 17],
        ] as const
      ).filter(([, length]) => lengths.includes(length)),
    )
    .chain(([start, length]) => {
      const left = length - 1 - start.length
      return digits(left, left).map(rest => start + rest)
    })
    // Such 13 digits, up to the year 2100, are epoch times.
    .filter(head => head.length !== 12 || head > '413500000000')

const lengths = [13, 14, 15, 16, 17, 19]

const around = fc.string({
  unit: fc.constantFrom('x', ' ', '-', '/', '_', '.', '\u00e9'),
  maxLength: 4,
})

describe('guard laws', () => {
  test('finds every valid number of a scheme between other characters', () => {
    fc.assert(
      fc.property(cardHead(lengths), around, around, (head, before, after) => {
        expect(containsCardNumber(before + withCheckDigit(head) + after)).toBe(true)
      }),
    )
  })

  test('finds it in four groups of four', () => {
    const joint = fc.constantFrom(' ', '-')
    fc.assert(
      fc.property(cardHead([16]), fc.tuple(joint, joint, joint), (head, [a, b, c]) => {
        const pan = withCheckDigit(head)
        const [w, x, y, z] = [0, 4, 8, 12].map(from => pan.slice(from, from + 4))
        expect(containsCardNumber(`${w}${a}${x}${b}${y}${c}${z}`)).toBe(true)
      }),
    )
  })

  test('takes no run of digits of another length, or whose check sum fails', () => {
    fc.assert(
      fc.property(digits(0, 24), run => {
        const isCard = run.length >= 13 && run.length <= 19 && isLuhnValid(run)
        if (!isCard) expect(containsCardNumber(run)).toBe(false)
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
