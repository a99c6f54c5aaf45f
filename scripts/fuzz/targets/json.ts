/**
 * JSON texts: accepted ones print back to themselves, and the native parser agrees.
 *
 * @module
 */
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { fromPlain, printCanonicalJson, printJson, toPlain } from '../../../src/lib/json/json.ts'
import { readVectors } from '../../../test/support/vectors.ts'
import type { Target } from '../engine.ts'
import { assert, assertEqual, canary, resultOf } from '../invariants.ts'

const nativeTakes = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function run(input: string): void {
  const value = resultOf(() => parseJson(input))
  if (value === undefined) return
  assert(nativeTakes(input), 'what is taken is JSON')
  const text = printJson(value)
  assert(text.length <= 6 * input.length, 'what is printed is not much longer')
  assertEqual(parseJson(text), value, 'parse of print is the value')
  assert(printJson(parseJson(text)) === text, 'print of parse is the text')
  const canonical = printCanonicalJson(value)
  assert(printCanonicalJson(parseJson(canonical)) === canonical, 'canonical text is a fixed point')
  // If doubles and their own texts suffice, the plain form is the native one.
  const plain = toPlain(value)
  assertEqual(toPlain(fromPlain(plain)), plain, 'plain values survive')
}

const files = (): readonly string[] => {
  try {
    return readVectors('json-test-suite').map(([, bytes]) => Buffer.from(bytes).toString('utf8'))
  } catch {
    // They lie beside the checkout; a clone alone has none.
    return []
  }
}

export const target: Target = {
  seeds: [
    '{"a":[1,2.50,-0,1e5,12345678901234567890],"b":{"c":null,"d":true},"é":"\\u00e9\\n"}',
    `["${canary}",{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}]`,
    ' [ 1 , "\\ud83d\\ude00" , { } , [ ] ] ',
    ...files().filter(text => text.length < 400),
  ],
  dictionary: [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    'true',
    'false',
    'null',
    '\\u',
    '\\ud800',
    '\\udc00',
    '\\u0000',
    '"__proto__"',
    '"a"',
    '"\\u0061"',
    '-',
    '.',
    'e',
    'E+',
    '1e400',
    '-0',
    'NaN',
    'Infinity',
    '//',
    '/*',
    `"${canary}"`,
    '[[[[[[[[',
    '{"a":',
    '﻿',
    '1e-400',
  ],
  charsMax: 3_000,
  run,
}
