/**
 * Requests for a witness to cosign a checkpoint: the size that it has seen, the proof that the
 * checkpoint continues it, and the note. Source: C2SP tlog-witness, "add-checkpoint".
 * @module
 */
import { witnessProofHashesMax } from '../limits/operation-limits.ts'
import { hashBytes, isTreeSize } from './merkle-tree.ts'
import { bytesOfBase64 } from './note-keys.ts'

/** Media type of the answer that tells which size a witness has seen. */
export const seenSizeType = 'text/x.tlog.size'

export interface WitnessRequest {
  /** Size of the newest checkpoint that the witness has cosigned; 0 if there is none. */
  readonly seen: number
  /** As `proveConsistency` returns it. */
  readonly proof: readonly Uint8Array[]
  readonly note: string
}

export function printWitnessRequest({ seen, proof, note }: WitnessRequest): string {
  return [`old ${seen}`, ...proof.map(hash => hash.toBase64()), '', note].join('\n')
}

/** @returns undefined for a text of another form */
export function readWitnessRequest(text: string): WitnessRequest | undefined {
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\n')
  const digits = /^old (0|[1-9][0-9]{0,15})$/.exec(first)?.[1]
  const seen = Number(digits)
  if (digits === undefined || !isTreeSize(seen)) return undefined
  if (lines.length > witnessProofHashesMax) return undefined
  const proof = lines.map(bytesOfBase64)
  const areHashes = proof.every(hash => hash?.length === hashBytes)
  return areHashes
    ? { seen, proof: proof.filter(hash => hash !== undefined), note: text.slice(end + 2) }
    : undefined
}

/** @returns the size that a witness says it has seen, undefined for a text of another form */
export function readSeenSize(text: string): number | undefined {
  const digits = /^(0|[1-9][0-9]{0,15})\n$/.exec(text)?.[1]
  return digits !== undefined && isTreeSize(Number(digits)) ? Number(digits) : undefined
}
