/**
 * JSON values as the vault holds them: nothing is lost between the text that came and the text
 * that goes.
 *
 * Objects are Maps, because a plain object reorders integer-like keys and knows `__proto__`; those
 * of many members are TextMaps, because whoever writes their names may make a Map slow.
 * A number is a double where its shortest text is the text that came, else its exact text.
 * Source: contract sections 1 and 5.
 * @module
 */
import { hashedMembersMax } from '../limits.ts'
import { TextMap, type IsBefore, type ReadonlyTextMap } from '../text/map.ts'

export interface ExactNumber {
  /** As it came, a JSON number of finite double range: `1.0`, `-0`, `12345678901234567890`. */
  readonly numberText: string
}

export type JsonObject = ReadonlyTextMap<Json>

export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonObject

export const isJsonObject = (value: Json | object | undefined): value is JsonObject =>
  value instanceof Map || value instanceof TextMap

/** An object that is being made. */
export type Members = Map<string, Json> | TextMap<Json>

/**
 * Sets a member, in an object that is not in use yet.
 * @returns the object to go on with: that one, or another where it grew too large for a Map
 */
export const withMember = (
  members: Members,
  name: string,
  value: Json,
  isBefore?: IsBefore,
): Members => {
  const mustOrder = members.size === hashedMembersMax && members instanceof Map
  return (mustOrder ? new TextMap(members, isBefore) : members).set(name, value)
}

/** A copy that may be changed until it is in use. */
export const copyMembers = (value: JsonObject): Members =>
  value.size > hashedMembersMax ? new TextMap(value) : new Map(value)

export const isJsonArray = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value)

export const isExactNumber = (value: Json | undefined): value is ExactNumber =>
  typeof value === 'object' && value !== null && 'numberText' in value
