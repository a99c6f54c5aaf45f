import { describe, expect, spyOn, test } from 'bun:test'
import {
  countCodePoints,
  indexAfter,
  indexBeforeLast,
} from '../../../../src/language/expression/run.ts'

/** Units include the first and last halves of pairs, and the characters around them. */
const units = ['a', 'é', '日', '\ud7ff', '\ue000', '😀', '\u{10000}', '\u{103ff}', '\u{10ffff}']

describe('code points', () => {
  test.each(units)('are counted and cut right for runs of %s, short and long', unit => {
    for (const count of [0, 1, 31, 32, 33, 34, 100]) {
      const text = unit.repeat(count)
      expect(countCodePoints(text)).toBe(count)
      for (const part of [0, 1, 2, 32, 33, 34, 99, 100, 101]) {
        const size = Math.min(part, count) * unit.length
        expect(indexAfter(text, part)).toBe(size)
        expect(indexBeforeLast(text, part)).toBe(text.length - size)
      }
    }
  })

  test('a cut never falls into a pair', () => {
    const text = 'a😀b😃'
    expect([0, 1, 2, 3, 4, 5].map(count => indexAfter(text, count))).toEqual([0, 1, 3, 4, 6, 6])
    expect([0, 1, 2, 3, 4, 5].map(count => indexBeforeLast(text, count))).toEqual([
      6, 4, 3, 1, 0, 0,
    ])
  })

  test.each([indexAfter, indexBeforeLast])('%p looks through long text only for long cuts', cut => {
    const looks = spyOn(Buffer, 'byteLength')
    const looksOf = (text: string, count: number): number => {
      looks.mockClear()
      cut(text, count)
      return looks.mock.calls.length
    }
    try {
      const long = 'a'.repeat(100)
      expect([0, 1, 31, 32].map(count => looksOf(long, count))).toEqual([0, 0, 0, 0])
      expect([33, 34, 100, 101].map(count => looksOf(long, count))).toEqual([1, 1, 1, 1])
      expect(looksOf('a'.repeat(32), 33)).toBe(0)
    } finally {
      looks.mockRestore()
    }
  })

  test('a negative count cuts nothing', () => {
    expect(indexAfter('abc', -1)).toBe(0)
    expect(indexBeforeLast('abc', -1)).toBe(3)
  })
})
