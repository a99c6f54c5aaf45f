/**
 * From an API key, or an id, to the application that it stands for as a caller.
 *
 * A cached caller counts only while the store's generation stands, so that a regenerated, changed
 * or deleted credential is dead on the next request in every process. Expiry is left to whoever
 * asks, since it passes without a write. Source: contract section 13.
 * @module
 */
import type { Deps } from '../deps.ts'
import { isLive, type Caller } from '../domain/caller.ts'
import { cacheByGeneration } from '../records/generation-cache.ts'
import { applicationUnique, keyDigest, openApplication, type StoredApplication } from './record.ts'

const keyPrefix = 'key_'

const callerOf = ({ row, record }: StoredApplication): Caller => ({
  tenantId: record.tenantId,
  applicationId: record.id,
  type: record.type,
  grants: { permissions: record.permissions, rules: record.rules },
  expiresAtMs: record.expiresAt?.epochMs,
  credential: { ordinal: row.ordinal, version: row.version },
})

/**
 * @returns a function that gives the caller of a key, who may have expired, and `undefined` for
 * any other text
 */
export function applicationAuthenticator(
  deps: Pick<Deps, 'store' | 'keys'>,
): (key: string) => Promise<Caller | undefined> {
  const findCaller = cacheByGeneration(deps.store, async digest => {
    const row = await deps.store.find(digest)
    if (row === undefined) return undefined
    return { value: callerOf(openApplication(deps.keys, row)), mayKeep: true }
  })
  return async key =>
    key.startsWith(keyPrefix) ? findCaller(keyDigest(deps.keys, key)) : undefined
}

/** The live application of that id, as the caller that its key makes. */
export async function findLiveApplication(
  deps: Pick<Deps, 'store' | 'keys' | 'now'>,
  tenantId: string,
  id: string,
): Promise<Caller | undefined> {
  const row = await deps.store.find(applicationUnique(deps.keys, tenantId, id))
  if (row === undefined) return undefined
  const caller = callerOf(openApplication(deps.keys, row))
  return isLive(caller, deps.now()) ? caller : undefined
}
