/**
 * From an API key, or an id, to the application that it stands for as a caller.
 *
 * A cached caller counts only while the store's generation stands, so that a regenerated, changed
 * or deleted credential is dead on the next request in every process. Source: contract section 13.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import type { MaybeLater } from '../maybe-later.ts'
import { isExpired } from '../records/deadline.ts'
import { cacheByGeneration } from '../records/generation-cache.ts'
import type { Digest } from '../store/contract.ts'
import { applicationUnique, keyDigest, openApplication, type StoredApplication } from './record.ts'

const callerOf = ({ row, record }: StoredApplication): Caller => ({
  tenantId: record.tenantId,
  applicationId: record.id,
  type: record.type,
  grants: { permissions: record.permissions, rules: record.rules },
  expiresAtMs: record.expiresAt?.epochMs,
  credential: { ordinal: row.ordinal, version: row.version },
  restsOn: [],
  keyNumber: record.keyNumber ?? 0,
})

type Reading = Pick<Deps, 'store' | 'keys' | 'now'>

/** An expired row is refused unopened: that costs what an absent one does (contract section 2). */
async function findLive({ store, keys }: Reading, unique: Digest, nowMs: number) {
  const row = await store.find(unique)
  if (row === undefined || isExpired(row, nowMs)) return undefined
  return callerOf(openApplication(keys, row))
}

/**
 * @returns a function that gives the live caller of a key, and `undefined` for any other text;
 * whatever that text is, it is looked up
 */
export function applicationAuthenticator(
  deps: Reading,
): (key: string, isFresh?: boolean) => MaybeLater<Caller | undefined> {
  const findCaller = cacheByGeneration(deps, async (digest, nowMs) => {
    const value = await findLive(deps, digest, nowMs)
    if (value === undefined) return undefined
    return { value, keepUntilMs: value.expiresAtMs }
  })
  return (key, isFresh) => findCaller(keyDigest(deps.keys, key), isFresh)
}

/** The live application of that id, as the caller that its key makes. */
export const findLiveApplication = (
  deps: Reading,
  tenantId: string,
  id: string,
): Promise<Caller | undefined> =>
  findLive(deps, applicationUnique(deps.keys, tenantId, id), deps.now())
