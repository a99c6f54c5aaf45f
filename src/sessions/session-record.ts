/**
 * The session record: what is sealed, and by what it is found.
 *
 * Sessions live in the installation's key scope: a key is looked up before its tenant is known.
 * The nonce stays a unique of the row after its use, so that a second use is told from an unknown
 * nonce; its digest holds the tenant, so that no other tenant finds it.
 * @module
 */
import { termDigest, uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import type { Grants } from '../rules/access.ts'
import { sessionMsMax } from '../limits/limits.ts'
import { clockStepMsMax } from '../limits/operation-limits.ts'
import { jsonRecord } from '../records/rows.ts'
import type { Digest, NewRow, Row } from '../store/contract.ts'
import type { Caller } from '../rules/caller.ts'
import type { SessionDeps } from './session-deps.ts'

export interface SessionRecord {
  readonly id: string
  readonly tenantId: string
  /** The public application that created it. */
  readonly applicationId: string
  /** Which key of it created the session. */
  readonly keyNumber: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** Absent until it is authorized; never changed after. */
  readonly authorization?: {
    readonly grants: Grants
    /** The private application that authorized it. */
    readonly authorizedBy: string
    /** Which key of it authorized the session. */
    readonly keyNumber: number
    readonly authorizedAtMs: number
  }
}

export interface StoredSession {
  readonly row: Row
  readonly record: SessionRecord
}

const { seal, open } = jsonRecord<SessionRecord>('session')

/** 32 bytes: the digest under which a session key is found. */
export const sessionKeyDigest = (keys: Keys, key: string): Digest =>
  uniqueDigest(keys.installation, 'session-key', key)

/** 32 bytes: the digest under which the nonce of a session is found, in its tenant alone. */
export const nonceDigest = (keys: Keys, tenantId: string, nonce: string): Digest =>
  uniqueDigest(keys.installation, 'session-nonce', tenantId, nonce)

/** 32 bytes: the digest under which a session is found by its id, in its tenant alone. */
export const sessionUnique = (keys: Keys, tenantId: string, id: string): Digest =>
  uniqueDigest(keys.installation, 'session-id', tenantId, id.toLowerCase())

export const sessionTenantTerm = (keys: Keys, tenantId: string): Digest =>
  termDigest(keys.installation, 'session-tenant', tenantId)

/**
 * The row of a session.
 * @param uniques the digests of its key, of its nonce and of its id
 * @param version 1 for a new session, 2 for an authorized one
 */
export function sealSession(
  deps: Pick<Deps, 'keys' | 'randomBytes'>,
  record: SessionRecord,
  uniques: readonly Digest[],
  version: number,
): NewRow {
  const terms = [sessionTenantTerm(deps.keys, record.tenantId)]
  return seal(deps, record, { uniques, terms, deadlineMs: record.expiresAtMs }, version)
}

/**
 * Whether a session may be used at this time. One that was made later than now, or ends later than
 * any session can, is of a clock that was ahead, and would outlive its time by that.
 */
export function isUsable({ createdAtMs, expiresAtMs }: SessionRecord, nowMs: number): boolean {
  const latestMs = nowMs + clockStepMsMax
  return expiresAtMs > nowMs && createdAtMs <= latestMs && expiresAtMs <= latestMs + sessionMsMax
}

/** @throws ApiError `storage_corrupt` when the row is not what was sealed */
export const unsealSession = (keys: Keys, row: Row): StoredSession => ({
  row,
  record: open(keys, row),
})

/*
 * Whether a session still stands: it ends with the application that created it and with the one
 * that authorized it, and with the keys by which they did. Source: contract section 12.
 *
 * decision: the session of an authorizer that is gone costs a look-up and an opening more than what
 * else is refused, two openings where that one has another key: it tells the holder of the
 * session's key.
 */

/** The applications behind a session, as they stand. */
interface Backing {
  readonly creator: Caller
  /** Absent until the session is authorized. */
  readonly authorizer?: Caller
}

/** @returns `undefined` for a session that has ended */
export async function findBacking(
  { findApplication }: SessionDeps,
  { tenantId, applicationId, keyNumber, authorization }: SessionRecord,
): Promise<Backing | undefined> {
  const creator = await findApplication(tenantId, applicationId, keyNumber)
  if (creator === undefined || authorization === undefined) return creator && { creator }
  const { authorizedBy, keyNumber: authorizedUnder } = authorization
  const authorizer = await findApplication(tenantId, authorizedBy, authorizedUnder)
  return authorizer === undefined ? undefined : { creator, authorizer }
}
