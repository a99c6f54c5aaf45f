/**
 * Bodies that take long to parse: one at a time, and in turns, so that however many come at once,
 * nobody else waits for more than a piece of one.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { Json } from '../domain/json.ts'
import { parseJson, parseJsonInTurns } from '../domain/json-parse.ts'
import { jsonTurnChars } from '../limits.ts'

const letOthersIn = (): Promise<void> => setImmediate()

/** Settles when all that came before are parsed. */
let parsedBefore: Promise<unknown> = Promise.resolve()

/** @throws ApiError `invalid_request` as `parseJson` */
export function parseBody(text: string): Json | Promise<Json> {
  if (text.length <= jsonTurnChars) return parseJson(text)
  const parse = () => parseJsonInTurns(text, letOthersIn)
  const parsed = parsedBefore.then(parse, parse)
  parsedBefore = parsed.catch(() => {})
  return parsed
}
