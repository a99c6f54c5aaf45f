/**
 * Waiting: values that come at once or later, queues with turns, and time that passes.
 * @module
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { restPerTurn, restMsMax, restMsMin, turningTickMs } from './limits.ts'

/*
 * What is there at once, unless something had to be waited for: most requests wait for nothing but
 * their body and their commit, and each promise more costs about as much as an evaluated mask.
 */

export type MaybeLater<T> = T | Promise<T>

/** What follows, at once where nothing has to be waited for. */
export const andThen = <T, R>(
  value: MaybeLater<T>,
  then: (value: T) => MaybeLater<R>,
): MaybeLater<R> => (value instanceof Promise ? value.then(then) : then(value))

/** What `task` gives, or what `caught` makes of what it throws, at once or later. */
export function orElse<T, R>(
  task: () => MaybeLater<T>,
  caught: (thrown: unknown) => MaybeLater<R>,
): MaybeLater<T | R> {
  try {
    const value = task()
    return value instanceof Promise ? value.catch(caught) : value
  } catch (thrown) {
    return caught(thrown)
  }
}

/*
 * A queue in which owners have turns: one of each, however many somebody has brought.
 */

export interface FairQueue<T> {
  readonly add: (owner: number, item: T) => void
  readonly has: (owner: number) => boolean
  /** The first item of each owner, in the order of their turns. */
  readonly heads: () => Iterable<readonly [owner: number, item: T]>
  /** Removes the first item of an owner, whose next turn comes after those of all others. */
  readonly take: (owner: number) => T | undefined
}

export function makeFairQueue<T>(): FairQueue<T> {
  // In the order of turns. No list is empty.
  const lists = new Map<number, T[]>()

  return {
    add(owner, item) {
      const list = lists.get(owner)
      if (list === undefined) lists.set(owner, [item])
      else list.push(item)
    },
    has: owner => lists.has(owner),
    *heads() {
      for (const [owner, [item]] of lists) {
        if (item !== undefined) yield [owner, item] as const
      }
    },
    take(owner) {
      const list = lists.get(owner)
      const item = list?.shift()
      lists.delete(owner)
      if (list !== undefined && list.length > 0) lists.set(owner, list)
      return item
    },
  }
}

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

export interface Turns {
  /** A request has come, which is one more to be let in. */
  readonly noteRequest: () => void
  /** Resolves when one more piece of work for the credential at that ordinal may begin. */
  readonly next: (ordinal: number) => Promise<void>
  /** Whether a piece of work for that credential waits for its turn. */
  readonly isWaiting: (ordinal: number) => boolean
}

export function makeTurns(elapsedMs: () => number): Turns {
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
    isWaiting: waiting.has,
    next: ordinal =>
      new Promise(resolve => {
        waiting.add(ordinal, resolve)
        if (!isGivingTurns) void giveTurns()
      }),
  }
}

/*
 * Time in which this process could do its work: only then can it say that another one does not.
 *
 * A loop that is held, a process that was stopped, a machine that was paused: afterwards a timer is
 * long overdue, though whoever is waited for had no time either. So time is counted in ticks, each
 * of which counts for its own length at most, however long it took.
 */

/**
 * @param waitMs  a multiple of `turningTickMs`
 * @returns what calls it off
 */
export function afterTurning(waitMs: number, onPassed: () => void): () => void {
  let leftMs = waitMs
  const timer = setInterval(() => {
    leftMs -= turningTickMs
    if (leftMs > 0) return
    clearInterval(timer)
    onPassed()
  }, turningTickMs)
  return () => clearInterval(timer)
}
