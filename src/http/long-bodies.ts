/**
 * Bodies that take long to parse and to print: in turns, so that however many come at once, nobody
 * else waits for more than a piece of one.
 *
 * @module
 */
import type { Json } from '../domain/json.ts'
import { decodeUtf8, parseJson, parseJsonInTurns } from '../domain/json-parse.ts'
import { printInTurns } from '../domain/json-print-turns.ts'
import { shortBodyBytesMax } from '../limits.ts'

type LetOthersIn = () => Promise<void>

/**
 * @returns the value; what of it is long was printed, so that printing it again takes no time
 * @throws ApiError `invalid_request` as `parseJson`
 */
async function parseLongBody(bytes: Uint8Array, next: LetOthersIn): Promise<Json> {
  await next()
  const text = decodeUtf8(bytes)
  await next()
  const value = await parseJsonInTurns(text, next)
  await next()
  await printInTurns(value, next)
  return value
}

/**
 * @param next resolves when one more piece may be worked on
 * @throws ApiError `invalid_request` as `decodeUtf8` and `parseJson`
 */
export const parseBody = (bytes: Uint8Array, next: LetOthersIn): Json | Promise<Json> =>
  bytes.length <= shortBodyBytesMax ? parseJson(decodeUtf8(bytes)) : parseLongBody(bytes, next)
