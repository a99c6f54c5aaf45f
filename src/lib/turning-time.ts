/**
 * Time in which this process was able to work: only then can it judge that another one does not.
 *
 * After a blocked event loop, a stopped process or a paused machine, a timer is long overdue,
 * although the awaited process had no time either. So time is counted in ticks, each of which
 * counts for at most its own length, however long it took.
 * @module
 */
import { turningTickMs } from '../limits/work-limits.ts'

/**
 * @param waitMs  a multiple of `turningTickMs`
 * @returns a function that cancels it
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
