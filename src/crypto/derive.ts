/**
 * Subkeys: HKDF-SHA256 (RFC 5869) by tenant and purpose, so that no key has two jobs.
 *
 * @module
 */
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8 } from '../bytes.ts'
import { keyBytes } from './primitives.ts'

/** What a derived key is for. A new purpose is a new label, never a reuse. */
export type Purpose = 'keyring' | 'record' | 'index' | 'fingerprint' | 'cursor'

/**
 * @param key 32 bytes of high entropy
 * @param scope whose key it is: a tenant id, or the installation's scope
 * @returns 32 bytes
 */
export const deriveKey = (key: Uint8Array, purpose: Purpose, scope: string): Uint8Array =>
  hkdf(sha256, key, utf8(scope), utf8(`coffer/1/${purpose}`), keyBytes)
