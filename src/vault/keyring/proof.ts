/**
 * Proofs to a serving process that a command has the master key. They hand over nothing that could
 * open or reveal anything a second time.
 *
 * A proof is a keyed digest of the request and of two random numbers, one from each side. The
 * answer is sealed under another such digest: a program that replaced the server's socket and
 * relays between the two can neither read a new API key nor forge an answer. Source:
 * docs/decisions.md, "Keys".
 * @module
 */
import { timingSafeEqual } from 'node:crypto'
import { utf8, writeU32 } from '../../lib/bytes.ts'
import { keyBytes, nonceBytes, primitives } from '../../crypto/primitives.ts'

/** Random bytes drawn by each side. */
export const proofNonceBytes = 32

/** A request that is proven, once. */
export interface ProvenRequest {
  /** 32 bytes that the server drew for one request. */
  readonly challenge: Uint8Array
  /** 32 bytes that the command drew. */
  readonly nonce: Uint8Array
  /** Name of the operation. */
  readonly name: string
  /** Input of the operation, as it is sent. */
  readonly body: Uint8Array
}

/** Unambiguous: each part but the last has a fixed length or stands after its length. */
function digestOf(secret: Uint8Array, purpose: 'proof' | 'answer', asked: ProvenRequest) {
  const name = utf8(asked.name)
  const length = new Uint8Array(4)
  writeU32(length, 0, name.length)
  const label = utf8(`coffer/1/control-${purpose}`)
  const input = Buffer.concat([label, asked.challenge, asked.nonce, length, name, asked.body])
  return primitives.keyedHash(secret, input, new Uint8Array(keyBytes))
}

const isOfLength = ({ challenge, nonce }: ProvenRequest): boolean =>
  challenge.length === proofNonceBytes && nonce.length === proofNonceBytes

/** @param secret from `proofSecretOf` for the master key */
export const proofOf = (secret: Uint8Array, asked: ProvenRequest): Uint8Array =>
  digestOf(secret, 'proof', asked)

/** Takes the same time wherever the proofs differ. */
export function isProof(secret: Uint8Array, asked: ProvenRequest, proof: Uint8Array): boolean {
  const right = proofOf(secret, asked)
  return isOfLength(asked) && proof.length === right.length && timingSafeEqual(proof, right)
}

/** The key serves this request alone, so any nonce is safe. */
const onceOnly = new Uint8Array(nonceBytes)

export const sealAnswer = (secret: Uint8Array, asked: ProvenRequest, answer: Uint8Array) =>
  primitives.encrypt(digestOf(secret, 'answer', asked), onceOnly, answer)

/** @returns `undefined` if it was not sealed for this request with the same master key */
export const openAnswer = (secret: Uint8Array, asked: ProvenRequest, sealed: Uint8Array) =>
  primitives.decrypt(digestOf(secret, 'answer', asked), onceOnly, sealed)
