/**
 * Keys that sign notes: names, ids, and the public half as text.
 *
 * Source: C2SP signed-note ("Signatures", "Verifier keys") and tlog-cosignature; the text form is
 * that of Go's `sumdb/note`.
 * @module
 */
import { publicKeyBytes, signingKeyOf } from '../crypto/ed25519.ts'
import { utf8, writeU32 } from '../lib/bytes.ts'
import { invalid, invariant } from '../lib/errors.ts'

/** A log signs the text; a witness signs it with the time, after it has checked consistency. */
export type NoteKeyKind = 'log' | 'witness'

/** Assigned types of signature: Ed25519, and timestamped Ed25519 of witnesses. */
const typeOf: Readonly<Record<NoteKeyKind, number>> = { log: 0x01, witness: 0x04 }

export const keyIdBytes = 4

export interface NoteKey {
  readonly name: string
  readonly kind: NoteKeyKind
  readonly publicKey: Uint8Array
  /** Hash of name, kind and public key, as eight hex digits. */
  readonly id: string
}

export interface NoteSigner {
  readonly key: NoteKey
  sign(message: Uint8Array): Uint8Array
}

const blankCode = 0x20
const lineFeedCode = 0x0a

/** A note has no control characters but line feeds, and no lone surrogates. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < blankCode && code !== lineFeedCode) return false
  }
  return text.isWellFormed()
}

/** A name is not empty, and has no blanks and no pluses. */
export const isKeyName = (name: string): boolean =>
  /^[^\p{White_Space}+]+$/u.test(name) && isPlain(name)

/** The type of signature, then the public key. */
const taggedKey = (kind: NoteKeyKind, publicKey: Uint8Array): Uint8Array =>
  Uint8Array.of(typeOf[kind], ...publicKey)

function keyOf(name: string, kind: NoteKeyKind, publicKey: Uint8Array): NoteKey {
  const hashed = Bun.SHA256.hash(
    Buffer.concat([utf8(`${name}\n`), taggedKey(kind, publicKey)]),
    'hex',
  )
  return { name, kind, publicKey, id: hashed.slice(0, 2 * keyIdBytes) }
}

/** @param seed 32 random bytes, copied */
export function makeNoteSigner(name: string, kind: NoteKeyKind, seed: Uint8Array): NoteSigner {
  invariant(isKeyName(name), 'a key has a name without blanks and pluses')
  const { publicKey, sign } = signingKeyOf(seed)
  return { key: keyOf(name, kind, publicKey), sign }
}

/** Returns `name+id+base64(type ‖ public key)`. */
export const printVerifierKey = ({ name, kind, publicKey, id }: NoteKey): string =>
  `${name}+${id}+${taggedKey(kind, publicKey).toBase64()}`

/** @returns the bytes of canonical base64 with padding, undefined for any other text */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
    return bytes.toBase64() === text ? bytes : undefined
  } catch {
    return undefined
  }
}

/** @returns the key, or what its text must be like */
export function parseVerifierKey(text: string): NoteKey | string {
  const [, name = '', id = '', encoded = ''] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(text) ?? []
  const tagged = bytesOfBase64(encoded)
  if (!isKeyName(name) || tagged === undefined) {
    return 'expected a verifier key: its name, 8 hex digits and base64, joined by +'
  }
  const kind = tagged[0] === typeOf.log ? 'log' : 'witness'
  if (tagged[0] !== typeOf[kind] || tagged.length !== 1 + publicKeyBytes) {
    return 'expected a key of Ed25519: base64 of the byte 1 or 4 and of 32 bytes'
  }
  const key = keyOf(name, kind, tagged.subarray(1))
  return key.id === id
    ? key
    : 'expected the 8 hex digits that follow from name and key: copy the verifier key as a whole'
}

/** @throws ApiError `invalid_request` that says what is wrong with the key */
export function readVerifierKey(text: string): NoteKey {
  const key = parseVerifierKey(text)
  if (typeof key === 'string') throw invalid('key', key)
  return key
}

/** Returns the base64 of a signature line: the id of the key, then the signature. */
export function printSignature({ id }: NoteKey, signature: Uint8Array): string {
  const bytes = new Uint8Array(keyIdBytes + signature.length)
  writeU32(bytes, 0, Number.parseInt(id, 16))
  bytes.set(signature, keyIdBytes)
  return bytes.toBase64()
}
