/**
 * Work of a serving process beside requests: removes expired rows from the disk, overwrites the
 * remains of code keys in free space, writes the days on which API keys were used, signs the audit
 * log, and delivers events.
 * @module
 */
import { makeCheckpoints, type SignedCheckpoint } from '../audit/checkpoints.ts'
import { makePruner } from '../audit/retention.ts'
import { indexNext } from '../audit/search-index.ts'
import type { SigningPlace } from '../audit/signing-keys.ts'
import type { Deps } from '../deps.ts'
import { singleFlight } from '../lib/serial.ts'
import { sweep } from './sweep.ts'
import { makeExpiryEntries } from './sweep-entries.ts'
import {
  checkpointEveryMs,
  checkpointTellMs,
  indexEveryMs,
  codeKeysLeftMax,
  codeKeysScrubMs,
  codeKeysScrubRest,
  deliverEveryMs,
  keyUsesWriteMs,
  ownOrdinal,
  pruneEveryMs,
  sweepIntervalMs,
} from '../limits/work-limits.ts'
import type { Send } from '../egress/send.ts'
import type { Row } from '../store/contract.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { OperatedStore, StoreFigures } from '../store/operated.ts'
import { sealedCodeKeyOf } from '../tokens/code-key.ts'
import { makeDeliverer, type Deliverer } from '../webhooks/couriers.ts'
import { systemSend } from '../webhooks/system-send.ts'

/**
 * Runs a task at once and then every interval, never twice at a time. A failure is logged, and the
 * task runs again.
 * @param failed event of the log
 * @returns a function that stops it
 */
function repeat(
  task: () => Promise<unknown>,
  everyMs: number,
  failed: string,
  { log }: Pick<Deps, 'log'>,
): () => void {
  let stopped = false
  const run = singleFlight(async () => {
    try {
      await task()
    } catch {
      // A task under way ends because its store was closed.
      if (!stopped) log(failed)
    }
  })
  void run()
  const timer = setInterval(() => void run(), everyMs)
  return () => {
    stopped = true
    clearInterval(timer)
  }
}

type Scrub = OperatedStore['scrub']
type Figures = () => MaybeLater<Pick<StoreFigures, 'logBytes'>>

export interface AuditUpkeep {
  /** Place of the keys that sign. */
  readonly place: SigningPlace
  readonly figures: Figures
  readonly isSigner?: (() => boolean) | undefined
  /** Called with each checkpoint that has landed; keeps some of them elsewhere. */
  readonly offer?: ((checkpoint: SignedCheckpoint) => void) | undefined
}

interface CodeKeyScrubber {
  /** Called with each row that was removed. */
  readonly hear: (row: Row) => void
  readonly run: () => Promise<void>
}

/**
 * Overwrites keys of codes that were removed: the engine leaves their bytes in free space of its
 * file, from which a holder of the master key and the disk could open every code.
 *
 * decision: a look reads the whole file, so it takes at most a small part of the time and comes
 * later in a large file. The list is in memory alone: a process that is killed leaves the bytes to
 * later writes and to `coffer compact`.
 */
export function makeCodeKeyScrubber(
  { elapsedMs }: Pick<Deps, 'elapsedMs'>,
  scrub: Scrub,
): CodeKeyScrubber {
  let left: Uint8Array[] = []
  let nextMs = elapsedMs() + codeKeysScrubMs
  return {
    hear(row) {
      const sealed = sealedCodeKeyOf(row)
      if (sealed !== undefined && left.length < codeKeysLeftMax) left.push(sealed)
    },
    async run() {
      const startMs = elapsedMs()
      if (left.length === 0 || startMs < nextMs) return
      const sealed = [...left]
      try {
        const found = await scrub(sealed)
        // A reader of an older state can hold bytes back; only a look that finds none is proof.
        if (found === undefined || found === 0) left = left.slice(sealed.length)
      } finally {
        nextMs =
          elapsedMs() + Math.max(codeKeysScrubMs, codeKeysScrubRest * (elapsedMs() - startMs))
      }
    },
  }
}

/**
 * Starts the sweep. If another process sweeps, the clock is still read as often, so that rows long
 * expired by the wall clock are hidden by every process.
 * @param isSweeper true in one of the processes that share a store
 * @param scrub of the store; absent if nothing has to be overwritten
 * @returns a function that stops it
 */
export function startSweeping(
  deps: Deps,
  isSweeper: () => boolean = () => true,
  scrub?: Scrub,
): () => void {
  const scrubber = scrub && makeCodeKeyScrubber(deps, scrub)
  const entriesOf = makeExpiryEntries(deps)
  const sweepOnce = async (): Promise<unknown> =>
    isSweeper() ? sweep(deps, scrubber?.hear, entriesOf) : deps.now()
  const stopSweeping = repeat(sweepOnce, sweepIntervalMs, 'sweep_failed', deps)
  // On its own: a look through a large file may take longer than due rows may stay.
  const stopScrubbing = scrubber && repeat(scrubber.run, sweepIntervalMs, 'sweep_failed', deps)
  return () => {
    stopSweeping()
    stopScrubbing?.()
  }
}

/** Removes old entries of the log, in steps between which others may write. */
function makePruneAll(deps: Deps, figures: Figures, signed: () => number): () => Promise<void> {
  const { auditDays: keptDays, auditBytesMax = Number.POSITIVE_INFINITY } = deps.settings
  const prune = makePruner({ ...deps, keptDays })
  return async () => {
    for (;;) {
      const { logBytes } = await figures()
      if ((await prune(signed(), logBytes > auditBytesMax)) === 0) break
      await deps.turns.next(ownOrdinal)
    }
  }
}

interface AuditUpkeepEnd {
  /** Stops what runs at intervals. */
  readonly stop: () => void
  /** Signs what has landed; for the end, so that nothing stays unsigned. It never rejects. */
  readonly signLast: () => Promise<void>
}

/**
 * Signs and indexes what lands in the audit log, and removes what is old, in one of the processes
 * that share a store.
 * @param isSigner true in that one
 */
export function startAuditUpkeep(
  deps: Deps,
  { place, figures, isSigner = () => true, offer }: AuditUpkeep,
): AuditUpkeepEnd {
  const checkpoints = makeCheckpoints({ ...deps, place })
  let toldMs = deps.elapsedMs()
  const pruneAll = makePruneAll(deps, figures, checkpoints.signed)
  const prune = async (): Promise<void> => {
    if (isSigner()) await pruneAll()
  }
  const signNext = singleFlight(async () => {
    if (!isSigner()) checkpoints.leave()
    const signed = isSigner() ? await checkpoints.next() : undefined
    if (signed !== undefined) offer?.(signed)
    if (signed === undefined || deps.elapsedMs() - toldMs < checkpointTellMs) return
    toldMs = deps.elapsedMs()
    deps.log('audit_checkpoint', { note: signed.note })
  })
  const index = async (): Promise<void> => {
    while (isSigner() && (await indexNext(deps)));
  }
  const stopIndexing = repeat(index, indexEveryMs, 'audit_not_indexed', deps)
  const stopSigning = repeat(signNext, checkpointEveryMs, 'audit_not_signed', deps)
  const stopPruning = repeat(prune, pruneEveryMs, 'audit_not_pruned', deps)
  return {
    stop() {
      stopSigning()
      stopIndexing()
      stopPruning()
    },
    async signLast() {
      await signNext.running()?.catch(() => {})
      await signNext().catch(() => {})
    },
  }
}

/**
 * Delivers events to webhooks, in one of the processes that share a store.
 * @param isDeliverer true in that one
 * @param send by default to public addresses, and to those that the operator allows
 * @returns `end`, which resolves when what was delivered is written down
 */
export function startDelivering(
  deps: Deps,
  isDeliverer: () => boolean = () => true,
  send: Send = systemSend(deps),
): Pick<Deliverer, 'end' | 'figures'> {
  const deliverer = makeDeliverer(deps, send, isDeliverer)
  const stop = repeat(deliverer.tick, deliverEveryMs, 'webhooks_not_served', deps)
  return {
    end() {
      stop()
      return deliverer.end()
    },
    figures: deliverer.figures,
  }
}

/**
 * @param write writes the keys that were used in this process
 * @returns a function that stops it
 */
export const startWritingKeyUses = (deps: Deps, write: () => Promise<void>): (() => void) =>
  repeat(write, keyUsesWriteMs, 'key_uses_not_written', deps)
