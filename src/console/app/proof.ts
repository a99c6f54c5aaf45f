/**
 * Proofs of the audit log, verified by this browser: the hash of the entry, its way up the tree,
 * and the signature on the root. Nothing of it is asked of the vault.
 *
 * Source: RFC 9162 section 2.1.3.2; C2SP signed-note and tlog-checkpoint; the leaf is
 * SHA-256(0x00 ‖ salt ‖ entry).
 * @module
 */
import type { LogProof } from '../../client/interface.ts'

export type Verdict =
  | { readonly holds: true; readonly size: number }
  | { readonly holds: false; readonly reason: string }

const no = (reason: string): Verdict => ({ holds: false, reason })

type Bytes = Uint8Array<ArrayBuffer>

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

const joined = (...parts: readonly Bytes[]): Bytes =>
  Uint8Array.from(parts.flatMap(part => [...part]))

const sha256 = async (...parts: readonly Bytes[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', joined(...parts)))

const hexOf = (bytes: Bytes): string =>
  [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')

const bytesOfHex = (text: string): Bytes =>
  Uint8Array.from(text.match(/../g) ?? [], pair => Number.parseInt(pair, 16))

/** @throws DOMException for anything but base64 */
const bytesOfBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), character => character.charCodeAt(0))

const areEqual = (a: Bytes, b: Bytes): boolean => hexOf(a) === hexOf(b)

interface LogKey {
  readonly name: string
  readonly id: string
  readonly bytes: Bytes
}

const ed25519 = Uint8Array.of(0x01)
const idBytes = 4

/** @returns nothing if the id does not follow from name and key */
async function readKey(text: string): Promise<LogKey | undefined> {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
  const tagged = bytesOfBase64(encoded)
  const found = hexOf((await sha256(utf8(`${name}\n`), tagged)).slice(0, idBytes))
  const isKnown = tagged[0] === ed25519[0] && tagged.length === 33 && found === id
  return isKnown ? { name, id, bytes: tagged.slice(1) } : undefined
}

/** Text that a key has signed, if it has. */
async function openNote(note: string, key: LogKey): Promise<string | undefined> {
  const blank = note.lastIndexOf('\n\n')
  const text = note.slice(0, blank + 1)
  const public_ = await crypto.subtle.importKey('raw', key.bytes, 'Ed25519', false, ['verify'])
  for (const line of note.slice(blank + 2).split('\n')) {
    const [mark, name, encoded = ''] = line.split(' ')
    if (mark !== '\u2014' || name !== key.name) continue
    const bytes = bytesOfBase64(encoded)
    if (hexOf(bytes.slice(0, idBytes)) !== key.id) continue
    const isSigned = await crypto.subtle.verify(
      'Ed25519',
      public_,
      bytes.slice(idBytes),
      utf8(text),
    )
    return isSigned ? text : undefined
  }
  return undefined
}

/** Goes up from a leaf. @returns nothing if the way is too short or too long */
async function rootBy(
  leaf: Bytes,
  index: number,
  size: number,
  proof: readonly Bytes[],
): Promise<Bytes | undefined> {
  const node = Uint8Array.of(0x01)
  // Numbers beyond 32 bits: no shifts.
  let [at, last, hash] = [index, size - 1, leaf]
  for (const sibling of proof) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      hash = await sha256(node, sibling, hash)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else hash = await sha256(node, hash, sibling)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? hash : undefined
}

async function judge(proof: LogProof, keyText: string): Promise<Verdict> {
  const key = await readKey(keyText)
  if (key === undefined) return no('The key of the log is malformed.')
  const text = await openNote(proof.note, key)
  if (text === undefined) return no('The checkpoint is not signed by the key of the log.')
  const [origin, sizeText, root = ''] = text.split('\n')
  if (origin !== key.name) return no('The checkpoint is of another log.')
  const size = Number(sizeText)
  if (size !== proof.size || !(proof.sequence < size)) {
    return no('The checkpoint does not cover the entry.')
  }
  const leaf = await sha256(Uint8Array.of(0x00), bytesOfHex(proof.salt), utf8(proof.entry))
  const found = await rootBy(leaf, proof.sequence, size, proof.proof.map(bytesOfBase64))
  const isIn = found !== undefined && areEqual(found, bytesOfBase64(root))
  return isIn ? { holds: true, size } : no('The entry is not in the tree that was signed.')
}

/** @param keyText the verifier key that is trusted */
export async function verifyProof(proof: LogProof, keyText: string): Promise<Verdict> {
  if (globalThis.crypto?.subtle === undefined) {
    return no('This browser hashes nothing on a page without TLS: open the console by https.')
  }
  try {
    return await judge(proof, keyText)
  } catch {
    return no('The proof is malformed, or this browser has no Ed25519.')
  }
}
