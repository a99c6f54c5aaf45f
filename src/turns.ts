/**
 * Turns of long work: pieces of it hold the event loop one at a time, however many works there are,
 * and let others in between.
 *
 * Nobody waits for long work as for a short request. So where short requests come while a piece
 * runs, the next one begins later, by a multiple of what that one took: of all who ask meanwhile,
 * few meet a piece. Where nobody comes, long work goes on at once. Credentials have turns: nobody
 * waits for more than one piece of each other one, however much work that has brought.
 * Source: contract section 16 (`decision:`).
 * @module
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { openFairQueue } from './fair-queue.ts'
import { restPerTurn, restMsMax, restMsMin } from './limits.ts'

export interface Turns {
  /** A request has come, which is one more to be let in. */
  readonly noteRequest: () => void
  /** Resolves when one more piece of work for the credential at that ordinal may begin. */
  readonly next: (ordinal: number) => Promise<void>
  /** Whether a piece of work for that credential waits for its turn. */
  readonly isWaiting: (ordinal: number) => boolean
}

export function openTurns(elapsedMs: () => number): Turns {
  const waiting = openFairQueue<() => void>()
  let requests = 0
  let isGivingTurns = false

  /** @returns once the piece has ended, and what had come meanwhile was let in */
  async function giveTurn(begin: () => void): Promise<void> {
    const requestsBefore = requests
    const startMs = elapsedMs()
    begin()
    await setImmediate()
    if (requests === requestsBefore) return
    const restMs = restPerTurn * (elapsedMs() - startMs)
    await setTimeout(Math.min(Math.max(restMs, restMsMin), restMsMax))
  }

  function takeNext(): (() => void) | undefined {
    for (const [ordinal] of waiting.heads()) return waiting.take(ordinal)
    return undefined
  }

  async function giveTurns(): Promise<void> {
    isGivingTurns = true
    for (let begin = takeNext(); begin !== undefined; begin = takeNext()) await giveTurn(begin)
    isGivingTurns = false
  }

  return {
    noteRequest() {
      requests += 1
    },
    isWaiting: waiting.has,
    next: ordinal =>
      new Promise(resolve => {
        waiting.add(ordinal, resolve)
        if (!isGivingTurns) void giveTurns()
      }),
  }
}
