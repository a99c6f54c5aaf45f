import { describe, expect, test } from 'bun:test'
import { decodeQuoted, hasCharacters, ownText } from '../../src/lib/maps.ts'

describe('hasCharacters', () => {
  test.each([
    ['', 0, 0, true],
    ['', 1, 2, false],
    ['ab', 1, 2, true],
    ['abc', 1, 2, false],
    ['\u{1F600}\u{1F600}', 2, 2, true],
    ['\u{1F600}\u{1F600}', 3, 4, false],
    ['\u{1F600}abc', 1, 3, false],
    ['e\u0301', 2, 2, true],
  ])('%j has %d to %d characters: %p', (text, min, max, expected) => {
    expect(hasCharacters(text, min, max)).toBe(expected)
  })
})

describe('texts that are kept', () => {
  test.each(['', 'a', '"\\\n\u2028', '\u{1F600}', ' '.repeat(63), 'é'.repeat(64), 'x'.repeat(999)])(
    '%j is the same text',
    text => {
      expect(ownText(text)).toBe(text)
      expect(decodeQuoted(JSON.stringify(text))).toBe(text)
    },
  )
})
