/**
 * Which ids a file has named already, in 16 to 32 bytes an id, however long the ids are.
 * @module
 */
import { createHash } from 'node:crypto'

const firstPlaces = 1024

/** @returns whether it was there before; of 64 bits of a digest, so that a million stays apart */
export function makeIdSet(): (id: string) => boolean {
  let places = new BigUint64Array(firstPlaces)
  let count = 0
  const put = (digest: bigint): boolean => {
    let at = Number(digest & BigInt(places.length - 1))
    for (; places[at] !== 0n; at = (at + 1) & (places.length - 1)) {
      if (places[at] === digest) return true
    }
    places[at] = digest
    return false
  }
  return id => {
    const digest = createHash('sha256').update(id).digest().readBigUInt64LE() || 1n
    if (put(digest)) return true
    count += 1
    if (2 * count <= places.length) return false
    const before = places
    places = new BigUint64Array(2 * before.length)
    for (const each of before) if (each !== 0n) put(each)
    return false
  }
}
