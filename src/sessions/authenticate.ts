/**
 * From a session key to its caller.
 *
 * A session stands and falls with the application that created it, which is looked up with it. An
 * authorized session never changes again, so its caller is kept while the store's generation
 * stands: deleting an application moves that. One that is not authorized is never kept, so that
 * its authorization is seen at once and need not move the generation for everybody.
 * Source: contract sections 12 and 13.
 * @module
 */
import type { Grants } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import { isWithin } from '../domain/grant-limit.ts'
import { cacheByGeneration } from '../records/generation-cache.ts'
import type { SessionDeps } from './deps.ts'
import { openSession, sessionKeyDigest, type StoredSession } from './record.ts'

/** No application key starts so: an underscore is not of base58. */
export const sessionKeyPrefix = 'key_sess_'

const noGrants: Grants = { permissions: [], rules: [] }

type Expiring = Pick<Caller, 'expiresAtMs'>

const earliestMs = (...expiring: readonly Expiring[]): number =>
  Math.min(...expiring.map(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs))

/**
 * decision: with grants bound to the authorizer, the session ends with that too, and holds nothing
 * while its grants are wider than what the authorizer has left (hardening H158).
 */
async function callerOf(
  deps: SessionDeps,
  { row, record }: StoredSession,
): Promise<Caller | undefined> {
  const { tenantId, applicationId, authorization } = record
  const creator = await deps.findApplication(tenantId, applicationId)
  if (creator === undefined) return undefined
  const bound = deps.settings.sessionGrantsWithinAuthorizer ? authorization : undefined
  const limit =
    bound === undefined ? creator : await deps.findApplication(tenantId, bound.authorizedBy)
  if (limit === undefined) return undefined
  const grants = authorization?.grants ?? noGrants
  const isStanding = bound === undefined || isWithin(grants, limit.grants)
  return {
    tenantId,
    applicationId,
    type: 'session',
    grants: isStanding ? grants : noGrants,
    expiresAtMs: earliestMs(record, creator, limit),
    credential: { ordinal: row.ordinal, version: row.version },
  }
}

/**
 * @returns a function that gives the caller of a session key, who may have expired, and
 * `undefined` for any other text
 */
export function sessionAuthenticator(
  deps: SessionDeps,
): (key: string) => Promise<Caller | undefined> {
  const findCaller = cacheByGeneration(deps.store, async digest => {
    const row = await deps.store.find(digest)
    if (row === undefined) return undefined
    const session = openSession(deps.keys, row)
    const value = await callerOf(deps, session)
    if (value === undefined) return undefined
    return { value, mayKeep: session.record.authorization !== undefined }
  })
  return key => findCaller(sessionKeyDigest(deps.keys, key))
}
