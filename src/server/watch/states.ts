/**
 * States that somebody must know of, by the checks of `/readyz`: each is logged once when it begins
 * and once when it ends, whether or not anybody asks.
 * @module
 */
import type { Log } from '../../deps.ts'
import { stateLookMs } from '../../limits/operation-limits.ts'
import type { Checks } from './process-report.ts'

/** The events that tell of its begin and its end, and whether it is now. */
interface State {
  readonly begins: string
  readonly ends: string
  /** `undefined` where it cannot be told. */
  readonly is: () => boolean | undefined
}

/** What cannot be told is as it was. */
function look({ is }: State, was: boolean): boolean {
  try {
    return is() ?? was
  } catch {
    return was
  }
}

/** @returns stop */
export function watchStates(states: readonly State[], log: Log): () => void {
  const isNow = states.map(() => false)
  const timer = setInterval(() => {
    for (const [at, state] of states.entries()) {
      const was = isNow[at] === true
      const is = look(state, was)
      if (is !== was) log(is ? state.begins : state.ends)
      isNow[at] = is
    }
  }, stateLookMs).unref()
  return () => clearInterval(timer)
}

/**
 * Of the store, while it is open: `store` fails of a database alone.
 * @param tells whether this process tells of it, once it is open
 */
export function statesOf(checks: Checks, tells: () => boolean): readonly State[] {
  const whileOpen = (fails: () => boolean) => () =>
    checks.sealed() || !tells() ? undefined : fails()
  return [
    { begins: 'database_gone', ends: 'database_back', is: whileOpen(checks.store) },
    { begins: 'disk_full', ends: 'disk_free', is: whileOpen(checks.disk) },
    { begins: 'fold_behind', ends: 'fold_caught_up', is: whileOpen(checks.fold) },
  ]
}
