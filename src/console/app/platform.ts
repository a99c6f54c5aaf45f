/**
 * Time, as the browser tells it.
 * @module
 */

/** The wall clock, which goes on while a machine sleeps; in milliseconds. */
export const nowMs = (): number => Date.now()

/** @returns how to end it */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}
