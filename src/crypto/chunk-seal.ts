/**
 * Long texts of bytes, sealed in chunks that are opened one after the other.
 *
 * Each chunk is sealed under a nonce of its number and of whether it is the last one: none can be
 * changed, left out, put elsewhere or cut off. The key is made for one text alone, so that no nonce
 * is used twice. Source: STREAM (Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
 * @module
 */
import { writeU32 } from '../lib/bytes.ts'
import { nonceBytes, primitives } from './primitives.ts'

const numberAt = nonceBytes - 5
const lastAt = nonceBytes - 1

function nonceOf(number: number, isLast: boolean): Uint8Array {
  const nonce = new Uint8Array(nonceBytes)
  writeU32(nonce, numberAt, number)
  nonce[lastAt] = isLast ? 1 : 0
  return nonce
}

/**
 * @param head what the text begins with in the clear: it is bound to every chunk
 * @param number counted from 0
 */
export const sealChunk = (
  key: Uint8Array,
  head: Uint8Array,
  number: number,
  isLast: boolean,
  chunk: Uint8Array,
): Uint8Array => primitives.encrypt(key, nonceOf(number, isLast), chunk, head)

/** `undefined` for what is not that chunk of that text. */
export const unsealChunk = (
  key: Uint8Array,
  head: Uint8Array,
  number: number,
  isLast: boolean,
  sealed: Uint8Array,
): Uint8Array | undefined => primitives.decrypt(key, nonceOf(number, isLast), sealed, head)
