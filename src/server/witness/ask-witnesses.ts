/**
 * Has witnesses cosign the checkpoints of this vault, so that an older state of it cannot be shown
 * to anybody who asks them. Source: C2SP tlog-witness, "add-checkpoint".
 * @module
 */
import type { SignedCheckpoint } from '../../audit/checkpoints.ts'
import { parseVerifierKey, type NoteKey } from '../../audit/note-keys.ts'
import { proveConsistency } from '../../audit/proofs.ts'
import { hashesOf } from '../../audit/prove.ts'
import { addSignature, openNote } from '../../audit/signed-note.ts'
import { witnessedSignerOf } from '../../audit/signing-keys.ts'
import { printWitnessRequest, readSeenSize } from '../../audit/witness-request.ts'
import type { Deps } from '../../deps.ts'
import { parseDestination, type Destination } from '../../egress/destination.ts'
import type { Send, Sent } from '../../egress/send.ts'
import { bufferOf, utf8 } from '../../lib/bytes.ts'
import { witnessEveryMs } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'

export interface KnownWitness {
  readonly key: NoteKey
  readonly destination: Destination
}

/** Result of asking a witness: `diverged` if it has cosigned what this log does not continue. */
type WitnessOutcome = 'cosigned' | 'diverged' | 'refused' | 'failed'

/**
 * @param text a verifier key, an @ and an address
 * @throws CommandFailure that says what was expected
 */
export function readWitness(text: string): KnownWitness {
  const at = text.indexOf('@https://')
  const key = parseVerifierKey(text.slice(0, Math.max(at, 0)))
  if (typeof key === 'string') throw new CommandFailure(`--audit-witnesses: ${key}`)
  if (key.kind !== 'witness') {
    throw new CommandFailure('--audit-witnesses: expected the key of a witness, not of a log')
  }
  const destination = parseDestination(`${text.slice(at + 1).replace(/\/$/, '')}/add-checkpoint`)
  if ('failure' in destination) {
    throw new CommandFailure(`--audit-witnesses: expected ${destination.expected}`)
  }
  return { key, destination }
}

export interface WitnessedLog {
  /** Has a checkpoint cosigned, unless one is under way or was less than `witnessEveryMs` ago. */
  readonly offer: (checkpoint: SignedCheckpoint) => void
  /** Returns the numbers of this process. */
  readonly counts: () => Readonly<Record<WitnessOutcome, number>>
}

type AskDeps = Pick<Deps, 'store' | 'keys' | 'elapsedMs' | 'log'>

/** Has the signature of the key that witnesses know, beside that of the day. */
const noteFor = ({ keys }: AskDeps, { origin, note }: SignedCheckpoint): string =>
  addSignature(note, witnessedSignerOf(keys, origin))

async function requestOf(deps: AskDeps, checkpoint: SignedCheckpoint, seen: number) {
  const proof = await proveConsistency(await hashesOf(deps.store), seen, checkpoint.size)
  return printWitnessRequest({ seen, proof, note: noteFor(deps, checkpoint) })
}

const textOf = (sent: Sent): string =>
  'failure' in sent ? '' : bufferOf(sent.body).toString('utf8')

/** Makes a function that asks one witness. It remembers the size that this one has seen. */
function makeAsk(deps: AskDeps, send: Send, { key, destination }: KnownWitness) {
  let seen = 0

  const post = async (checkpoint: SignedCheckpoint): Promise<Sent> => {
    const body = Uint8Array.from(utf8(await requestOf(deps, checkpoint, seen)))
    return send({ destination, headers: { 'content-type': 'text/plain' }, body })
  }

  return async (checkpoint: SignedCheckpoint): Promise<WitnessOutcome> => {
    let sent = await post(checkpoint)
    if ('status' in sent && sent.status === 409) {
      const told = readSeenSize(textOf(sent))
      if (told === undefined) return 'refused'
      if (told > checkpoint.size) return 'diverged'
      seen = told
      sent = await post(checkpoint)
    }
    if ('failure' in sent) return 'failed'
    // Put back and grown again, a log has the size for it, and no proof; or the very size, and
    // another root.
    const isOtherRoot = sent.status === 409 && seen === checkpoint.size
    if (sent.status === 422 || isOtherRoot) return 'diverged'
    const opened = openNote(noteFor(deps, checkpoint) + textOf(sent), [key])
    if (sent.status !== 200 || opened.fault !== undefined) return 'refused'
    seen = checkpoint.size
    return 'cosigned'
  }
}

const events: Readonly<Record<WitnessOutcome, string>> = {
  cosigned: 'audit_cosigned',
  diverged: 'audit_diverged',
  refused: 'audit_not_cosigned',
  failed: 'audit_not_cosigned',
}

/** Outcomes are counted, and logged when they change; none of them stops anything. */
export function makeWitnessedLog(
  deps: AskDeps,
  send: Send,
  witnesses: readonly KnownWitness[],
): WitnessedLog {
  const { elapsedMs, log } = deps
  const counts = { cosigned: 0, diverged: 0, refused: 0, failed: 0 }
  const asked = witnesses.map(witness => ({
    name: witness.key.name,
    ask: makeAsk(deps, send, witness),
    last: 'cosigned' as WitnessOutcome,
  }))
  let sentMs = Number.NEGATIVE_INFINITY
  let isUnderWay = false

  const askAll = (checkpoint: SignedCheckpoint): Promise<unknown> =>
    Promise.all(
      asked.map(async witness => {
        const outcome = await witness.ask(checkpoint).catch(() => 'failed' as const)
        counts[outcome] += 1
        if (outcome !== witness.last) log(events[outcome], { witness: witness.name, outcome })
        witness.last = outcome
      }),
    )

  return {
    counts: () => ({ ...counts }),
    offer(checkpoint) {
      if (isUnderWay || elapsedMs() - sentMs < witnessEveryMs) return
      isUnderWay = true
      sentMs = elapsedMs()
      void askAll(checkpoint).finally(() => (isUnderWay = false))
    },
  }
}
