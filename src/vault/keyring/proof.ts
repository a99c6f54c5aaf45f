/**
 * How a command shows a serving process that it has the master key, without handing over anything
 * that opens or shows anything a second time.
 *
 * A proof is a keyed digest of what is asked for and of two random numbers, one of each side. The
 * answer is sealed under another such digest: a program that sits between the two, on a socket that
 * it put in the place of the server's, reads no new API key in it and makes up no answer.
 * Source: docs/decisions.md, "Keys".
 * @module
 */
import { timingSafeEqual } from 'node:crypto'
import { utf8, writeU32 } from '../../lib/bytes.ts'
import { keyBytes, nonceBytes, primitives } from '../../crypto/primitives.ts'

/** Random bytes of each side. */
export const proofNonceBytes = 32

/** What is asked for, once. */
export interface ProvenRequest {
  /** 32 bytes that the server drew for one request. */
  readonly challenge: Uint8Array
  /** 32 bytes that the command drew. */
  readonly nonce: Uint8Array
  /** Of the operation. */
  readonly name: string
  /** Its input, as it is sent. */
  readonly body: Uint8Array
}

/** No two requests give one input: each part but the last has a length that is fixed or told. */
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

/** @param secret what `proofSecretOf` gives for the master key */
export const proofOf = (secret: Uint8Array, asked: ProvenRequest): Uint8Array =>
  digestOf(secret, 'proof', asked)

/** Takes as long whatever differs. */
export function isProof(secret: Uint8Array, asked: ProvenRequest, proof: Uint8Array): boolean {
  const right = proofOf(secret, asked)
  return isOfLength(asked) && proof.length === right.length && timingSafeEqual(proof, right)
}

/** The key is of this request alone, so the nonce of the cipher may be any. */
const onceOnly = new Uint8Array(nonceBytes)

export const sealAnswer = (secret: Uint8Array, asked: ProvenRequest, answer: Uint8Array) =>
  primitives.encrypt(digestOf(secret, 'answer', asked), onceOnly, answer)

/** @returns `undefined` for what was not sealed for this request with the same master key */
export const openAnswer = (secret: Uint8Array, asked: ProvenRequest, sealed: Uint8Array) =>
  primitives.decrypt(digestOf(secret, 'answer', asked), onceOnly, sealed)
