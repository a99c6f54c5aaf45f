/**
 * Long work: how much a request may evaluate, and when others have their turn.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { bulkTurnMsMax, requestStepsMax, turnStepsMax } from '../../limits.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import type { Meter } from '../../language/expression/run.ts'

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
 * Whoever writes expressions and masks decides how much work they are, so they are counted for all
 * of a request, and go on in the turns that all long work takes one at a time (`waiting.ts`). Work
 * that takes long for another reason lets others in by time.
 */

export interface Work {
  readonly meter: Meter
  /**
   * To call before the first piece and between two of them; what it gives, if anything, is to be
   * awaited.
   */
  readonly pause: () => Promise<void> | undefined
}

type Paced = Pick<Deps, 'elapsedMs' | 'turns'>

/** @param stepsMax  what is beyond is refused; infinite where the request did not bring the work */
export function makeWork(
  { elapsedMs, turns }: Paced,
  { credential }: Pick<Caller, 'credential'>,
  stepsMax: number = requestStepsMax,
): Work {
  const meter: Meter = { stepsSpent: 0, stepsMax }
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
