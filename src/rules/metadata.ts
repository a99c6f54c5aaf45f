/**
 * Metadata: pairs of texts that are declared non-sensitive and can be searched.
 *
 * Names such as `__proto__`, `.`, `a.b` and `a=b` are ordinary, `A` and `a` are two pairs; both are
 * found by a filter on either, since filters compare folded texts. Source: contract section 7.
 * @module
 */
import { metadataKeyCharsMax, metadataPairsMax, metadataValueCharsMax } from '../limits.ts'
import { invalid, addFault, type Faults, throwFaults } from '../errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { hasCharacters } from '../maps.ts'

const keyExpected = `expected a key of 1 to ${metadataKeyCharsMax} characters without NUL`
const valueExpected = `expected a string of at most ${metadataValueCharsMax} characters`

const isKey = (key: string): boolean =>
  hasCharacters(key, 1, metadataKeyCharsMax) && !key.includes('\0')

const isValue = (value: Json): value is string =>
  typeof value === 'string' && hasCharacters(value, 0, metadataValueCharsMax)

const addPair = (
  pairs: Map<string, string>,
  faults: Faults,
  at: string,
  key: string,
  value: Json,
): void => {
  if (!isKey(key)) addFault(faults, at, keyExpected)
  if (isValue(value)) pairs.set(key, value)
  else addFault(faults, at, valueExpected)
}

/** Ends at the first pair too many, so that no number of them makes more work. */
const assertFewPairs = (members: JsonObject, at: string): void => {
  let count = 0
  for (const member of members.values()) {
    if (member !== null) count += 1
    if (count > metadataPairsMax) throw invalid(at, `expected at most ${metadataPairsMax} pairs`)
  }
}

/**
 * @param at  path of the value, `metadata`; a pair is named by its place, as its key is not ours
 * @returns the pairs in their order, those with the value null left out
 * @throws ApiError `invalid_request` with all faults
 */
export const normaliseMetadata = (value: Json, at: string): ReadonlyMap<string, string> => {
  if (!isJsonObject(value)) throw invalid(at, 'expected an object of strings')
  assertFewPairs(value, at)
  const pairs = new Map<string, string>()
  const faults: Faults = new Map()
  let index = 0
  for (const [key, member] of value) {
    if (member !== null) addPair(pairs, faults, `${at}[${index}]`, key, member)
    index += 1
  }
  throwFaults(faults)
  return pairs
}

/**
 * The form under which keys and values are compared: lower case, then NFC.
 *
 * Equal: letters that differ by case only, in their locale-free lower-case mapping, and canonically
 * equivalent texts (so the Kelvin sign is k, as Unicode says). Apart: all that only NFKC or
 * upper-casing would join (sharp s and ss, long s and s, the fi ligature and fi, full-width
 * letters), dotless i, dotted capital I, and any difference of white space.
 * Source: hardening C10 and H74.
 */
export const foldMetadata = (text: string): string =>
  // In this order, because lower-casing can leave a pair that composes (J with caron).
  text.toLowerCase().normalize('NFC')
