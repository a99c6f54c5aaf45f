/**
 * States that an operator must know of, by the checks of `/readyz`: each is logged once when it
 * begins and once when it ends, even if nobody asks.
 * @module
 */
import type { Log } from '../../deps.ts'
import { stateLookMs } from '../../limits/operation-limits.ts'
import type { Checks } from './process-report.ts'

/** A state, and the events that report its beginning and its end. */
interface State {
  readonly begins: string
  readonly ends: string
  /** `undefined` if it is not known. */
  readonly is: () => boolean | undefined
}

/** An unknown state stays as it was. */
function look({ is }: State, was: boolean): boolean {
  try {
    return is() ?? was
  } catch {
    return was
  }
}

/** @returns a function that stops watching */
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
 * States of the open store; the check `store` fails only with a database.
 * @param tells true if this process reports them, once the store is open
 */
export function statesOf(checks: Checks, tells: () => boolean): readonly State[] {
  const whileOpen = (fails: () => boolean) => () =>
    checks.sealed() || !tells() ? undefined : fails()
  return [
    { begins: 'database_gone', ends: 'database_back', is: whileOpen(checks.store) },
    { begins: 'disk_full', ends: 'disk_free', is: whileOpen(checks.disk) },
    {
      begins: 'audit_log_nearly_full',
      ends: 'audit_log_has_room',
      is: whileOpen(checks.audit_log),
    },
    { begins: 'fold_behind', ends: 'fold_caught_up', is: whileOpen(checks.fold) },
  ]
}
