/**
 * Time, as the browser tells it.
 * @module
 */

/** The wall clock, which goes on while a machine sleeps; in milliseconds. */
export const nowMs = (): number => Date.now()

export const every = (ms: number, run: () => void): void => void setInterval(run, ms)
