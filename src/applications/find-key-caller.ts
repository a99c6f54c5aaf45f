/**
 * From an API key, or an id, to the application that it stands for as a caller.
 *
 * A caller that is kept counts only while the store's generation stands, so that a regenerated,
 * changed or deleted credential is dead on the next request in every process. Source: contract
 * section 13.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import type { Caller, LoadCaller } from '../rules/caller.ts'
import { isExpired } from '../records/rows.ts'
import type { Digest } from '../store/contract.ts'
import { heldKeys, isLiveKey, keyIdOf, type HeldKey, type KeyRecord } from './api-keys.ts'
import {
  applicationUnique,
  keyDigest,
  unsealApplication,
  type ApplicationRecord,
  type StoredApplication,
} from './application-record.ts'
import { dayMs } from '../rules/instants.ts'

const callerOf = (keys: Keys, { row, record }: StoredApplication, key: KeyRecord): Caller => ({
  tenantId: record.tenantId,
  applicationId: record.id,
  type: record.type,
  grants: { permissions: record.permissions, rules: record.rules },
  expiresAtMs: earliest(record.expiresAt?.epochMs, key.expiresAt?.epochMs),
  credential: { ordinal: row.ordinal, version: row.version },
  dependsOn: [],
  keyNumber: key.number,
  keyId: keyIdOf(keys, record, key),
})

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

type Reading = Pick<Deps, 'store' | 'keys' | 'now'>

/** A live application, and one of its keys that is live. */
interface Found extends StoredApplication {
  readonly key: KeyRecord
}

const isEqual = (a: Digest, b: Digest): boolean => Buffer.compare(a, b) === 0

/** An expired row is refused unopened: that costs what an absent one does (contract section 2). */
async function findLive(
  { store, keys }: Reading,
  unique: Digest,
  nowMs: number,
  isAsked: (held: HeldKey) => boolean,
): Promise<Found | undefined> {
  const row = await store.find(unique)
  if (row === undefined || isExpired(row, nowMs)) return undefined
  const stored = unsealApplication(keys, row)
  const key = heldKeys(row, stored.record).find(isAsked)?.key
  return key !== undefined && isLiveKey(key, nowMs) ? { ...stored, key } : undefined
}

/** A caller is kept for the day at most, so that each day's first use of a key is noted. */
const endOfDayMs = (nowMs: number): number => (Math.floor(nowMs / dayMs) + 1) * dayMs

/**
 * decision: a key that expired by itself costs an opening more than an unknown one, until the
 * application is next written: it tells the holder of that key.
 * @param noteUse is told of the key that was found, whenever a caller is not one that is kept
 * @returns what looks up any text, whatever it is
 */
export function applicationAuthenticator(
  deps: Reading,
  noteUse?: (record: ApplicationRecord, key: KeyRecord, nowMs: number) => void,
): LoadCaller {
  return async (key, nowMs) => {
    const digest = keyDigest(deps.keys, key)
    const found = await findLive(deps, digest, nowMs, held => isEqual(held.digest, digest))
    if (found === undefined) return undefined
    noteUse?.(found.record, found.key, nowMs)
    const value = callerOf(deps.keys, found, found.key)
    return { value, keepUntilMs: earliest(value.expiresAtMs, endOfDayMs(nowMs)) }
  }
}

/**
 * The live application of that id, as the caller that a key of it makes.
 * @param keyNumber which key, that must be live too
 */
export async function findLiveApplication(
  deps: Reading,
  tenantId: string,
  id: string,
  keyNumber: number,
): Promise<Caller | undefined> {
  const unique = applicationUnique(deps.keys, tenantId, id)
  const nowMs = deps.now()
  const found = await findLive(deps, unique, nowMs, ({ key }) => key.number === keyNumber)
  return found && callerOf(deps.keys, found, found.key)
}
