/**
 * JSON values as the vault holds them: nothing is lost between the text received and the text sent.
 *
 * Objects are Maps, because a plain object reorders integer-like keys and knows `__proto__`; large
 * ones are TextMaps, because a caller who chooses the names could make a Map slow.
 * A number is a double if its shortest text is the text received, otherwise its exact text.
 * Source: contract sections 1 and 5.
 * @module
 */
import { hashedMembersMax, jsonTurnChars } from '../../limits/work-limits.ts'
import { TextMap, type IsBefore, type ReadonlyTextMap } from '../maps.ts'
import { invariant } from '../errors.ts'

export interface ExactNumber {
  /** As received, a JSON number of finite double range: `1.0`, `-0`, `12345678901234567890`. */
  readonly numberText: string
}

export type JsonObject = ReadonlyTextMap<Json>

export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonObject

export const isJsonObject = (value: Json | object | undefined): value is JsonObject =>
  value instanceof Map || value instanceof TextMap

/** An object under construction. */
export type MutableObject = Map<string, Json> | TextMap<Json>

/**
 * Sets a member, in an object that is not in use yet.
 * @returns the object to continue with: the same one, or another if it grew too large for a Map
 */
export const withMember = (
  members: MutableObject,
  name: string,
  value: Json,
  isBefore?: IsBefore,
): MutableObject => {
  const mustOrder = members.size === hashedMembersMax && members instanceof Map
  return (mustOrder ? new TextMap(members, isBefore) : members).set(name, value)
}

/** Returns a copy that may be changed until it is in use. */
export const copyMembers = (value: JsonObject): MutableObject =>
  value.size > hashedMembersMax ? new TextMap(value) : new Map(value)

export const isJsonArray = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value)

export const isExactNumber = (value: Json | undefined): value is ExactNumber =>
  typeof value === 'object' && value !== null && 'numberText' in value

/*
 * Canonical number texts: numbers of equal value print equally, in whatever form they came.
 *
 * The layout is that of ECMAScript, so a number whose value is that of a double's shortest text
 * prints as that text: 1.0 as 1, 1E2 as 100, -0 as 0. No digit is ever lost.
 * Source: ECMA-262 Number::toString steps 6 to 12, as RFC 8785 section 3.2.2.3 requires.
 */

/** The value is 0.`digits` times ten to the power of `scale`. */
type Decimal = { readonly sign: string; readonly digits: string; readonly scale: bigint }

const numberShape = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

const countZeros = (digits: string, from: number, step: 1 | -1): number => {
  let count = 0
  while (digits[from + count * step] === '0') count += 1
  return count
}

/** A BigInt scale, because a text may hold an exponent of any length. */
const decomposeNumber = (numberText: string): Decimal => {
  const match = numberShape.exec(numberText)
  invariant(match, 'an exact number holds the text of a JSON number')
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = match
  const digits = integer + fraction
  const leading = countZeros(digits, 0, 1)
  const trailing = leading === digits.length ? 0 : countZeros(digits, digits.length - 1, -1)
  return {
    sign,
    digits: digits.slice(leading, digits.length - trailing),
    scale: BigInt(exponent) + BigInt(integer.length - leading),
  }
}

const printScientific = (digits: string, scale: bigint): string => {
  const exponent = scale - 1n
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
  return `${mantissa}e${exponent < 0n ? '-' : '+'}${exponent < 0n ? -exponent : exponent}`
}

const printMagnitude = (digits: string, bigScale: bigint): string => {
  if (bigScale > 21n || bigScale <= -6n) return printScientific(digits, bigScale)
  const scale = Number(bigScale)
  if (scale <= 0) return `0.${'0'.repeat(-scale)}${digits}`
  if (scale >= digits.length) return digits.padEnd(scale, '0')
  return `${digits.slice(0, scale)}.${digits.slice(scale)}`
}

/**
 * @param numberText  a valid JSON number
 * @returns the canonical text of its exact decimal value, again a valid JSON number
 */
export const canonicalNumberText = (numberText: string): string => {
  const { sign, digits, scale } = decomposeNumber(numberText)
  return digits === '' ? '0' : sign + printMagnitude(digits, scale)
}

/*
 * Converts Json to text, to plain values and back.
 *
 * Invariants: `printJson` loses nothing, so `parseJson` of it gives the value again; equal values
 * have one canonical text; no member name ever reaches a prototype.
 * Source: RFC 8259; RFC 8785 for the canonical form; contract sections 1 and 6.
 */

export type PrintStyle = {
  readonly members: (value: JsonObject) => Iterable<readonly [string, Json]>
  readonly exactNumber: (numberText: string) => string
  /** Texts of long values that were printed before, for as long as those live. */
  readonly kept: WeakMap<object, string>
}

export const faithful: PrintStyle = {
  members: value => value,
  exactNumber: numberText => numberText,
  kept: new WeakMap(),
}

// RFC 8785 section 3.2.3: by UTF-16 code units, which is the order of `<` on strings.
const inOrder = (value: JsonObject): Iterable<readonly [string, Json]> =>
  value instanceof TextMap
    ? (value as TextMap<Json>).inOrder()
    : [...value].sort(([a], [b]) => (a < b ? -1 : 1))

export const canonical: PrintStyle = {
  members: inOrder,
  exactNumber: canonicalNumberText,
  kept: new WeakMap(),
}

const printObject = (value: JsonObject, style: PrintStyle): string => {
  let text = ''
  for (const [name, member] of style.members(value)) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${printValue(member, style)}`
  }
  return text === '' ? '{}' : `${text}}`
}

const printArray = (value: readonly Json[], style: PrintStyle): string => {
  let text = ''
  for (const item of value) text += (text === '' ? '[' : ',') + printValue(item, style)
  return text === '' ? '[]' : `${text}]`
}

type Scalar = Exclude<Json, readonly Json[] | JsonObject>

export const printScalar = (value: Scalar, style: PrintStyle): string => {
  if (typeof value === 'string') return JSON.stringify(value)
  if (isExactNumber(value)) return style.exactNumber(value.numberText)
  invariant(typeof value !== 'number' || Number.isFinite(value), 'a JSON number is finite')
  return String(value)
}

const printValue = (value: Json, style: PrintStyle): string => {
  if (isJsonObject(value)) return printObject(value, style)
  return isJsonArray(value) ? printArray(value, style) : printScalar(value, style)
}

const print = (value: Json, style: PrintStyle): string => {
  if (typeof value !== 'object' || value === null) return printValue(value, style)
  return style.kept.get(value) ?? printValue(value, style)
}

/** @returns compact JSON text: members in their order, exact numbers as received */
export const printJson = (value: Json): string => print(value, faithful)

/**
 * @returns the same text for all values that are equal as JSON: names sorted, numbers by their
 *   exact decimal value. Source: RFC 8785, widened to numbers that no double holds.
 */
export const printCanonicalJson = (value: Json): string => print(value, canonical)

/** True if the canonical text of this very value is kept, so that printing it is immediate. */
export const hasCanonicalText = (value: Json): boolean =>
  typeof value === 'object' && value !== null && canonical.kept.has(value)

/** Keeps the canonical text of a value as long as the value, if it is long and changes no more. */
export const keepCanonicalText = (value: Json, text: string): void => {
  if (typeof value !== 'object' || value === null || text.length <= jsonTurnChars) return
  canonical.kept.set(value, text)
}

/**
 * Member names become property names, which the engine hashes without a seed: use it only for
 * objects whose names no attacker chooses; for a caller's objects see `knownPart`.
 * @returns null-prototype objects, arrays and primitives; exact numbers become the nearest double
 */
export const toPlain = (value: Json): unknown => {
  if (isJsonArray(value)) return value.map(toPlain)
  if (isExactNumber(value)) return Number(value.numberText)
  if (!isJsonObject(value)) return value
  // Without a prototype, `__proto__` is an ordinary name.
  const plain: Record<string, unknown> = Object.create(null)
  for (const [name, member] of value) plain[name] = toPlain(member)
  return plain
}

const nothingOpaque: ReadonlySet<string> = new Set()

const fromPlainObject = (value: object, opaque: ReadonlySet<string>): Json => {
  let members: MutableObject = new Map()
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    members = withMember(members, name, opaque.has(name) ? member : fromPlain(member))
  }
  return members
}

/**
 * Converts plain values of our own making to Json. Leaves out `undefined` members; a JsonObject
 * stays as it is. A plain object is never taken for an exact number, so a caller's member named
 * `numberText` cannot smuggle text into an answer.
 * @param opaque  members of the top-level object that are Json already
 */
export const fromPlain = (value: unknown, opaque = nothingOpaque): Json => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (Array.isArray(value)) return value.map(item => fromPlain(item))
  invariant(typeof value === 'object', 'a plain value is what JSON can hold')
  return isJsonObject(value) ? value : fromPlainObject(value, opaque)
}
