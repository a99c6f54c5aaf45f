/**
 * JSON values as the vault holds them: nothing is lost between the text that came and the text
 * that goes.
 *
 * Objects are Maps, because a plain object reorders integer-like keys and knows `__proto__`.
 * A number is a double where its shortest text is the text that came, else its exact text.
 * Source: contract sections 1 and 5.
 * @module
 */

export interface ExactNumber {
  /** As it came, a JSON number of finite double range: `1.0`, `-0`, `12345678901234567890`. */
  readonly numberText: string
}

export type JsonObject = ReadonlyMap<string, Json>

export type Json = null | boolean | number | string | ExactNumber | readonly Json[] | JsonObject

export const isJsonObject = (value: Json | undefined): value is JsonObject => value instanceof Map

export const isJsonArray = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value)

export const isExactNumber = (value: Json | undefined): value is ExactNumber =>
  typeof value === 'object' && value !== null && 'numberText' in value
