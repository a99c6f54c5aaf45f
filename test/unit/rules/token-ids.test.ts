import { describe, expect, test } from 'bun:test'
import { assertTokenId } from '../../../src/rules/token-ids.ts'
import { tokenIdCharsMax } from '../../../src/limits/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const refuse = (id: string) =>
  expectRefusal(() => assertTokenId(id, 'id'), ['id'], id.length > 4 ? [id] : [])

const charsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index))

const controls = [...charsFrom(0x00, 0x1f), ...charsFrom(0x7f, 0x9f)]

describe('assertTokenId', () => {
  test.each([
    'abc',
    '7cc5b1c2-6b2f-4d5e-9a49-0d2a3e4f5a6b',
    '...',
    'a b ',
    '__proto__',
    'a:b;c,d@e!f~g\'h"i`j*k$l(m)n_o-p',
    '\u00e9\u00e9\u00e9',
    'e\u0301\u2028\u202e',
    '\u{1F600}'.repeat(tokenIdCharsMax),
    'x'.repeat(tokenIdCharsMax),
  ])('takes %j', id => {
    expect(() => assertTokenId(id, 'id')).not.toThrow()
  })

  test.each(['', 'a', 'ab', '\u{1F600}a', 'x'.repeat(tokenIdCharsMax + 1)])(
    'refuses %j for its length',
    id => {
      expect(refuse(id).message).toContain('characters')
    },
  )

  test('refuses one character more than the limit, however many bytes each has', () => {
    refuse('\u{1F600}'.repeat(tokenIdCharsMax + 1))
    refuse(canary.repeat(100_000))
  })

  test.each([...'#/\\+?[]|&=%<>{}^'])('refuses %s at the start, within and at the end', char => {
    for (const id of [`${char}${canary}`, `${canary}${char}x`, `${canary}${char}`]) refuse(id)
  })

  test('refuses every control character of C0, DEL and C1', () => {
    expect(controls).toHaveLength(65)
    for (const char of controls) refuse(`${canary}${char}`)
  })

  test.each(['abc\ud800', '\udc00abc', 'a\ude00\ud83db'])('refuses a lone surrogate', id => {
    expect(refuse(id).message).toContain('surrogate')
  })
})
