/**
 * Strict bodies and queries: what a schema knows of them, and nothing that is nearly it.
 * @module
 */
import {
  bodyFaultsMax,
  comparedNamesMax,
  misspellingsMax,
  repeatedNamesMax,
} from '../limits/limits.ts'
import { didYouMean, editsOf, isNear, listNames } from '../lib/spelling.ts'
import type { TSchema } from '@sinclair/typebox'
import { addFault, throwFaults, type Faults } from '../lib/errors.ts'
import {
  isExactNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../lib/json/json.ts'
import { keptFor } from '../lib/maps.ts'

/*
 * Names that are nearly one that is known: they are refused, since a token whose expiry was
 * misspelled would live for ever. Source: contract section 1.
 */

/** Names that published clients write for another one, too far from it for a near miss. */
const commonMistakes: ReadonlyMap<string, string> = new Map([
  ['expires_in', 'expires_at'],
  ['expires', 'expires_at'],
  ['expire', 'expires_at'],
  ['expiry', 'expires_at'],
  ['expiration', 'expires_at'],
  ['ttl', 'expires_at'],
  ['rule', 'rules'],
  ['permission', 'permissions'],
  ['condition', 'conditions'],
  ['container', 'containers'],
  ['containers', 'container'],
  ['meta_data', 'metadata'],
  ['meta', 'metadata'],
  ['deduplicate', 'deduplicate_token'],
  ['dedupe', 'deduplicate_token'],
  ['fingerprint_expr', 'fingerprint_expression'],
  ['indexes', 'search_indexes'],
  ['limit', 'size'],
  ['per_page', 'size'],
  ['page_size', 'size'],
  ['count', 'size'],
  ['page_number', 'page'],
  ['offset', 'page'],
  ['skip', 'page'],
  ['cursor', 'start'],
  ['after', 'start'],
  ['next', 'start'],
  ['q', 'query'],
  ['filter', 'query'],
  ['search', 'query'],
])

/** The names of the members of one object. */
interface KnownNames {
  readonly names: readonly string[]
  /** A longer name is no near miss of any. */
  readonly charsMax: number
  /** True if every unknown name is refused, also one that is near none. */
  readonly isClosed: boolean
}

function knownNames(names: readonly string[], isClosed: boolean): KnownNames {
  const longest = [...names, ...commonMistakes.keys()].map(name => name.length)
  return { names, charsMax: Math.max(...longest) + misspellingsMax, isClosed }
}

/** The known name that was meant by one that is not known; `undefined` for one that is far. */
function findMeant(given: string, { names, charsMax, isClosed }: KnownNames): string | undefined {
  if (given.length > charsMax) return undefined
  const name = given.toLowerCase()
  const meant = commonMistakes.get(name)
  if (meant !== undefined && names.includes(meant)) return meant
  return names.find(known => isNear(name, known, isClosed ? editsOf(known) : misspellingsMax))
}

/*
 * The part of a body that its schema knows, as plain values: only names of ours may become names
 * of properties.
 *
 * The engine keeps all such names in one table, hashed without a seed, so those of a caller could
 * make it slow for everybody. A member that no schema knows is ignored, unless its name is nearly a
 * known one. Below a member without named members, as `data` and `metadata` are, all names are the
 * caller's own. Source: contract section 1.
 */

/** The members of a schema that tell its shape, if it takes several. */
interface Shape {
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly maxItems?: number
  readonly anyOf?: readonly TSchema[]
}

interface Members {
  readonly schemas: ReadonlyMap<string, TSchema>
  readonly known: KnownNames
}

const nothingOpaque: ReadonlySet<string> = new Set()

/** The members that the schema of an object names, each with its schema; listed once. */
const readMembers = keptFor((schema: TSchema): Members => {
  const shape = shapeOf(schema, 'properties')
  const schemas = new Map(Object.entries(shape?.properties ?? {}))
  const isClosed = shape?.additionalProperties === false
  return { schemas, known: knownNames([...schemas.keys()], isClosed) }
})

/** The shape that a value is meant to have, where null or something else may stand in its place. */
function shapeOf(schema: TSchema, member: 'properties' | 'items'): Shape | undefined {
  const shape = schema as Shape
  if (shape[member] !== undefined) return shape
  for (const choice of shape.anyOf ?? []) {
    const found = shapeOf(choice, member)
    if (found !== undefined) return found
  }
  return undefined
}

const below = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`)

/** Findings of one body so far. */
interface Reading {
  readonly faults: Faults
  /** Number of unknown names that are still compared. */
  left: number
  /** Names that are near none of an object's: items of a list have the same ones. */
  readonly far: Map<Members, Set<string>>
}

/** As `findMeant`, within what one body may ask for. */
function findMeantIn(reading: Reading, given: string, members: Members): string | undefined {
  const far = reading.far.get(members) ?? new Set()
  const isShort = given.length <= members.known.charsMax
  if (!isShort || reading.left === 0 || far.has(given)) return undefined
  reading.left -= 1
  const meant = findMeant(given, members.known)
  if (meant === undefined && far.size < repeatedNamesMax) reading.far.set(members, far.add(given))
  return meant
}

function tellUnknown(given: string, members: Members, at: string, reading: Reading): void {
  const { faults } = reading
  if (faults.size >= bodyFaultsMax) return
  const meant = findMeantIn(reading, given, members)
  if (meant === undefined && !members.known.isClosed) return
  const place = meant === undefined ? at || 'body' : below(at, meant)
  if (faults.has(place)) return
  const expected =
    meant === undefined ? `expected only ${listNames(members.schemas.keys())}` : didYouMean(meant)
  addFault(faults, place, `unknown member: ${expected}`)
}

function readObject(
  schema: TSchema,
  value: JsonObject,
  at: string,
  reading: Reading,
  opaque = nothingOpaque,
): unknown {
  const members = readMembers(schema)
  // Without a prototype `__proto__` is an ordinary name.
  const plain: Record<string, unknown> = Object.create(null)
  for (const [name, member] of value) {
    const inner = members.schemas.get(name)
    if (inner === undefined) tellUnknown(name, members, at, reading)
    else if (opaque.has(name)) plain[name] = member
    else plain[name] = readValue(inner, member, below(at, name), reading)
  }
  return plain
}

/** An object or list where the schema wants none has nothing left, and is still refused. */
function readValue(schema: TSchema, value: Json, at: string, reading: Reading): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isJsonObject(value)) return readObject(schema, value, at, reading)
  if (isExactNumber(value)) return Number(value.numberText)
  const { items, maxItems = Infinity } = shapeOf(schema, 'items') ?? {}
  if (!isJsonArray(value) || items === undefined) return []
  // One item too many is refused as all of them would be, and costs nothing.
  const read = value.slice(0, maxItems + 1)
  return read.map((item, index) => readValue(items, item, `${at}[${index}]`, reading))
}

/**
 * @param opaque  members of the top-level object that stay a `Json`
 * @returns null-prototype objects, arrays and primitives, as the schema describes them but not yet
 *   checked against it; exact numbers become the nearest double
 * @throws ApiError `invalid_request` that tells at each place the name that was meant, and nothing
 *   of the one that came
 */
export function knownPart(schema: TSchema, value: JsonObject, opaque = nothingOpaque): unknown {
  const reading: Reading = { faults: new Map(), left: comparedNamesMax, far: new Map() }
  const known = readObject(schema, value, '', reading, opaque)
  throwFaults(reading.faults)
  return known
}

/*
 * Names of query parameters, by the same measure: a misspelled filter must not give the whole list.
 * A list refuses every other name as well. Source: contract section 14.
 */

/** Matches the parameter in the name of one of its members: `metadata` in `metadata.k`. */
const firstWord = /^[a-z_]*[a-z]/i

/** True for the name of a member: `metadata.k` or `metadata[k]`. */
const isMember = (name: string, known: string): boolean =>
  name.startsWith(`${known}.`) || (name.startsWith(`${known}[`) && name.endsWith(']'))

const hasMembers = (schema: TSchema | undefined): boolean =>
  schema !== undefined && 'patternProperties' in schema

function isKnownParameter(given: string, { schemas }: Members): boolean {
  if (schemas.has(given)) return true
  for (const [name, schema] of schemas) {
    if (hasMembers(schema) && isMember(given, name)) return true
  }
  return false
}

/** As they are written, those with members as `metadata.<key>`. */
const parametersOf = ({ schemas }: Members): string =>
  listNames(Array.from(schemas, ([name, schema]) => (hasMembers(schema) ? `${name}.<key>` : name)))

function findMeantParameter(given: string, { schemas, known }: Members): string | undefined {
  // As some clients write it of what may be repeated.
  const meant = findMeant(given.replace(/\[\]$/, ''), known)
  if (meant !== undefined) return meant
  // Another separator before the name of a member, or a misspelled beginning of such a name.
  const lower = given.toLowerCase()
  const word = firstWord.exec(given.slice(0, known.charsMax))?.[0] ?? ''
  for (const [name, schema] of schemas) {
    if (!hasMembers(schema)) continue
    if (/^[^a-z]/.test(lower.slice(name.length)) && lower.startsWith(name)) return name
    if (word !== given && findMeant(word, known) === name) return name
  }
  return undefined
}

/**
 * @param names of the parameters that came
 * @throws ApiError `invalid_request` that tells the names that were meant, none of those that came
 */
export function assertParameterNames(schema: TSchema, names: Iterable<string>): void {
  const members = readMembers(schema)
  const faults: Faults = new Map()
  for (const given of names) {
    if (faults.size >= bodyFaultsMax) break
    // A parameter without a name, as at the end of `?id=a&=`, asks for nothing.
    if (given === '' || isKnownParameter(given, members)) continue
    const meant = findMeantParameter(given, members)
    if (meant === undefined && !members.known.isClosed) continue
    const place = meant === undefined ? 'query' : `query.${meant}`
    const expected =
      meant === undefined ? `expected only ${parametersOf(members)}` : didYouMean(meant)
    if (!faults.has(place)) addFault(faults, place, `unknown parameter: ${expected}`)
  }
  throwFaults(faults)
}
