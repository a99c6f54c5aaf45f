/**
 * Turns of long work: pieces of it hold the event loop one at a time, however many works there are,
 * and let others in between.
 *
 * Nobody waits for long work as for a short request. So where short requests come while a piece
 * runs, the next one begins later, by a multiple of what that one took: of all who ask meanwhile,
 * few meet a piece. Where nobody comes, long work goes on at once.
 * Source: contract section 16 (`decision:`).
 * @module
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { restPerTurn, restMsMax, restMsMin } from './limits.ts'

export interface Turns {
  /** A request has come, which is one more to be let in. */
  readonly noteRequest: () => void
  /** Resolves when one more piece may be worked on, in the order of those who ask. */
  readonly next: () => Promise<void>
}

export function openTurns(elapsedMs: () => number): Turns {
  const waiting: (() => void)[] = []
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

  async function giveTurns(): Promise<void> {
    isGivingTurns = true
    for (let begin = waiting.shift(); begin !== undefined; begin = waiting.shift()) {
      await giveTurn(begin)
    }
    isGivingTurns = false
  }

  return {
    noteRequest() {
      requests += 1
    },
    next: () =>
      new Promise(resolve => {
        waiting.push(resolve)
        if (!isGivingTurns) void giveTurns()
      }),
  }
}
