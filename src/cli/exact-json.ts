/**
 * Answers of a vault that keep their numbers and orders of members exactly.
 * @module
 */
import type { Notation, Token } from '../client/index.ts'
import { invariant } from '../lib/errors.ts'
import {
  fromPlain,
  isExactNumber,
  isJsonArray,
  isJsonObject,
  printJson,
  type Json,
  type JsonObject,
} from '../lib/json/json.ts'
import { parseStoredJson } from '../lib/json/parse-json.ts'

/** Members with a caller's content: they stay a `Json`. */
const opaque = new Set(['data', 'mask', 'metadata'])

function frameOf(value: Json): unknown {
  if (isExactNumber(value)) return Number(value.numberText)
  if (isJsonArray(value)) return value.map(frameOf)
  if (!isJsonObject(value)) return value
  // In a list, `data` holds the tokens.
  const isList = value.has('pagination')
  return Object.fromEntries(
    [...value].map(([name, member]) => {
      const isOpaque = opaque.has(name) && !(isList && name === 'data')
      return [name, isOpaque ? member : frameOf(member)]
    }),
  )
}

/** Returns a token that was answered under `exactJson`, with nothing lost. */
export const wholeToken = (token: Token): JsonObject => {
  const whole = fromPlain(token, opaque)
  invariant(isJsonObject(whole), 'a token is an object')
  return whole
}

const isJson = (value: unknown): value is Json =>
  Array.isArray(value) || isJsonObject(value as Json)

/**
 * Keeps `data`, `mask` and `metadata` of tokens as `Json`; sends an array or a `JsonObject` as one.
 */
export const exactJson: Notation = {
  parse: text => frameOf(parseStoredJson(text)),
  stringify: value => (isJson(value) ? printJson(value) : JSON.stringify(value)),
}
