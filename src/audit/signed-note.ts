/**
 * Signed notes: a text, a blank line, and a line for each signature.
 *
 * Source: C2SP signed-note; for signatures of witnesses, tlog-cosignature ("Ed25519 signed
 * message"). A note that does not hold is an answer, not an error.
 * @module
 */
import { signatureBytes, signatureCheckOf } from '../crypto/ed25519.ts'
import { bufferOf, hexOf, utf8 } from '../lib/bytes.ts'
import { invariant } from '../lib/errors.ts'
import { noteCharsMax, noteSignaturesMax } from '../limits/operation-limits.ts'
import {
  bytesOfBase64,
  isKeyName,
  isPlain,
  keyIdBytes,
  printSignature,
  type NoteKey,
  type NoteSigner,
} from './note-keys.ts'

/** Signature that holds, by a key that the reader knows. */
interface NoteSignature {
  readonly key: NoteKey
  /** Time of a witness, in seconds since 1970. */
  readonly atSeconds: number | undefined
}

type NoteFault = 'malformed' | 'wrong_signature' | 'no_known_key'

/** A reader may believe the text only if `fault` is undefined. */
export type OpenedNote =
  | {
      readonly fault: undefined
      /** Ends with a line feed. */
      readonly text: string
      /** One for each key that signed. */
      readonly by: readonly NoteSignature[]
    }
  | { readonly fault: NoteFault }

interface SignatureLine {
  readonly name: string
  readonly id: string
  readonly signature: Uint8Array
}

const dash = '\u2014'

function readLine(line: string): SignatureLine | undefined {
  const [mark, name = '', encoded = '', ...more] = line.split(' ')
  const bytes = bytesOfBase64(encoded)
  if (mark !== dash || !isKeyName(name) || more.length > 0) return undefined
  if (bytes === undefined || bytes.length <= keyIdBytes) return undefined
  const id = hexOf(bytes.subarray(0, keyIdBytes))
  return { name, id, signature: bytes.subarray(keyIdBytes) }
}

/** Splits a note at its last blank line; returns undefined if it is malformed. */
function splitNote(note: string) {
  if (note.length > noteCharsMax || !isPlain(note) || !note.endsWith('\n')) return undefined
  const blank = note.lastIndexOf('\n\n')
  if (blank < 0) return undefined
  const lines = note.slice(blank + 2, -1).split('\n')
  if (lines.length > noteSignaturesMax) return undefined
  const signatures = lines.map(readLine)
  if (!signatures.every(each => each !== undefined)) return undefined
  return { text: note.slice(0, blank + 1), signatures }
}

const cosignedText = (text: string, atSeconds: bigint): string =>
  `cosignature/v1\ntime ${atSeconds}\n${text}`

const timeBytes = 8

/** Returns undefined if the signature is not the key's over the text. */
function checkSignature(
  key: NoteKey,
  text: string,
  signature: Uint8Array,
): NoteSignature | undefined {
  const holds = signatureCheckOf(key.publicKey)
  if (key.kind === 'log') {
    return holds(utf8(text), signature) ? { key, atSeconds: undefined } : undefined
  }
  if (signature.length !== timeBytes + signatureBytes) return undefined
  const time = bufferOf(signature).readBigUInt64BE(0)
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  const isHeld = holds(utf8(cosignedText(text, time)), signature.subarray(timeBytes))
  return isHeld ? { key, atSeconds: Number(time) } : undefined
}

/**
 * Opens a note. Signatures by other keys are ignored; one wrong signature by a known key makes the
 * whole note wrong.
 * @param note decoded from UTF-8 strictly, so that no byte was replaced
 */
export function openNote(note: string, keys: readonly NoteKey[]): OpenedNote {
  const parts = splitNote(note)
  if (parts === undefined) return { fault: 'malformed' }
  const by = new Map<NoteKey, NoteSignature>()
  for (const { name, id, signature } of parts.signatures) {
    const known = keys.filter(key => key.name === name && key.id === id)
    const held = known.flatMap(key => checkSignature(key, parts.text, signature) ?? [])
    if (known.length > 0 && held.length === 0) return { fault: 'wrong_signature' }
    for (const each of held) by.set(each.key, each)
  }
  if (by.size === 0) return { fault: 'no_known_key' }
  return { fault: undefined, text: parts.text, by: [...by.values()] }
}

const signatureLine = (key: NoteKey, signature: Uint8Array): string =>
  `${dash} ${key.name} ${printSignature(key, signature)}\n`

function logLine(text: string, { key, sign }: NoteSigner): string {
  invariant(key.kind === 'log', 'a witness signs with the time')
  return signatureLine(key, sign(utf8(text)))
}

/** Returns the note that keys of a log sign. @param text ends with a line feed */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  invariant(text.endsWith('\n') && isPlain(text), 'a note has whole lines of plain text')
  return `${text}\n${signers.map(signer => logLine(text, signer)).join('')}`
}

/** Returns a note with one more signature. */
export const addSignature = (note: string, signer: NoteSigner): string =>
  note + logLine(note.slice(0, note.lastIndexOf('\n\n') + 1), signer)

/**
 * Returns the line by which a witness states that it has checked a checkpoint; it is added at the
 * end of the note.
 * @param text of the note
 */
export function cosignatureLine(
  text: string,
  { key, sign }: NoteSigner,
  atSeconds: number,
): string {
  invariant(key.kind === 'witness', 'a log signs without a time')
  const time = BigInt(atSeconds)
  const stamp = Buffer.alloc(timeBytes)
  stamp.writeBigUInt64BE(time)
  const signature = sign(utf8(cosignedText(text, time)))
  return signatureLine(key, Buffer.concat([stamp, signature]))
}
