/**
 * From a session key to its caller.
 *
 * A session stands and falls with the applications behind it, which are looked up with it. An
 * authorized session never changes again, so its caller is kept while the store's generation
 * stands: changing an application and ending a session move that. One that is not authorized is
 * never kept, so that its authorization is seen at once and need not move the generation for all.
 * Source: contract sections 12 and 13.
 *
 * What is refused costs the same whatever the reason (contract section 2): where no session stands,
 * one is opened all the same, whose application is nowhere.
 * @module
 */
import type { KeyScope } from '../crypto/keyring.ts'
import type { Grants } from '../rules/access.ts'
import type { Caller, LoadCaller } from '../rules/caller.ts'
import { grantsWithin } from '../rules/grants.ts'
import { isExpired, inNoStore } from '../records/rows.ts'
import type { Row } from '../store/contract.ts'
import type { SessionDeps } from './session-deps.ts'
import {
  isUsable,
  unsealSession,
  sealSession,
  sessionKeyDigest,
  type SessionRecord,
  type StoredSession,
  findBacking,
} from './session-record.ts'

/** No application key starts so: an underscore is not of base58. */
export const sessionKeyPrefix = 'key_sess_'

const noGrants: Grants = { permissions: [], rules: [] }

type Expiring = Pick<Caller, 'expiresAtMs'>

const earliestMs = (...expiring: readonly Expiring[]): number =>
  Math.min(...expiring.map(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs))

/** With grants bound to the authorizer, what it has lost meanwhile is lost (hardening H158). */
async function callerOf(
  deps: SessionDeps,
  { row, record }: StoredSession,
): Promise<Caller | undefined> {
  const { tenantId, applicationId, authorization } = record
  const backing = await findBacking(deps, record)
  if (backing === undefined) return undefined
  const { creator, authorizer } = backing
  const granted = authorization?.grants ?? noGrants
  const isBound = deps.settings.sessionGrantsWithinAuthorizer && authorizer !== undefined
  const behind = authorizer === undefined ? [creator] : [creator, authorizer]
  return {
    tenantId,
    applicationId,
    sessionId: record.id,
    type: 'session',
    grants: isBound ? grantsWithin(granted, authorizer.grants) : granted,
    expiresAtMs: earliestMs(record, ...behind),
    credential: { ordinal: row.ordinal, version: row.version },
    dependsOn: behind,
    keyNumber: 0,
    ...(creator.keyId === undefined ? {} : { keyId: creator.keyId }),
  }
}

/** Versions of random ids are 4, so no application has this one. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** A session in no store, of nobody, as long as one is that may read. */
function sealStandIn(deps: SessionDeps): Row {
  const nowMs = deps.now()
  const record: SessionRecord = {
    id: nobody,
    tenantId: nobody,
    applicationId: nobody,
    keyNumber: 0,
    createdAtMs: nowMs,
    expiresAtMs: nowMs,
    authorization: {
      grants: { permissions: ['token:read'], rules: [] },
      authorizedBy: nobody,
      keyNumber: 0,
      authorizedAtMs: nowMs,
    },
  }
  const uniques = ['', ''].map(text => sessionKeyDigest(deps.keys, text))
  return inNoStore(sealSession(deps, record, uniques, 1))
}

/** One for the keys that stand: what was sealed under those before may not open any more. */
function makeStandIn(deps: SessionDeps): () => Row {
  const known = new WeakMap<KeyScope, Row>()
  return () => {
    const { installation } = deps.keys
    const row = known.get(installation) ?? sealStandIn(deps)
    known.set(installation, row)
    return row
  }
}

export function sessionAuthenticator(deps: SessionDeps): LoadCaller {
  const standIn = makeStandIn(deps)
  // Not with the first request that needs it, which would be told from others by that.
  standIn()
  return async (key, nowMs) => {
    const found = await deps.store.find(sessionKeyDigest(deps.keys, key))
    const stands = found !== undefined && !isExpired(found, nowMs)
    const session = unsealSession(deps.keys, stands ? found : standIn())
    const value = await callerOf(deps, session)
    const isStanding = stands && isUsable(session.record, nowMs)
    if (!isStanding || value === undefined) return undefined
    const isFinal = session.record.authorization !== undefined
    return { value, keepUntilMs: isFinal ? value.expiresAtMs : 0 }
  }
}
