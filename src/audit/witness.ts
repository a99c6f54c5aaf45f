/**
 * A witness: it cosigns a checkpoint of a log that it knows if that continues the newest one it has
 * cosigned, so that nobody can show a log without its newest entries later. Source: C2SP
 * tlog-witness, "add-checkpoint".
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { checkpointIn, readCheckpoint } from './checkpoint.ts'
import { rootOf, emptyFrontier } from './merkle-tree.ts'
import type { NoteKey, NoteSigner } from './note-keys.ts'
import { isConsistent, type TreeHead } from './proofs.ts'
import { cosignatureLine, openNote } from './signed-note.ts'
import { seenSizeType, type WitnessRequest } from './witness-request.ts'

export interface Witness {
  readonly signer: NoteSigner
  /** Keys of the logs that it cosigns. */
  readonly logs: readonly NoteKey[]
  /** Unix milliseconds. */
  readonly wallMs: () => number
}

export interface WitnessVerdict {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422
  readonly body: string
  /** Media type, unless it is plain text. */
  readonly type?: string
  /** The name of the log, if it has signed the checkpoint. */
  readonly origin?: string
  /**
   * The note with the signature of the witness, if it has cosigned what it had not before.
   * Signatures of keys that it does not know stay: a reader of the log may know them.
   */
  readonly cosigned?: string
}

const emptyTree: TreeHead = { size: 0, root: rootOf(emptyFrontier) }

const originOf = (note: string): string => note.slice(0, note.indexOf('\n'))

/**
 * Decides about a request. The caller keeps what was cosigned before it answers, and asks for one
 * checkpoint of a log at a time.
 * @param newest of an origin: the newest note that was cosigned
 */
export function decideWitness(
  { signer, logs, wallMs }: Witness,
  request: WitnessRequest | undefined,
  newest: (origin: string) => string | undefined,
): WitnessVerdict {
  if (request === undefined) return { status: 400, body: 'expected old, proof and checkpoint\n' }
  const origin = originOf(request.note)
  const keys = logs.filter(({ name }) => name === origin)
  if (keys.length === 0) return { status: 404, body: 'this witness does not know that log\n' }
  const opened = openNote(request.note, keys)
  const checkpoint = opened.fault === undefined ? readCheckpoint(opened.text) : undefined
  if (opened.fault !== undefined) return { status: 403, body: 'no known key has signed it\n' }
  if (checkpoint === undefined || request.seen > checkpoint.size) {
    return { status: 400, body: 'expected a checkpoint of at least the old size\n' }
  }
  const known = newest(origin)
  const seen = known === undefined ? emptyTree : (checkpointIn(known) ?? emptyTree)
  const isOfSize = seen.size === checkpoint.size && request.proof.length === 0
  const isOtherRoot = isOfSize && !equalBytes(seen.root, checkpoint.root)
  if (request.seen !== seen.size || isOtherRoot) {
    return { status: 409, body: `${seen.size}\n`, type: seenSizeType, origin }
  }
  if (!isConsistent(seen, checkpoint, request.proof)) {
    return { status: 422, body: 'this does not continue what was cosigned before\n', origin }
  }
  const line = cosignatureLine(opened.text, signer, Math.floor(wallMs() / 1_000))
  // Its readers take no more signatures than this witness does.
  if (openNote(request.note + line, [signer.key]).fault !== undefined) {
    return { status: 400, body: 'expected fewer signatures\n' }
  }
  const answer = { status: 200, body: line, origin } as const
  // Anybody may send a public note again, with signatures of nobody behind its own.
  if (known !== undefined && seen.size === checkpoint.size) return answer
  return { ...answer, cosigned: request.note + line }
}
