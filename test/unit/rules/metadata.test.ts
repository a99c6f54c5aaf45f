import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { foldMetadata, normaliseMetadata } from '../../../src/rules/clear-text.ts'
import {
  metadataKeyCharsMax,
  metadataPairsMax,
  metadataValueCharsMax,
} from '../../../src/limits/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const normalise = (text: string) => printJson(normaliseMetadata(parseJson(text), 'metadata'))

const refuse = (text: string, paths: readonly string[]) =>
  expectRefusal(() => normaliseMetadata(parseJson(text), 'metadata'), paths)

const pairs = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')}}`

describe('normaliseMetadata', () => {
  test.each([
    '{}',
    '{"b":"","10":"x","a":"\\u0000"}',
    '{".":"1","a.b":"2","a=b":"3","A":"4","a":"5"}',
    '{"__proto__":"1","constructor":"2","prototype":"3"}',
    '{"line":"a\\r\\nb\u2028\u202e\\u001b[0m"}',
  ])('takes %s as it is', text => {
    expect(normalise(text)).toBe(text)
  })

  test('leaves out pairs with the value null', () => {
    expect(normalise('{"a":null,"b":"x","c":null}')).toBe('{"b":"x"}')
  })

  test('leaves prototypes alone', () => {
    normalise('{"__proto__":"polluted"}')
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })

  test.each(['1', 'true', '1.0', '{}', '[]', '["x"]'])('refuses the value %s', value => {
    refuse(`{"a":"x","${canary}":${value}}`, ['metadata[1]'])
  })

  test('names a pair by a key that is a plain word, and by its place else', () => {
    refuse('{"a":"x","order_id":1,"line-two":[],"note":true}', [
      'metadata.order_id',
      'metadata.line-two',
      'metadata.note',
    ])
    refuse('{"4242":1,"key_a1b2c3":1,"a.b":1,"Straße":1}', [
      'metadata[0]',
      'metadata[1]',
      'metadata[2]',
      'metadata[3]',
    ])
    refuse(`{"${'k'.repeat(41)}":1}`, ['metadata[0]'])
  })

  test.each(['null', '[]', '"x"', '1', `"${canary}"`])('refuses %s in the place of pairs', text => {
    refuse(text, ['metadata'])
  })

  test('takes as many pairs as the limit, nulls not counted, and no more', () => {
    const most = pairs(metadataPairsMax, '"x"')
    expect(normalise(most)).toBe(most)
    expect(normalise(pairs(metadataPairsMax + 1, 'null'))).toBe('{}')
    refuse(pairs(metadataPairsMax + 1, `"${canary}"`), ['metadata'])
  })

  test('looks no further than at the first pair too many', () => {
    let seen = 0
    const members = new Map(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 'x']))
    const looking = Object.assign(members, {
      *values() {
        for (let at = 0; at < members.size; at += 1) {
          seen += 1
          yield 'x'
        }
      },
    })
    expectRefusal(() => normaliseMetadata(looking as typeof members, 'metadata'), ['metadata'])
    expect(seen).toBe(metadataPairsMax + 1)
  })

  // proves C7.14
  test('counts characters of keys as code points', () => {
    const longest = `{"${'\u{1F600}'.repeat(metadataKeyCharsMax)}":"x"}`
    expect(normalise(longest)).toBe(longest)
    refuse(`{"${'\u{1F600}'.repeat(metadataKeyCharsMax)}a":"x"}`, ['metadata[0]'])
    refuse('{"":"x"}', ['metadata[0]'])
    refuse(`{"${canary}\\u0000":"x"}`, ['metadata[0]'])
  })

  test('counts characters of values as code points', () => {
    const longest = `{"a":"${'\u{1F600}'.repeat(metadataValueCharsMax)}"}`
    expect(normalise(longest)).toBe(longest)
    refuse(`{"a":"${canary.padEnd(metadataValueCharsMax + 1, 'x')}"}`, ['metadata.a'])
  })

  test('reports all faults at once, by the place of the pair', () => {
    refuse(`{"a":null,"":1,"b":"x","c":"${'x'.repeat(501)}"}`, ['metadata[1]', 'metadata.c'])
  })
})

describe('foldMetadata', () => {
  test.each([
    ['letters by case', 'CuSTomer-ID', 'customer-id'],
    ['letters beyond ASCII by case', '\u00c9\u0416\u03a9', '\u00e9\u0436\u03c9'],
    ['composed and decomposed letters', '\u00e9', 'e\u0301'],
    ['a decomposed capital and its small letter', 'J\u030c', '\u01f0'],
    ['the Kelvin sign and k', '\u212a', 'k'],
    ['the Angstrom sign and a with ring', '\u212b', '\u00e5'],
    ['capital sharp s and small sharp s', '\u1e9e', '\u00df'],
    ['a word in Greek capitals and with its final sigma', '\u039f\u03a3', '\u03bf\u03c2'],
    ['dotted capital I and i with a dot above', '\u0130', 'i\u0307'],
  ])('joins %s', (_, one, other) => {
    expect(foldMetadata(one)).toBe(foldMetadata(other))
  })

  test.each([
    ['sharp s and ss', '\u00df', 'ss'],
    ['long s and s', '\u017f', 's'],
    ['the fi ligature and fi', '\ufb01', 'fi'],
    ['full-width and ASCII letters', '\uff41', 'a'],
    ['dotless i and i', '\u0131', 'i'],
    ['dotted capital I and i', '\u0130', 'i'],
    ['dotless i and capital I', '\u0131', 'I'],
    ['letters with and without accents', '\u00e9', 'e'],
    ['superscript and plain digits', '\u00b2', '2'],
    ['a trailing space', 'a ', 'a'],
    ['a no-break space and a space', '\u00a0', ' '],
    ['zero-width joiner and nothing', 'a\u200d', 'a'],
    ['NUL and nothing', 'a\0', 'a'],
  ])('keeps apart %s', (_, one, other) => {
    expect(foldMetadata(one)).not.toBe(foldMetadata(other))
  })
})
