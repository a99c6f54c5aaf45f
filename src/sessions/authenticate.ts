/**
 * From a session key to its caller.
 *
 * A session stands and falls with the application that created it, which is looked up with it. An
 * authorized session never changes again, so its caller is kept while the store's generation
 * stands: deleting an application moves that. One that is not authorized is never kept, so that
 * its authorization is seen at once and need not move the generation for everybody.
 * Source: contract sections 12 and 13.
 *
 * What is refused costs the same whatever the reason (contract section 2): where no session stands,
 * one is opened all the same, whose application is nowhere. decision: where sessions are bound to
 * their authorizer, the session of one that is gone costs an opening and a look-up more.
 * @module
 */
import type { Grants } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import { isWithin } from '../domain/grant-limit.ts'
import { isExpired } from '../records/deadline.ts'
import { cacheByGeneration } from '../records/generation-cache.ts'
import { inNoStore } from '../records/sealed-row.ts'
import type { Row } from '../store/contract.ts'
import type { SessionDeps } from './deps.ts'
import {
  isUsable,
  openSession,
  sealSession,
  sessionKeyDigest,
  type SessionRecord,
  type StoredSession,
} from './record.ts'

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

/** Versions of random ids are 4, so no application has this one. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** A session in no store, of nobody, as long as one is that may read. */
function sealStandIn(deps: SessionDeps): Row {
  const nowMs = deps.now()
  const record: SessionRecord = {
    tenantId: nobody,
    applicationId: nobody,
    createdAtMs: nowMs,
    expiresAtMs: nowMs,
    authorization: {
      grants: { permissions: ['token:read'], rules: [] },
      authorizedBy: nobody,
      authorizedAtMs: nowMs,
    },
  }
  const uniques = ['', ''].map(text => sessionKeyDigest(deps.keys, text))
  return inNoStore(sealSession(deps, record, uniques, 1))
}

/**
 * @returns a function that gives the live caller of a session key, and `undefined` for any other
 * text
 */
export function sessionAuthenticator(
  deps: SessionDeps,
): (key: string) => Promise<Caller | undefined> {
  const standIn = sealStandIn(deps)
  const findCaller = cacheByGeneration(deps, async (digest, nowMs) => {
    const found = await deps.store.find(digest)
    const stands = found !== undefined && !isExpired(found, nowMs)
    const session = openSession(deps.keys, stands ? found : standIn)
    const value = await callerOf(deps, session)
    const isStanding = stands && isUsable(session.record, nowMs)
    if (!isStanding || value === undefined) return undefined
    const isFinal = session.record.authorization !== undefined
    return { value, keepUntilMs: isFinal ? value.expiresAtMs : 0 }
  })
  return key => findCaller(sessionKeyDigest(deps.keys, key))
}
