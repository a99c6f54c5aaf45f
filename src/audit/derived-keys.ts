/**
 * Keys of the values that are kept beside the log. The first byte is the kind of the value: 0x01 is
 * that of tiles (`tiles.ts`), 0x02 that of the search index (`index-format.ts`).
 * @module
 */
import { u48Bytes, uuidBytesOf, writeU32, writeU48 } from '../lib/bytes.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import { andThen } from '../lib/waiting.ts'
import type { Store } from '../store/contract.ts'

const indexKind = 0x02
const checkpointKind = 0x03
const frontierKind = 0x04
const announcementKind = 0x05
const prunedKind = 0x06
const signingKind = 0x07
const deliveriesKind = 0x08
const markKind = 0x09

/** Newest checkpoint: a note, as text. */
export const newestCheckpointKey = Uint8Array.of(checkpointKind)
/** State of the tree at the newest checkpoint. */
export const frontierKey = Uint8Array.of(frontierKind)
/** State of the tree at the prune point. */
export const prunedFrontierKey = Uint8Array.of(prunedKind)

/** The sealed signing keys of a vault in a database that several machines share. */
export const signingKey = Uint8Array.of(signingKind)

/** Key of a checkpoint that is kept, by its size. */
export function checkpointKey(size: number): Uint8Array {
  const key = new Uint8Array(1 + u48Bytes)
  key[0] = checkpointKind
  writeU48(key, 1, size)
  return key
}

/** Key of the announcement of a signing key, by its number. */
export function announcementKey(number: number): Uint8Array {
  const key = new Uint8Array(5)
  key[0] = announcementKind
  writeU32(key, 1, number)
  return key
}

/** Key of the state of the deliveries to a webhook. @param id its UUID */
export const deliveriesKey = (id: string): Uint8Array =>
  Uint8Array.of(deliveriesKind, ...uuidBytesOf(id))

/**
 * Keys of the marks that readers of the log write before they save what they have read of it
 * (`log-end.ts`): of those who deliver, sign, and index.
 */
export const placeMarkKey = Uint8Array.of(deliveriesKind)
export const treeMarkKey = Uint8Array.of(markKind, frontierKind)
export const indexMarkKey = Uint8Array.of(markKind, indexKind)

/** Ranges of all kept checkpoints, and of all announcements. */
export const checkpointRange = [checkpointKey(0), frontierKey] as const
export const announcementRange = [announcementKey(0), prunedFrontierKey] as const

/** Reads one value beside the log. */
export function readDerived(
  store: Pick<Store, 'derived'>,
  key: Uint8Array,
): MaybeLater<Uint8Array | undefined> {
  const behind = new Uint8Array(key.length + 1)
  behind.set(key)
  return andThen(store.derived(key, behind, 1), ([found]) => found?.value)
}
