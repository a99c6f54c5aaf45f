import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseJson } from '../../src/domain/json-parse.ts'
import { fromPlain, printCanonicalJson, printJson, toPlain } from '../../src/domain/json-print.ts'
import { isJsonArray, isJsonObject, type Json } from '../../src/domain/json.ts'
import { ApiError } from '../../src/errors.ts'
import { json, numberText } from '../support/arbitrary-json.ts'

const parsed = (text: string): Json | undefined => {
  try {
    return parseJson(text)
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return undefined
  }
}

const nativeTakes = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const shuffled = (value: Json): Json => {
  if (isJsonArray(value)) return value.map(shuffled)
  if (!isJsonObject(value)) return value
  return new Map([...value].reverse().map(([name, member]) => [name, shuffled(member)]))
}

/** The exact value as an integer count of 10^-430, for texts with small exponents. */
const scaled = (text: string): bigint => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [integer = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(`${integer}${fraction}`.replace('-', ''))
  const value = digits * 10n ** BigInt(430 + Number(exponent) - fraction.length)
  return text.startsWith('-') ? -value : value
}

const smallNumberText = numberText.filter(text => !text.endsWith('99999'))

describe('json laws', () => {
  test('parse of print is the value, with its order and its number texts', () => {
    fc.assert(
      fc.property(json, value => {
        const text = printJson(value)
        expect(parseJson(text)).toStrictEqual(value)
        expect(printJson(parseJson(text))).toBe(text)
      }),
    )
  })

  test('print of parse is what the native parser and printer give, where doubles suffice', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        const plain = toPlain(parseJson(text))
        expect(JSON.stringify(plain)).toBe(JSON.stringify(JSON.parse(text)))
        expect(JSON.stringify(toPlain(fromPlain(plain)))).toBe(JSON.stringify(plain))
      }),
    )
  })

  test('what the native parser refuses is refused, whatever is damaged', () => {
    const snippet = fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '\0',
      'e',
    )
    fc.assert(
      fc.property(json, fc.nat(), fc.nat(3), snippet, (value, at, cut, inserted) => {
        const text = printJson(value)
        const from = at % (text.length + 1)
        const damaged = text.slice(0, from) + inserted + text.slice(from + cut)
        if (parsed(damaged) !== undefined) expect(nativeTakes(damaged)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('the canonical text does not depend on the order of members', () => {
    fc.assert(
      fc.property(json, value => {
        const text = printCanonicalJson(value)
        expect(printCanonicalJson(shuffled(value))).toBe(text)
        expect(printCanonicalJson(parseJson(text))).toBe(text)
      }),
    )
  })

  test('canonical numbers are equal exactly when their decimal values are', () => {
    fc.assert(
      fc.property(smallNumberText, smallNumberText, (a, b) => {
        const [canonicalA, canonicalB] = [a, b].map(text => printCanonicalJson(parseJson(text)))
        expect(canonicalA === canonicalB).toBe(scaled(a) === scaled(b))
        expect(scaled(canonicalA ?? '')).toBe(scaled(a))
      }),
      { numRuns: 500 },
    )
  })

  test('the canonical text of any spelling of a double is its shortest text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
        const shortest = String(value)
        expect(printCanonicalJson({ numberText: shortest })).toBe(shortest)
        expect(printCanonicalJson(parseJson(value.toExponential()))).toBe(shortest)
      }),
    )
  })
})
