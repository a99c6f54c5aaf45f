/**
 * The part of the audit log that needs no secret: keys, checkpoints, and the state it starts from.
 * @module
 */
import { bytesOfHex, utf8Text } from '../lib/bytes.ts'
import { invalid } from '../lib/errors.ts'
import type { DerivedValue, Store } from '../store/contract.ts'
import {
  announcementRange,
  checkpointRange,
  newestCheckpointKey,
  prunedFrontierKey,
  readDerived,
} from './derived-keys.ts'
import type { AnnouncedKey, KeyOfDay } from './log-heads.ts'
import { decodeFrontier, emptyFrontier, type Frontier } from './merkle-tree.ts'
import { readVerifierKey } from './note-keys.ts'

const valuesMax = 1_000_000

/** An announcement as it is kept. The first key of a chain has only its own text. */
interface KeptAnnouncement {
  readonly vkey: string
  readonly signature?: string
  readonly sequence?: number
  readonly leaf?: string
}

export interface PublicLog {
  readonly announcements: readonly KeptAnnouncement[]
  /** Notes in the order of their sizes, of all chains of keys. */
  readonly checkpoints: readonly string[]
  readonly pruned: Frontier
}

const textOf = ({ value }: DerivedValue): string => utf8Text(value)

export async function readPublicLog(store: Pick<Store, 'derived'>): Promise<PublicLog> {
  const announced = await store.derived(...announcementRange, valuesMax)
  const kept = (await store.derived(...checkpointRange, valuesMax)).map(textOf)
  const newest = await readDerived(store, newestCheckpointKey)
  const last = newest === undefined ? [] : [utf8Text(newest)]
  const pruned = await readDerived(store, prunedFrontierKey)
  return {
    announcements: announced.map(each => JSON.parse(textOf(each)) as KeptAnnouncement),
    checkpoints: [...kept, ...last.filter(note => note !== kept.at(-1))],
    pruned: pruned === undefined ? emptyFrontier : decodeFrontier(pruned),
  }
}

/** A chain of keys from the one that is trusted on, and the checkpoints under its name. */
export interface TrustedChain {
  readonly trusted: KeyOfDay
  readonly announced: readonly AnnouncedKey[]
  readonly checkpoints: readonly string[]
}

/**
 * @param vkey the trusted key; without one, the first of the newest chain
 * @throws ApiError `invalid_request` if the log has no such key
 */
export function chainFrom(
  { announcements, checkpoints }: PublicLog,
  vkey: string | undefined,
): TrustedChain {
  const newest = announcements.findLastIndex(({ signature }) => signature === undefined)
  const start = vkey === undefined ? newest : announcements.findIndex(each => each.vkey === vkey)
  const trusted = announcements[start]
  if (trusted === undefined) {
    throw invalid('key', 'expected a verifier key that this log names: see coffer audit key')
  }
  const key = readVerifierKey(trusted.vkey)
  const behind = announcements.slice(start + 1)
  const end = behind.findIndex(({ signature }) => signature === undefined)
  const announced = (end < 0 ? behind : behind.slice(0, end)).map(
    ({ vkey: next, signature = '', sequence = 0, leaf = '' }) => ({
      vkey: next,
      signature,
      sequence,
      leaf: bytesOfHex(leaf),
    }),
  )
  return {
    trusted: { key, sequence: trusted.sequence ?? -1 },
    announced,
    checkpoints: checkpoints.filter(note => note.startsWith(`${key.name}\n`)),
  }
}
