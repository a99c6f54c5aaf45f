/**
 * Long byte strings, sealed in chunks that are opened one after the other.
 *
 * The nonce of each chunk holds its number and whether it is the last: none can be changed,
 * dropped, reordered or cut off. The key is made for one such string only, so no nonce repeats.
 * Source: STREAM (Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
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
 * @param head the clear bytes before the chunks: every chunk is bound to them
 * @param number counted from 0
 */
export const sealChunk = (
  key: Uint8Array,
  head: Uint8Array,
  number: number,
  isLast: boolean,
  chunk: Uint8Array,
): Uint8Array => primitives.encrypt(key, nonceOf(number, isLast), chunk, head)

/** Returns `undefined` for anything but that chunk of that string. */
export const unsealChunk = (
  key: Uint8Array,
  head: Uint8Array,
  number: number,
  isLast: boolean,
  sealed: Uint8Array,
): Uint8Array | undefined => primitives.decrypt(key, nonceOf(number, isLast), sealed, head)
