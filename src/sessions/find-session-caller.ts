/**
 * Finds the caller of a session key.
 *
 * A session lives only as long as the applications behind it, which are looked up with it. An
 * authorized session never changes again, so its caller is cached while the store's generation is
 * unchanged: changing an application and ending a session move that. An unauthorized session is
 * never cached: its authorization then takes effect at once without moving the generation.
 * Source: contract sections 12 and 13.
 *
 * A refusal costs the same for any reason (contract section 2): if there is no such session, a
 * stand-in is opened, whose application does not exist.
 * @module
 */
import type { KeyScope } from '../crypto/keyring.ts'
import type { Grants } from '../rules/access.ts'
import { hexOf } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import { callerBytes } from '../rules/caller-size.ts'
import type { Caller, LoadCaller } from '../rules/caller.ts'
import { grantsWithin } from '../rules/grants.ts'
import { isExpired } from '../records/expiry.ts'
import { inNoStore } from '../records/seal-row.ts'
import { conditionsPerTurn, longSessionBytes } from '../limits/work-limits.ts'
import type { Digest, Row } from '../store/contract.ts'
import type { SessionDeps } from './session-deps.ts'
import {
  isUsable,
  unsealSession,
  sealSession,
  sessionKeyDigest,
  sessionUnique,
  type SessionRecord,
  type StoredSession,
  findBacking,
} from './session-record.ts'

/** No application key starts so: base58 has no underscore. */
export const sessionKeyPrefix = 'key_sess_'

const noGrants: Grants = { permissions: [], rules: [] }

type Expiring = Pick<Caller, 'expiresAtMs'>

const earliestMs = (...expiring: readonly Expiring[]): number =>
  Math.min(...expiring.map(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs))

const countConditions = ({ rules }: Grants): number =>
  rules.reduce((count, { conditions = [] }) => count + conditions.length, 0)

/** Grants bound to the authorizer shrink when it loses any (hardening H158). */
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
  const grants = isBound ? grantsWithin(granted, authorizer.grants) : granted
  return {
    tenantId,
    applicationId,
    sessionId: record.id,
    type: 'session',
    grants,
    hasManyConditions: countConditions(grants) > conditionsPerTurn,
    expiresAtMs: earliestMs(record, ...behind),
    credential: { ordinal: row.ordinal, version: row.version, uniques: row.uniques },
    dependsOn: behind,
    keyNumber: 0,
    ...(creator.keyId === undefined ? {} : { keyId: creator.keyId }),
  }
}

/** Random ids are UUIDs of version 4, so no application has this one. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** Seals a session that is in no store and as long as a real one with `token:read`. */
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

/** Seals one for each keyring: after a rotation, the one before may not open any more. */
function makeStandIn(deps: SessionDeps): () => Row {
  const known = new WeakMap<KeyScope, Row>()
  return () => {
    const { installation } = deps.keys
    const row = known.get(installation) ?? sealStandIn(deps)
    known.set(installation, row)
    return row
  }
}

const isLong = ({ parts }: Row): boolean =>
  parts.reduce((bytes, { length }) => bytes + length, 0) > longSessionBytes

/** The tenant of a session shows once it is opened: until then its term stands for it. */
const finderOf = (found: Row) => ({
  tenantId: found.terms.map(hexOf).join(),
  applicationId: 'sessions',
  credential: found,
})

/**
 * Finds a session, and one with long rules in a turn: hundreds would be opened, and narrowed, at
 * once. What has happened to it while it waited counts.
 */
async function findSession(deps: SessionDeps, unique: Digest, nowMs: number) {
  const found = await deps.store.find(unique)
  if (found === undefined || !isLong(found)) return { found, atMs: nowMs }
  await deps.turns.next(finderOf(found))
  return { found: await deps.store.find(unique), atMs: deps.now() }
}

export function sessionAuthenticator(deps: SessionDeps): LoadCaller {
  const standIn = makeStandIn(deps)
  // Made now: the first request that needs it would take longer than others.
  standIn()
  return async (key, nowMs) => {
    const { found, atMs } = await findSession(deps, sessionKeyDigest(deps.keys, key), nowMs)
    const stands = found !== undefined && !isExpired(found, atMs)
    const session = unsealSession(deps.keys, stands ? found : standIn())
    const value = await callerOf(deps, session)
    const isStanding = stands && isUsable(session.record, atMs)
    if (!isStanding || value === undefined) return undefined
    const isFinal = session.record.authorization !== undefined
    return { value, keepUntilMs: isFinal ? value.expiresAtMs : 0, bytes: callerBytes(value) }
  }
}

export const absentSession = () => new ApiError('not_found', 'There is no such session.')

/**
 * Returns the grants by which a session is answered now: its own, or what is left of them.
 * @throws ApiError `not_found`, also for one that has ended or is of another tenant
 */
export async function grantsOfSession(
  deps: SessionDeps,
  tenantId: string,
  id: string,
): Promise<Grants> {
  const { found } = await findSession(deps, sessionUnique(deps.keys, tenantId, id), deps.now())
  if (found === undefined) throw absentSession()
  const session = unsealSession(deps.keys, found)
  const caller = await callerOf(deps, session)
  if (caller === undefined || !isUsable(session.record, deps.now())) throw absentSession()
  return caller.grants
}
