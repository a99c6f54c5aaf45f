/**
 * Digests of a body that came under an idempotency key: nothing else of it is kept, and they tell
 * the same body from another.
 * @module
 */
import { hexOf } from '../lib/bytes.ts'
import { uniqueDigest, type Keys } from '../crypto/keyring.ts'
import { ApiError } from '../lib/errors.ts'
import { printCanonicalJson } from '../lib/json/json.ts'
import { printInTurns } from '../lib/json/print-turns.ts'
import { shortBodyBytesMax } from '../limits/limits.ts'
import { parseBody, type Pause } from './bodies.ts'

/**
 * decision: the digest of the body is keyed by the idempotency key too, which is kept nowhere: of
 * a body that is gone nothing can be guessed by it, not even with the keys of the vault.
 */
export function digestOf(
  keys: Keys,
  tenantId: string,
  key: string,
  form: 'bytes' | 'document',
  body: Uint8Array | string,
): string {
  const plain = new Bun.CryptoHasher('sha256').update(body).digest('hex')
  const fields = form === 'bytes' ? [key, plain] : [key, form, plain]
  return hexOf(uniqueDigest(keys.tenant(tenantId), 'idempotency-body', ...fields))
}

/** The one text of a JSON document, however it was written; `undefined` for what is none. */
export async function documentText(bytes: Uint8Array, pause: Pause): Promise<string | undefined> {
  if (bytes.length === 0) return undefined
  try {
    const value = await parseBody(bytes, pause)
    if (bytes.length > shortBodyBytesMax) await printInTurns(value, pause)
    return printCanonicalJson(value)
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.kind === 'invalid_request') return undefined
    throw thrown
  }
}
