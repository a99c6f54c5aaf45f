/**
 * Keys of an application: several may be live at a time, so that one can replace another without a
 * moment in which neither works.
 *
 * The record describes each key, and the row is found by the digest of each; both in one order.
 * Source: contract section 15.
 * @module
 */
import { base58, base58Pattern, uuidOf } from '../lib/bytes.ts'
import { uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { printInstantUtc, type Instant } from '../rules/instants.ts'
import { Secret } from '../lib/secret.ts'
import type { Digest, Row } from '../store/contract.ts'

const apiKeyRandomBytes = 16

/** Form of a key, as a regular expression of JSON Schema. */
export const apiKeyPattern = `^key_${base58Pattern}$`

/** Entry of a key in the record of its application. */
export interface KeyRecord {
  /** Counts from 0 over all keys the application ever had. Sessions depend on one key. */
  readonly number: number
  readonly createdBy?: string
  readonly createdAtMs: number
  readonly expiresAt?: Instant
  /** `2030-01-31`, in UTC; absent until a use of the key was recorded. */
  readonly lastUsedOn?: string
}

/** A key and the digest by which it is found. */
export interface HeldKey {
  readonly key: KeyRecord
  readonly digest: Digest
}

export const newKey = (deps: Pick<Deps, 'randomBytes'>): Secret =>
  new Secret(`key_${base58(deps.randomBytes(apiKeyRandomBytes))}`)

/** Returns all keys of an application, expired ones too. */
export function heldKeys(
  { uniques: [, ...digests] }: Row,
  { keys }: { readonly keys: readonly KeyRecord[] },
): readonly HeldKey[] {
  return digests.flatMap((digest, index) => {
    const key = keys[index]
    return key === undefined ? [] : [{ key, digest }]
  })
}

export const isLiveKey = ({ expiresAt }: KeyRecord, nowMs: number): boolean =>
  expiresAt === undefined || nowMs < expiresAt.epochMs

/** Returns the public id of a key, derived from the application's id and the key's number. */
export const keyIdOf = (
  keys: Keys,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  { number }: KeyRecord,
): string => {
  const digest = uniqueDigest(keys.installation, 'application-key', tenantId, id, String(number))
  return uuidOf(digest.subarray(0, 16))
}

/** Returns the day of an instant, in UTC. */
export const dayOf = (epochMs: number): string => printInstantUtc(epochMs).slice(0, 10)
