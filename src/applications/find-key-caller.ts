/**
 * Finds the application behind an API key or an id, as a caller.
 *
 * A cached caller is valid only while the store's generation is unchanged, so that a regenerated,
 * changed or deleted credential is refused on the next request in every process. Source: contract
 * section 13.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { callerBytes } from '../rules/caller-size.ts'
import type { Caller, LoadCaller } from '../rules/caller.ts'
import { isExpired } from '../records/expiry.ts'
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
  credential: { ordinal: row.ordinal, version: row.version, uniques: row.uniques },
  dependsOn: [],
  keyNumber: key.number,
  keyId: keyIdOf(keys, record, key),
})

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

type Reading = Pick<Deps, 'store' | 'keys' | 'now'>

/** A live application, and one of its live keys. */
interface Found extends StoredApplication {
  readonly key: KeyRecord
}

const isEqual = (a: Digest, b: Digest): boolean => Buffer.compare(a, b) === 0

/** Refuses an expired row unopened, at the cost of an absent one (contract section 2). */
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

/** No caller is cached beyond the end of the day, so that each day's first use is noted. */
const endOfDayMs = (nowMs: number): number => (Math.floor(nowMs / dayMs) + 1) * dayMs

/**
 * decision: refusing an expired key costs one opening more than an unknown one, until the
 * application is next written. Only the holder of that key can tell.
 * @param noteUse called with the key, each time a caller is not found in the cache
 * @returns a look-up for any text
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
    const keepUntilMs = earliest(value.expiresAtMs, endOfDayMs(nowMs))
    return { value, keepUntilMs, bytes: callerBytes(value) }
  }
}

/**
 * Returns the live application with that id, as the caller that its key would be.
 * @param keyNumber a key that must be live too
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
