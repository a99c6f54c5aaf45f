/**
 * What of a body its schema knows: only names of ours may become names of properties.
 *
 * The engine keeps all such names in one table, hashed without a seed, so those of a caller could
 * make it slow for everybody. What no schema knows is ignored anyway (contract section 1).
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../domain/json.ts'

/** Of a schema that takes several shapes, those members that say which. */
interface Shape {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

const nothingOpaque: ReadonlySet<string> = new Set()

const membersOf = new WeakMap<TSchema, readonly (readonly [string, TSchema])[]>()

/** The members that the schema of an object names, each with its schema; listed once. */
function readMembers(schema: TSchema): readonly (readonly [string, TSchema])[] {
  let members = membersOf.get(schema)
  if (members === undefined) {
    members = Object.entries(shapeOf(schema, 'properties')?.properties ?? {})
    membersOf.set(schema, members)
  }
  return members
}

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

function knownMembers(
  schema: TSchema,
  value: JsonObject,
  opaque: ReadonlySet<string>,
): ReadonlyMap<string, Json> {
  const known = new Map<string, Json>()
  for (const [name, inner] of readMembers(schema)) {
    const member = value.get(name)
    if (member === undefined) continue
    known.set(name, opaque.has(name) ? member : knownPart(inner, member))
  }
  return known
}

/**
 * @param opaque  members of the top-level object that stay as they are
 * @returns the value without the members that the schema does not name, at any depth; an object
 *   where the schema wants none has no members left, and is still refused
 */
export function knownPart(schema: TSchema, value: Json, opaque = nothingOpaque): Json {
  if (isJsonObject(value)) return knownMembers(schema, value, opaque)
  if (!isJsonArray(value)) return value
  const items = shapeOf(schema, 'items')?.items
  return items === undefined ? [] : value.map(item => knownPart(items, item))
}
