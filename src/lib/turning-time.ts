/**
 * Time in which this process could do its work: only then can it say that another one does not.
 *
 * A loop that is held, a process that was stopped, a machine that was paused: afterwards a timer is
 * long overdue, though what is waited for had no time either. So time is counted in ticks, each
 * of which counts for its own length at most, however long it took.
 * @module
 */
import { turningTickMs } from '../limits/work-limits.ts'

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
