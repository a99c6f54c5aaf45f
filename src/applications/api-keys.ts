/**
 * The keys of an application: several may be live at a time, so that one takes the place of another
 * without a moment in which neither works.
 *
 * The record says what each key is, the row is found by the digest of each; both in one order.
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

/** What a key looks like, as a regular expression of JSON Schema. */
export const apiKeyPattern = `^key_${base58Pattern}$`

/** What the record of an application says of one of its keys. */
export interface KeyRecord {
  /** Of all keys that the application ever had, from 0 on. Sessions rest on one key. */
  readonly number: number
  readonly createdBy?: string
  readonly createdAtMs: number
  readonly expiresAt?: Instant
  /** `2030-01-31`, in UTC; absent until it was written that the key was used. */
  readonly lastUsedOn?: string
}

/** A key and the digest that it is found by. */
export interface HeldKey {
  readonly key: KeyRecord
  readonly digest: Digest
}

export const newKey = (deps: Pick<Deps, 'randomBytes'>): Secret =>
  new Secret(`key_${base58(deps.randomBytes(apiKeyRandomBytes))}`)

/** All keys of an application, those that have expired too. */
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

/** The id under which a key is shown: it follows from the application's id and the number. */
export const keyIdOf = (
  keys: Keys,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  { number }: KeyRecord,
): string => {
  const digest = uniqueDigest(keys.installation, 'application-key', tenantId, id, String(number))
  return uuidOf(digest.subarray(0, 16))
}

/** The day of an instant, in UTC. */
export const dayOf = (epochMs: number): string => printInstantUtc(epochMs).slice(0, 10)
