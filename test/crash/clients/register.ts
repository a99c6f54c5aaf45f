/**
 * The promises about one thing that a client changes: the core of the oracle.
 *
 * An operation begins before it is sent. If it is acknowledged, it must hold; if it is refused, it
 * must not have happened; without an answer it may have happened or not, but never in part.
 * @module
 */

/** Operation number of the current version; `undefined` while the thing is absent. */
export type Version = number | undefined

export interface Register {
  acknowledged: Version
  /** Operations begun since then that got no answer. */
  pending: Version[]
}

export const emptyRegister = (): Register => ({ acknowledged: undefined, pending: [] })

export function begin(register: Register, version: Version): void {
  register.pending.push(version)
}

/** Earlier operations cannot take effect later: one writer writes one thing at a time. */
export function acknowledge(register: Register, version: Version): void {
  register.acknowledged = version
  register.pending = []
}

export function refuse(register: Register, version: Version): void {
  const at = register.pending.lastIndexOf(version)
  if (at >= 0) register.pending.splice(at, 1)
}

/** Broken promise that an observed version shows; `undefined` if it breaks none. */
export type Verdict = 'lost' | 'ghost' | undefined

export function judge({ acknowledged, pending }: Register, observed: Version): Verdict {
  if (observed === acknowledged || pending.includes(observed)) return undefined
  const isOlder = acknowledged !== undefined && (observed ?? 0) < acknowledged
  return isOlder ? 'lost' : 'ghost'
}

/** After a restart nothing is under way, so the observed version is the acknowledged one. */
export function settle(register: Register, observed: Version): void {
  register.acknowledged = observed
  register.pending = []
}
