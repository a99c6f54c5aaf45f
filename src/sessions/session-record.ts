/**
 * The session record: how it is sealed and found.
 *
 * Sessions live in the installation's key scope: a key is looked up before its tenant is known.
 * The nonce stays a unique of the row after its use, so that a second use is distinguished from an
 * unknown nonce; its digest includes the tenant, so that no other tenant finds it.
 * @module
 */
import { termDigest, uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import type { Grants } from '../rules/access.ts'
import { sessionMsMax } from '../limits/limits.ts'
import { clockStepMsMax } from '../limits/operation-limits.ts'
import { jsonRecord } from '../records/json-record.ts'
import type { Digest, NewRow, Row } from '../store/contract.ts'
import type { Caller } from '../rules/caller.ts'
import type { SessionDeps } from './session-deps.ts'

export interface SessionRecord {
  readonly id: string
  readonly tenantId: string
  /** The public application that created it. */
  readonly applicationId: string
  /** Number of its key that created the session. */
  readonly keyNumber: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** Absent until it is authorized; never changed after. */
  readonly authorization?: {
    readonly grants: Grants
    /** The private application that authorized it. */
    readonly authorizedBy: string
    /** Number of its key that authorized the session. */
    readonly keyNumber: number
    readonly authorizedAtMs: number
  }
}

export interface StoredSession {
  readonly row: Row
  readonly record: SessionRecord
}

const { seal, open } = jsonRecord<SessionRecord>('session')

/** Returns the digest under which a session key is found, 32 bytes. */
export const sessionKeyDigest = (keys: Keys, key: string): Digest =>
  uniqueDigest(keys.installation, 'session-key', key)

/** Returns the digest under which a nonce is found, in its tenant alone; 32 bytes. */
export const nonceDigest = (keys: Keys, tenantId: string, nonce: string): Digest =>
  uniqueDigest(keys.installation, 'session-nonce', tenantId, nonce)

/** Returns the digest under which a session is found by its id, in its tenant alone; 32 bytes. */
export const sessionUnique = (keys: Keys, tenantId: string, id: string): Digest =>
  uniqueDigest(keys.installation, 'session-id', tenantId, id.toLowerCase())

export const sessionTenantTerm = (keys: Keys, tenantId: string): Digest =>
  termDigest(keys.installation, 'session-tenant', tenantId)

/**
 * Seals the row of a session.
 * @param uniques the digests of its key, its nonce and its id
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
 * Returns true if the session may be used now. One made later than now, or that ends later than any
 * session can, was made while the clock was ahead, and would last too long.
 */
export function isUsable({ createdAtMs, expiresAtMs }: SessionRecord, nowMs: number): boolean {
  const latestMs = nowMs + clockStepMsMax
  return expiresAtMs > nowMs && createdAtMs <= latestMs && expiresAtMs <= latestMs + sessionMsMax
}

/** @throws ApiError `storage_corrupt` when the row was changed */
export const unsealSession = (keys: Keys, row: Row): StoredSession => ({
  row,
  record: open(keys, row),
})

/*
 * A session lives while the application that created it, the one that authorized it, and the keys
 * by which they did are live. Source: contract section 12.
 *
 * decision: refusing a session whose authorizer is gone costs a look-up and an opening more than
 * other refusals, and a second opening if the authorizer has another key. Only the holder of the
 * session's key can tell.
 */

/** The live applications behind a session. */
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
