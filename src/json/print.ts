/**
 * Json to text and to plain values, and plain values back.
 *
 * Invariants: `printJson` loses nothing, so `parseJson` of it gives the value again; equal values
 * have one canonical text; no member name ever reaches a prototype.
 * Source: RFC 8259; RFC 8785 for the canonical form; contract sections 1 and 6.
 * @module
 */
import { invariant } from '../errors.ts'
import { canonicalNumberText } from './number.ts'
import {
  isExactNumber,
  isJsonArray,
  isJsonObject,
  withMember,
  type Json,
  type JsonObject,
  type Members,
} from './json.ts'
import { TextMap } from '../text/map.ts'

export type Style = {
  readonly members: (value: JsonObject) => Iterable<readonly [string, Json]>
  readonly exactNumber: (numberText: string) => string
  /** Texts of long values that were printed before, as long as those live. */
  readonly kept: WeakMap<object, string>
}

export const faithful: Style = {
  members: value => value,
  exactNumber: numberText => numberText,
  kept: new WeakMap(),
}

// RFC 8785 section 3.2.3: by UTF-16 code units, which is the order of `<` on strings.
const inOrder = (value: JsonObject): Iterable<readonly [string, Json]> =>
  value instanceof TextMap
    ? (value as TextMap<Json>).inOrder()
    : [...value].sort(([a], [b]) => (a < b ? -1 : 1))

export const canonical: Style = {
  members: inOrder,
  exactNumber: canonicalNumberText,
  kept: new WeakMap(),
}

const printObject = (value: JsonObject, style: Style): string => {
  let text = ''
  for (const [name, member] of style.members(value)) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${printValue(member, style)}`
  }
  return text === '' ? '{}' : `${text}}`
}

const printArray = (value: readonly Json[], style: Style): string => {
  let text = ''
  for (const item of value) text += (text === '' ? '[' : ',') + printValue(item, style)
  return text === '' ? '[]' : `${text}]`
}

type Scalar = Exclude<Json, readonly Json[] | JsonObject>

export const printScalar = (value: Scalar, style: Style): string => {
  if (typeof value === 'string') return JSON.stringify(value)
  if (isExactNumber(value)) return style.exactNumber(value.numberText)
  invariant(typeof value !== 'number' || Number.isFinite(value), 'a JSON number is finite')
  return String(value)
}

const printValue = (value: Json, style: Style): string => {
  if (isJsonObject(value)) return printObject(value, style)
  return isJsonArray(value) ? printArray(value, style) : printScalar(value, style)
}

const print = (value: Json, style: Style): string => {
  if (typeof value !== 'object' || value === null) return printValue(value, style)
  return style.kept.get(value) ?? printValue(value, style)
}

/** @returns compact JSON text: members in their order, exact numbers as they came */
export const printJson = (value: Json): string => print(value, faithful)

/**
 * @returns the one text of all values that are equal as JSON: names sorted, numbers by their exact
 *   decimal value. Source: RFC 8785, widened to numbers that no double holds.
 */
export const printCanonicalJson = (value: Json): string => print(value, canonical)

/**
 * Names become names of properties, of which the engine keeps a table without a seed: only for
 * objects whose names are nobody's choice who means harm; see `knownPart` for those of a caller.
 * @returns null-prototype objects, arrays and primitives; exact numbers become the nearest double
 */
export const toPlain = (value: Json): unknown => {
  if (isJsonArray(value)) return value.map(toPlain)
  if (isExactNumber(value)) return Number(value.numberText)
  if (!isJsonObject(value)) return value
  // Without a prototype `__proto__` is an ordinary name.
  const plain: Record<string, unknown> = Object.create(null)
  for (const [name, member] of value) plain[name] = toPlain(member)
  return plain
}

const nothingOpaque: ReadonlySet<string> = new Set()

const fromPlainObject = (value: object, opaque: ReadonlySet<string>): Json => {
  let members: Members = new Map()
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    members = withMember(members, name, opaque.has(name) ? member : fromPlain(member))
  }
  return members
}

/**
 * Plain values of our own making to Json. Members that are `undefined` are left out; a
 * JsonObject is taken as it is. A plain object is never taken for an exact number, so a caller's
 * member named `numberText` cannot smuggle text into an answer.
 * @param opaque  members of the top-level object that are Json already
 */
export const fromPlain = (value: unknown, opaque = nothingOpaque): Json => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (Array.isArray(value)) return value.map(item => fromPlain(item))
  invariant(typeof value === 'object', 'a plain value is what JSON can hold')
  return isJsonObject(value) ? value : fromPlainObject(value, opaque)
}
