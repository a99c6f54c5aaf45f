/**
 * Keyed digests: what the blind store is searched by, and fingerprints.
 *
 * HMAC-SHA256 (RFC 2104), which PCI DSS 3.5.1.1 names for hashes of card numbers. The input is
 * injective: a label without NUL, NUL, then each field behind its length.
 * @module
 */
import { base58 } from '../bytes.ts'
import { termBytes } from '../limits.ts'
import type { KeyScope } from './keyring.ts'

/** What a digest stands for; two labels never give the same digest for the same text. */
export type DigestLabel =
  | 'api-key'
  | 'application-id'
  | 'application-key'
  | 'application-tenant'
  | 'application-type'
  | 'idempotency'
  | 'idempotency-body'
  | 'session-id'
  | 'session-key'
  | 'session-nonce'
  | 'session-tenant'
  | 'tenant'
  | 'tenant-id'
  | 'token-id'
  | 'token-dedup'
  | 'token'
  | 'token-type'
  | 'token-container'
  | 'token-below-container'
  | 'token-id-prefix'
  | 'token-metadata'
  | 'token-search'
  | 'token-search-shown'
  | 'token-search-blank'
  | 'token-fingerprint'
  | 'token-fingerprint-hidden'
  | 'token-created-by'
  | 'token-created-day'
  | 'token-created-span'
  | 'token-modified-by'
  | 'token-modified-day'
  | 'token-modified-span'

function hasherOf(key: Uint8Array, label: string, fields: readonly string[]): Bun.CryptoHasher {
  let input = label + '\0'
  for (const field of fields) input += `${field.length}:${field}`
  return new Bun.CryptoHasher('sha256', key).update(input)
}

/** 32 bytes: what at most one live row holds. */
export const uniqueDigest = (
  scope: Pick<KeyScope, 'indexKey'>,
  label: DigestLabel,
  ...fields: readonly string[]
): Uint8Array => hasherOf(scope.indexKey, label, fields).digest()

/** A hasher asks for the length of the longest digest there is, whatever its own is. */
const digestScratch = new Uint8Array(64)

/** 16 bytes: what many rows are found by. */
export const termDigest = (
  scope: KeyScope,
  label: DigestLabel,
  ...fields: readonly string[]
): Uint8Array => {
  hasherOf(scope.indexKey, label, fields).digest(digestScratch)
  return digestScratch.slice(0, termBytes)
}

/** 44 characters, equal for equal content of one type in one tenant (contract section 8). */
export const fingerprint = (scope: KeyScope, type: string, content: string): string =>
  base58(hasherOf(scope.fingerprintKey, 'fingerprint', [type, content]).digest())
