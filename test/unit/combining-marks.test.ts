import { describe, expect, test } from 'bun:test'
import { orderMarks } from '../../src/lib/combining-marks.ts'
import { foldMetadata } from '../../src/rules/clear-text.ts'

const isMark = (character: string): boolean => /\p{M}/u.test(character)
const from = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at))
/** Marks of the planes that have any, without variation selectors, with those without a class. */
const marks = [...from(0x3_00, 0xd7_ff), ...from(0xe0_00, 0x1_ff_ff)].filter(isMark)

/** Returns all of them, each far from the one before. */
function shuffled(step: number): string[] {
  return marks.map((_, at) => marks[(at * step) % marks.length] ?? '')
}

const runOf = (length: number, ...parts: readonly string[]): string =>
  `a${parts.flatMap(part => Array<string>(length).fill(part)).join('')}`

describe('a run of combining marks', () => {
  // proves E1.12
  test.each([
    ['two classes, each behind the other', runOf(250, '\u0301', '\u0323')],
    ['two classes in turns', runOf(250, '\u0301\u0323')],
    ['six classes, the last first', runOf(80, ...'\u0345\u0301\u0315\u0323\u0321\u0334')],
    ['marks that are two', runOf(500, '\u0f73')],
  ])('of %s leaves normalization nothing to move', (_what, text) => {
    const ordered = orderMarks(text)
    expect(ordered.normalize('NFD')).toBe(ordered)
    expect(text.normalize('NFD')).toBe(ordered)
    expect(foldMetadata(text)).toBe(text.normalize('NFC'))
  })

  test('of all marks there are is the same to every normalization, whatever their order', () => {
    for (const step of [1, 7, 101, 1_009]) {
      const all = shuffled(step)
      for (let at = 0; at < all.length; at += 100) {
        for (const base of ['', 'a', 'ộ', '\u1100\u1161', '\u0f71']) {
          const text = `${base}${all.slice(at, at + 100).join('')}z${base}\u0301`
          const ordered = orderMarks(text)
          for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) {
            expect(ordered.normalize(form) === text.normalize(form)).toBe(true)
          }
        }
      }
    }
  })

  test('that is short, and any other text, is as it was', () => {
    for (const text of [
      '',
      'a',
      'é'.repeat(500),
      '漢'.repeat(500),
      'a\u0301\u0323',
      'x'.repeat(99),
    ])
      expect(orderMarks(text)).toBe(text)
  })
})
