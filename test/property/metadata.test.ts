import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldMetadata } from '../../src/rules/clear-text.ts'

const unit = fc.constantFrom(
  ...'aAkK\u212a\u0130\u0131\u00df\u1e9e\u03a3\u03c2\u03c3\u0301\u0307\u030cjJ ',
)

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit }))

describe('fold laws', () => {
  test('folding a folded text changes nothing', () => {
    fc.assert(
      fc.property(text, value => {
        expect(foldMetadata(foldMetadata(value))).toBe(foldMetadata(value))
      }),
      { numRuns: 500 },
    )
  })

  test('canonically equivalent texts fold equally', () => {
    fc.assert(
      fc.property(text, value => {
        expect(foldMetadata(value.normalize('NFD'))).toBe(foldMetadata(value))
        expect(foldMetadata(value.normalize('NFC'))).toBe(foldMetadata(value))
      }),
      { numRuns: 500 },
    )
  })

  test('every character folds as its lower case and as its canonical equivalents', () => {
    for (let code = 0; code <= 0x1ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const char = String.fromCodePoint(code)
      const folded = foldMetadata(char)
      const others = [char.toLowerCase(), char.normalize('NFC'), char.normalize('NFD')]
      const isSound = folded !== '' && others.every(other => foldMetadata(other) === folded)
      if (!isSound) throw new Error(`U+${code.toString(16)} does not fold as its equals`)
    }
  })

  test('texts that differ in ASCII case only are equal, all other ASCII texts are not', () => {
    const ascii = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'B', '_', ' '), maxLength: 3 })
    const lower = (value: string) => value.replace(/[AB]/g, char => (char === 'A' ? 'a' : 'b'))
    fc.assert(
      fc.property(ascii, ascii, (one, other) => {
        expect(foldMetadata(one) === foldMetadata(other)).toBe(lower(one) === lower(other))
      }),
      { numRuns: 500 },
    )
  })
})
