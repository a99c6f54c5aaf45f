/**
 * Work of which a process does one piece at a time. What becomes of a call that comes meanwhile is
 * where the four differ: it waits, shares the piece under way, shares the next one, or is refused.
 * @module
 */
import type { MaybeLater } from './waiting.ts'

/** Runs tasks one after the other, in the order in which they came; each fails by itself. */
export function serial(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return task => {
    const next = last.then(task)
    last = next.catch(() => {})
    return next
  }
}

interface SingleFlight<T> {
  (): Promise<T>
  /** The run that is under way. */
  readonly running: () => Promise<T> | undefined
}

/** @returns what runs it, or shares the run that is under way */
export function singleFlight<T>(run: () => MaybeLater<T>): SingleFlight<T> {
  let running: Promise<T> | undefined
  async function runOnce(): Promise<T> {
    try {
      return await run()
    } finally {
      running = undefined
    }
  }
  return Object.assign(() => (running ??= runOnce()), { running: () => running })
}

/**
 * For a run that takes all that waits when it begins: a call gets a run that began after it, which
 * all calls share that came by then.
 */
export function nextFlight<T>(run: () => Promise<T>): () => Promise<T> {
  const inTurn = serial()
  let next: Promise<T> | undefined
  return () =>
    (next ??= inTurn(() => {
      next = undefined
      return run()
    }))
}

/**
 * @param refusal of a call that comes while a task is under way
 * @throws what it makes
 */
export function exclusive(refusal: () => Error): <T>(task: () => Promise<T>) => Promise<T> {
  let isBusy = false
  return async task => {
    if (isBusy) throw refusal()
    isBusy = true
    try {
      return await task()
    } finally {
      isBusy = false
    }
  }
}
