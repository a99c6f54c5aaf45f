/**
 * Long work: what one request may evaluate, and the turns in which all such work goes on, so that
 * it keeps no short request waiting.
 * @module
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { requestStepsMax } from '../limits/limits.ts'
import {
  bulkTurnMsMax,
  restPerTurn,
  restMsMax,
  restMsMin,
  turnStepsMax,
} from '../limits/work-limits.ts'
import { makeFairQueue } from './fair-queue.ts'

/*
 * Turns of long work: pieces of it hold the event loop one at a time, however many works there are,
 * and let others in between.
 *
 * Nobody waits for long work as for a short request. So where short requests come while a piece
 * runs, the next one begins later, by a multiple of what that one took: of all who ask meanwhile,
 * few meet a piece. Where nobody comes, long work goes on at once. Credentials have turns: nobody
 * waits for more than one piece of each other one, however much work that has brought.
 * Source: contract section 16 (`decision:`).
 */

export interface Scheduler {
  /** A request has come, which is one more to be let in. */
  readonly noteRequest: () => void
  /** How many have come so far. */
  readonly requests: () => number
  /** Resolves when one more piece of work for the credential at that ordinal may begin. */
  readonly next: (ordinal: number) => Promise<void>
  /** Whether a piece of work for that credential waits for its turn. */
  readonly isWaiting: (ordinal: number) => boolean
}

export function makeScheduler(elapsedMs: () => number): Scheduler {
  const waiting = makeFairQueue<() => void>()
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
    requests: () => requests,
    isWaiting: waiting.has,
    next: ordinal =>
      new Promise(resolve => {
        waiting.add(ordinal, resolve)
        if (!isGivingTurns) void giveTurns()
      }),
  }
}

/*
 * Pauses of long work: one bulk request must not keep all others waiting.
 */

/**
 * @returns a function to call between two pieces of work; what it gives, if anything, is to be
 *   awaited: then it is time to let others in
 */
export function pauses(elapsedMs: () => number): () => Promise<void> | undefined {
  let sinceMs = elapsedMs()
  const letOthersIn = async (): Promise<void> => {
    await setImmediate()
    sinceMs = elapsedMs()
  }
  return () => (elapsedMs() - sinceMs < bulkTurnMsMax ? undefined : letOthersIn())
}

/*
 * The work of one request: what it may still evaluate, and when others have their turn.
 *
 * The writer of expressions and masks decides how much work they are, so they are counted for all
 * of a request, and go on in the turns that all long work takes one at a time (`Scheduler`). Work
 * that takes long for another reason lets others in by time.
 */

/** Counts the steps of all evaluations of one request. */
export interface StepMeter {
  stepsSpent: number
  readonly stepsMax: number
}

export interface PacedWork {
  readonly meter: StepMeter
  /**
   * To call before the first piece and between two of them; what it gives, if anything, is to be
   * awaited.
   */
  readonly pause: () => Promise<void> | undefined
}

interface Paced {
  readonly elapsedMs: () => number
  readonly turns: Scheduler
}

/** The credential that works, as the store knows it. */
interface Worker {
  readonly credential: { readonly ordinal: number }
}

/** @param stepsMax  what is beyond is refused; infinite where the request did not bring the work */
export function makeWork(
  { elapsedMs, turns }: Paced,
  { credential }: Worker,
  stepsMax: number = requestStepsMax,
): PacedWork {
  const meter: StepMeter = { stepsSpent: 0, stepsMax }
  const { ordinal } = credential
  const pause = pauses(elapsedMs)
  let turnAt = 0
  let isBegun = false
  return {
    meter,
    pause() {
      // Short requests that come by the hundred would each do their first piece at once.
      const isBehind = !isBegun && turns.isWaiting(ordinal)
      isBegun = true
      if (meter.stepsSpent - turnAt < turnStepsMax && !isBehind) return pause()
      turnAt = meter.stepsSpent
      return turns.next(ordinal)
    },
  }
}
