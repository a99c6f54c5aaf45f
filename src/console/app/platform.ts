/**
 * Time, as the browser tells it.
 * @module
 */

/** The wall clock, which goes on while a machine sleeps; in milliseconds. */
export const nowMs = (): number => Date.now()

/** Runs once, later. @returns how to prevent it */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** @returns how to end it */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}

/** Runs once the page is drawn, after the effects of what was drawn. */
export function afterDrawing(run: () => void): void {
  requestAnimationFrame(() => void setTimeout(run))
}
