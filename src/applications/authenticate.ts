/**
 * From an API key to its caller.
 *
 * A cached caller counts only while the store's generation stands, so that a regenerated, changed
 * or deleted credential is dead on the next request in every process. Expiry is checked each time.
 * The cache is keyed by the digest, so no key text is kept. Source: contract section 13.
 * @module
 */
import { hexOf } from '../bytes.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import { credentialCacheEntriesMax } from '../limits.ts'
import { keyDigest, openApplication, type StoredApplication } from './record.ts'

const keyPrefix = 'key_'

const callerOf = ({ row, record }: StoredApplication): Caller => ({
  tenantId: record.tenantId,
  applicationId: record.id,
  type: record.type,
  grants: { permissions: record.permissions, rules: record.rules },
  expiresAtMs: record.expiresAt?.epochMs,
  credential: { ordinal: row.ordinal, version: row.version },
})

/** @returns a function that gives the caller of a live key, and `undefined` for any other text */
export function authenticator(deps: Deps): (key: string) => Promise<Caller | undefined> {
  let generation = -1
  let cached = new Map<string, Caller>()

  async function findCaller(digest: Uint8Array): Promise<Caller | undefined> {
    const current = await deps.store.generation()
    if (current !== generation || cached.size >= credentialCacheEntriesMax) {
      generation = current
      cached = new Map()
    }
    const cacheKey = hexOf(digest)
    const known = cached.get(cacheKey)
    if (known !== undefined) return known
    const into = cached
    const row = await deps.store.find(digest)
    if (row === undefined) return undefined
    const caller = callerOf(openApplication(deps.keys, row))
    into.set(cacheKey, caller)
    return caller
  }

  return async key => {
    if (!key.startsWith(keyPrefix)) return undefined
    const caller = await findCaller(keyDigest(deps.keys, key))
    const expired = caller?.expiresAtMs !== undefined && caller.expiresAtMs <= deps.now()
    return expired ? undefined : caller
  }
}
