/**
 * JSON of the model: plain values, since the model only meets numbers that a double holds.
 * @module
 */

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

export type JsonObject = { readonly [name: string]: Json }

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member of that very object, never of its prototype. */
export const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** The pseudo-code of RFC 7386 section 2. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const members = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) members.delete(name)
    else members.set(name, mergePatch(members.get(name), member))
  }
  return Object.fromEntries(members)
}

/** Orders names and drops `undefined` members, so that equal values are equal text. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

export const canonicalText = (value: Json): string => JSON.stringify(sorted(value))
