/**
 * What a serving process does beside requests: expired rows leave the disk, keys of codes what is
 * free in it as well, and the days on which API keys were used are written.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import { singleFlight } from '../lib/serial.ts'
import { sweep } from './expiry.ts'
import {
  codeKeysLeftMax,
  codeKeysScrubMs,
  codeKeysScrubRest,
  keyUsesWriteMs,
  sweepIntervalMs,
} from '../limits/work-limits.ts'
import type { Row } from '../store/contract.ts'
import type { OperatedStore } from '../store/operated.ts'
import { sealedCodeKeyOf } from '../tokens/code-key.ts'

/**
 * Runs a task now and then once an interval, never twice at a time; a failure is logged, and it is
 * tried again.
 * @param failed the event of the log
 * @returns stop
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
      // One under way meets a closed store, which is how it ends.
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

interface CodeKeyScrubber {
  /** Of a row that was removed. */
  readonly hear: (row: Row) => void
  readonly run: () => Promise<void>
}

/**
 * Overwrites keys of codes that were removed: the engine leaves their bytes in what is free of its
 * file, where a holder of the master key and the disk would open every code by them.
 *
 * decision: a look goes through the whole file, so it takes a small part of the time at most: in a
 * large one it is later. What is to be looked for is in memory alone, so that a process which is
 * killed leaves it to later writes and to `coffer compact`.
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
        // A reader of an older state keeps it from that, and a look that found none is the proof.
        if (found === undefined || found === 0) left = left.slice(sealed.length)
      } finally {
        nextMs =
          elapsedMs() + Math.max(codeKeysScrubMs, codeKeysScrubRest * (elapsedMs() - startMs))
      }
    },
  }
}

/**
 * Where another process sweeps, the clock is looked at as often: what the wall called expired for
 * so long is then hidden by all.
 * @param isSweeper of several processes that share a store, one is
 * @param scrub of the store; absent where nothing is to be overwritten
 * @returns stop
 */
export function startSweeping(
  deps: Deps,
  isSweeper: () => boolean = () => true,
  scrub?: Scrub,
): () => void {
  const scrubber = scrub && makeCodeKeyScrubber(deps, scrub)
  const sweepOnce = async (): Promise<unknown> =>
    isSweeper() ? sweep(deps, scrubber?.hear) : deps.now()
  const stopSweeping = repeat(sweepOnce, sweepIntervalMs, 'sweep_failed', deps)
  // By itself: a look through a large file may take longer than what is due may stay.
  const stopScrubbing = scrubber && repeat(scrubber.run, sweepIntervalMs, 'sweep_failed', deps)
  return () => {
    stopSweeping()
    stopScrubbing?.()
  }
}

/**
 * @param write of the keys that were used in this process
 * @returns stop
 */
export const startWritingKeyUses = (deps: Deps, write: () => Promise<void>): (() => void) =>
  repeat(write, keyUsesWriteMs, 'key_uses_not_written', deps)
