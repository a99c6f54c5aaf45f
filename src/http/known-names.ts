/**
 * Members of a body that are nearly named as one that is known: they are refused, since a token
 * whose expiry was misspelled would live for ever. Any other unknown member is ignored.
 *
 * Which names are known where, the schema says; below a member without named members, as `data`
 * and `metadata` are, all names are the caller's own. Source: contract section 1.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { addFault, throwFaults, type Faults } from '../domain/faults.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { bodyFaultsMax, misspellingsMax } from '../limits.ts'

/** What clients of this family write where another name belongs, and is no near miss of it. */
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
])

/** Whether so many letters that are put in, left out or replaced make one text the other. */
function isWithin(a: string, b: string, edits: number): boolean {
  let same = 0
  while (same < a.length && a[same] === b[same]) same += 1
  const [left, right] = [a.slice(same), b.slice(same)]
  if (left === '' || right === '') return left.length + right.length <= edits
  if (edits === 0) return false
  const [leftRest, rightRest] = [left.slice(1), right.slice(1)]
  return (
    isWithin(leftRest, rightRest, edits - 1) ||
    isWithin(leftRest, right, edits - 1) ||
    isWithin(left, rightRest, edits - 1)
  )
}

/** decision: case is no difference, and a name that keeps nothing of the known one is another. */
function isNear(name: string, known: string): boolean {
  const longest = Math.max(name.length, known.length)
  const edits = Math.min(misspellingsMax, longest - 1)
  return Math.abs(name.length - known.length) <= edits && isWithin(name, known, edits)
}

interface Members {
  readonly schemas: Readonly<Record<string, TSchema>>
  readonly names: readonly string[]
  readonly charsMax: number
}

const membersOf = new WeakMap<TSchema, Members>()

function readMembers(schema: TSchema): Members {
  let members = membersOf.get(schema)
  if (members === undefined) {
    const schemas = schema['properties'] as Readonly<Record<string, TSchema>>
    const names = Object.keys(schemas)
    const longest = [...names, ...commonMistakes.keys()].map(name => name.length)
    members = { schemas, names, charsMax: Math.max(...longest) + misspellingsMax }
    membersOf.set(schema, members)
  }
  return members
}

/** The name that was meant, of those that are known; `undefined` for one that is known or far. */
function findMeant(given: string, { names, charsMax }: Members): string | undefined {
  if (given.length > charsMax || names.includes(given)) return undefined
  const name = given.toLowerCase()
  const meant = commonMistakes.get(name)
  if (meant !== undefined && names.includes(meant)) return meant
  return names.find(known => isNear(name, known))
}

const below = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`)

function findInMembers(schema: TSchema, json: JsonObject, at: string, faults: Faults): void {
  const members = readMembers(schema)
  for (const [name, value] of json) {
    if (faults.size >= bodyFaultsMax) return
    const meant = findMeant(name, members)
    if (meant !== undefined) {
      const place = below(at, meant)
      if (!faults.has(place)) addFault(faults, place, `is misspelled: expected the name ${meant}`)
    } else if (members.names.includes(name)) {
      findIn(members.schemas[name], value, below(at, name), faults)
    }
  }
}

/** A value or null, and a list: what may have members stands within. */
function findIn(schema: TSchema | undefined, json: Json, at: string, faults: Faults): void {
  if (schema === undefined || (!isJsonObject(json) && !isJsonArray(json))) return
  for (const choice of (schema['anyOf'] ?? []) as readonly TSchema[])
    findIn(choice, json, at, faults)
  if (isJsonObject(json) && 'properties' in schema) findInMembers(schema, json, at, faults)
  if (!isJsonArray(json) || !('items' in schema)) return
  json.forEach((item, index) => findIn(schema['items'] as TSchema, item, `${at}[${index}]`, faults))
}

/**
 * @param schema of the body as it came
 * @throws ApiError `invalid_request` that tells at each place the name that was meant, and nothing
 * of the one that came
 */
export function assertKnownNames(schema: TSchema, json: Json): void {
  const faults: Faults = new Map()
  findIn(schema, json, '', faults)
  throwFaults(faults)
}
