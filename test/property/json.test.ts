import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseJson } from '../../src/lib/json/parse-json.ts'
import {
  fromPlain,
  printCanonicalJson,
  printJson,
  toPlain,
  isJsonArray,
  isJsonObject,
  type Json,
} from '../../src/lib/json/json.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { jsonDepthMax } from '../../src/limits/limits.ts'
import { json, numberText } from '../support/arbitrary-json.ts'
import { pollutedPrototypes } from '../support/prototypes.ts'
import { canary } from '../support/refusal.ts'

afterEach(() => expect(pollutedPrototypes()).toEqual([]))

const parsed = (text: string): Json | undefined => {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.kind).toBe('invalid_request')
    expect(`${error.message} ${JSON.stringify(error.fields)}`).not.toContain(canary)
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

/** Counts the values, and the levels around the deepest one. */
const sizeOf = (value: Json): { readonly values: number; readonly depth: number } => {
  const inner = isJsonArray(value) ? value : isJsonObject(value) ? [...value.values()] : undefined
  const sizes = (inner ?? []).map(sizeOf)
  return {
    values: sizes.reduce((sum, { values }) => sum + values, 1),
    depth: inner === undefined ? 0 : 1 + Math.max(0, ...sizes.map(({ depth }) => depth)),
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

  test('a text that the native parser refuses is refused, whatever is damaged', () => {
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

  test('any text is a value no larger than itself, or a refusal that does not repeat it', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      ' ',
      '"a"',
      '"__proto__"',
      `"${canary}"`,
      canary,
      '"',
      '\\',
      '\\u0041',
      '\\ud800',
      '0',
      '-',
      '1.50',
      '1e400',
      '1e-400',
      'true',
      'null',
      '\ufeff',
    )
    const soup = fc.array(piece, { maxLength: 20 }).map(parts => parts.join(''))
    const text = fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 40 }))
    fc.assert(
      fc.property(text, text => {
        const value = parsed(text)
        if (value === undefined) return
        const { values, depth } = sizeOf(value)
        expect(values).toBeLessThanOrEqual(text.length)
        expect(depth).toBeLessThanOrEqual(jsonDepthMax)
        expect(nativeTakes(text)).toBe(true)
      }),
      { numRuns: 2_000 },
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
