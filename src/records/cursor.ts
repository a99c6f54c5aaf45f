/**
 * Cursors: mark where a caller goes on with a walk through a list.
 *
 * A cursor is the ordinal of the last row shown, sealed in the tenant's scope with the question as
 * associated data: it reveals nothing, fits no other tenant or question, and stays valid while rows
 * come and go. Text: base64url of the sealed 6 bytes.
 * decision: it is bound neither to the page size nor to the credential, whose rules are checked
 * again at each step, unless the question says so. Source: contract section 4.
 * @module
 */
import { utf8 } from '../lib/bytes.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import type { KeyScope } from '../crypto/keyring.ts'
import { open, seal } from '../crypto/seal.ts'
import { ApiError, invalid } from '../lib/errors.ts'

const ordinalBytes = 6
/** All cursors are sealed under one key, which is outside the keyring. */
const keyNumber = 0

/** @param question canonical text of what is listed; equal texts list the same */
export function sealCursor(
  scope: KeyScope,
  randomBytes: (count: number) => Uint8Array,
  question: string,
  ordinal: number,
): string {
  const plaintext = Buffer.alloc(ordinalBytes)
  plaintext.writeUIntBE(ordinal, 0, ordinalBytes)
  const key = { number: keyNumber, key: scope.cursorKey }
  const sealed = seal(key, utf8(question), randomBytes(nonceBytes), plaintext)
  return Buffer.from(sealed).toString('base64url')
}

function tryOpen(scope: KeyScope, question: string, text: string): Buffer | undefined {
  const sealed = Buffer.from(text, 'base64url')
  // The base64url decoder is lax, so only the canonical text is accepted.
  if (sealed.toString('base64url') !== text) return undefined
  try {
    return Buffer.from(open(() => scope.cursorKey, utf8(question), sealed))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.kind === 'storage_corrupt') return undefined
    throw thrown
  }
}

/**
 * @param at where the cursor stands in the request
 * @returns the sealed ordinal
 * @throws ApiError `invalid_request` unless the text is a cursor of this tenant and question
 */
export function unsealCursor(scope: KeyScope, question: string, text: string, at: string): number {
  const plaintext = tryOpen(scope, question, text)
  if (plaintext?.length !== ordinalBytes) {
    throw invalid(at, 'expected a cursor that this same list gave as next')
  }
  return plaintext.readUIntBE(0, ordinalBytes)
}
