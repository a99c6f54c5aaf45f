/**
 * Work that runs once at a time in a process. The four differ in a call that comes meanwhile: it
 * waits, shares the current run, shares the next one, or is refused.
 * @module
 */
import type { MaybeLater } from './waiting.ts'

/** Runs tasks one after the other, in the order of their calls; each fails by itself. */
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
  /** The current run. */
  readonly running: () => Promise<T> | undefined
}

/** @returns a function that starts a run, or shares the current one */
export function singleFlight<T>(run: () => MaybeLater<T>): SingleFlight<T> {
  let running: Promise<T> | undefined
  // Async, so that what is thrown at once ends a run as well.
  const start = async (): Promise<T> => run()
  const share = (): Promise<T> =>
    (running ??= start().finally(() => {
      running = undefined
    }))
  return Object.assign(share, { running: () => running })
}

/**
 * For a run that takes all waiting items when it begins: each call gets a run that begins after it,
 * shared by all calls until then.
 */
export function nextFlight<T>(run: () => Promise<T>): () => Promise<T> {
  const serially = serial()
  let next: Promise<T> | undefined
  return () =>
    (next ??= serially(() => {
      next = undefined
      return run()
    }))
}

/**
 * @param refusal makes the error of a call during a running task
 * @throws that error
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
