/**
 * Long work: bounds the evaluations of a request, and runs all such work in turns, so that it keeps
 * no short request waiting.
 * @module
 */
import { setImmediate as onLoopTurn } from 'node:timers'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { requestStepsMax } from '../limits/limits.ts'
import {
  bulkTurnMsMax,
  loopPiecesMax,
  loopWorkMsMax,
  restPerTurn,
  restMsMax,
  restMsMin,
  turnStepsMax,
} from '../limits/work-limits.ts'
import { makeTurnQueue, type TurnOwner } from './turn-queue.ts'
import type { MaybeLater } from './waiting.ts'

/*
 * Turns of long work: one piece at a time holds the event loop, however many works there are, and
 * then others run.
 *
 * Long work may wait longer than short requests. So if short requests arrive while a piece runs,
 * the next piece is delayed by a multiple of its duration: of all requests meanwhile, few meet a
 * piece. With no other requests, long work goes on at once. Tenants take turns, and in
 * each its applications and their credentials: each waits for at most one piece of every other one,
 * however much work that has brought.
 * Source: contract section 16 (`decision:`).
 */

export interface Scheduler {
  /** Notes that a request has come, which then runs before the next piece. */
  readonly noteRequest: () => void
  /** Number of requests so far. */
  readonly requests: () => number
  /** Resolves when one more piece of work for that caller may begin. */
  readonly next: (owner: TurnOwner) => Promise<void>
  /** True if a piece of work for that caller is waiting for its turn. */
  readonly isWaiting: (owner: TurnOwner) => boolean
  /**
   * For pieces of milliseconds, which hundreds of requests may bring at once.
   * @returns `undefined` if one may begin in this turn of the event loop; else it may once that
   *   resolves
   */
  readonly soon: (owner: TurnOwner) => Promise<void> | undefined
}

/**
 * Bounds the time of such pieces in one turn of the event loop. Beyond it, each turn has a few
 * of those that wait, by their owners, and whatever else has come. Nobody rests.
 */
function makeLoopShares(elapsedMs: () => number): Scheduler['soon'] {
  const waiting = makeTurnQueue<() => void>()
  let sinceMs: number | undefined

  function begin(): void {
    sinceMs = elapsedMs()
    onLoopTurn(endTurn)
  }

  function endTurn(): void {
    sinceMs = undefined
    for (let begun = 0; begun < loopPiecesMax; begun += 1) {
      const next = waiting.take()
      if (next === undefined) return
      if (begun === 0) begin()
      next()
    }
  }

  return owner => {
    if (sinceMs === undefined) return void begin()
    if (!waiting.has(owner) && elapsedMs() - sinceMs < loopWorkMsMax) return undefined
    return new Promise(resolve => waiting.add(owner, resolve))
  }
}

export function makeScheduler(elapsedMs: () => number): Scheduler {
  const waiting = makeTurnQueue<() => void>()
  let requests = 0
  let isGivingTurns = false

  /** @returns once the piece has ended, and requests that came meanwhile have run */
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
    for (let begin = waiting.take(); begin !== undefined; begin = waiting.take())
      await giveTurn(begin)
    isGivingTurns = false
  }

  return {
    noteRequest() {
      requests += 1
    },
    requests: () => requests,
    isWaiting: waiting.has,
    soon: makeLoopShares(elapsedMs),
    next: owner =>
      new Promise(resolve => {
        waiting.add(owner, resolve)
        if (!isGivingTurns) void giveTurns()
      }),
  }
}

/* Pauses of long work: one bulk request must not keep all others waiting. */

/**
 * @param turnMsMax  time after which others run
 * @param soon       waits for those that go before, if any do
 * @returns a function to call between two pieces of work; if it returns a promise, await it to let
 *   others run
 */
export function pauses(
  elapsedMs: () => number,
  turnMsMax = bulkTurnMsMax,
  soon?: () => Promise<void> | undefined,
): () => Promise<void> | undefined {
  let sinceMs = elapsedMs()
  const pause = async (): Promise<void> => {
    await setImmediate()
    await soon?.()
    sinceMs = elapsedMs()
  }
  return () => (elapsedMs() - sinceMs < turnMsMax ? undefined : pause())
}

export interface Paced {
  readonly elapsedMs: () => number
  readonly turns: Scheduler
}

/**
 * The same, for work that takes a turn of long work before its first piece and after each: nobody
 * waits for its end, and hundreds of such works would each do their first piece at once.
 */
export function turnsByTime(
  { elapsedMs, turns }: Paced,
  owner: TurnOwner,
): () => Promise<void> | undefined {
  let sinceMs = -Infinity
  const next = async (): Promise<void> => {
    await turns.next(owner)
    sinceMs = elapsedMs()
  }
  return () => (elapsedMs() - sinceMs < bulkTurnMsMax ? undefined : next())
}

/*
 * The work of one request: bounds its evaluations, and pauses it.
 *
 * The author of expressions and masks decides how much work they are, so their steps are counted
 * over the whole request, and run in the turns that all long work shares (`Scheduler`). Work that
 * is long for another reason pauses by time.
 */

/** Counts the steps of all evaluations of one request. */
export interface StepMeter {
  stepsSpent: number
  readonly stepsMax: number
}

export interface PacedWork {
  readonly meter: StepMeter
  /**
   * Call it before the first piece and between two of them; if it returns a promise, await that.
   */
  readonly pause: () => Promise<void> | undefined
}

/** @param stepsMax  beyond it, work is refused; infinite for work not caused by the request */
export function makeWork(
  { elapsedMs, turns }: Paced,
  owner: TurnOwner,
  stepsMax: number = requestStepsMax,
): PacedWork {
  const meter: StepMeter = { stepsSpent: 0, stepsMax }
  const pause = pauses(elapsedMs, bulkTurnMsMax, () => turns.soon(owner))
  let turnAt = 0
  let isBegun = false
  return {
    meter,
    pause() {
      // Otherwise hundreds of short requests would each do their first piece at once.
      const isBehind = !isBegun && turns.isWaiting(owner)
      isBegun = true
      if (meter.stepsSpent - turnAt < turnStepsMax && !isBehind) return pause()
      turnAt = meter.stepsSpent
      return turns.next(owner)
    },
  }
}

/**
 * Runs a piece of such work. If it is refused, and was long, it takes a turn as well: otherwise
 * hundreds of requests that are refused for their work would each do it at once.
 */
export async function refusedInTurn<T>({ pause }: PacedWork, run: () => MaybeLater<T>): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    await pause()
    throw thrown
  }
}
