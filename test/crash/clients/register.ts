/**
 * What a client may say of one thing that it changes: the oracle, in small.
 *
 * An operation begins before it is sent. Acknowledged, it must hold; refused, it must not have
 * happened; without an answer it may have happened or not, but wholly.
 * @module
 */

/** The number of the operation that made a thing what it is; `undefined` while it is absent. */
export type Version = number | undefined

export interface Register {
  acknowledged: Version
  /** Begun since, and never answered. */
  pending: Version[]
}

export const emptyRegister = (): Register => ({ acknowledged: undefined, pending: [] })

export function begin(register: Register, version: Version): void {
  register.pending.push(version)
}

/** What began before it cannot come after it: one writer writes one thing at a time. */
export function acknowledge(register: Register, version: Version): void {
  register.acknowledged = version
  register.pending = []
}

export function refuse(register: Register, version: Version): void {
  const at = register.pending.lastIndexOf(version)
  if (at >= 0) register.pending.splice(at, 1)
}

/** How an observed version breaks the promise; `undefined` when it does not. */
export type Verdict = 'lost' | 'ghost' | undefined

export function judge({ acknowledged, pending }: Register, observed: Version): Verdict {
  if (observed === acknowledged || pending.includes(observed)) return undefined
  const isOlder = acknowledged !== undefined && (observed ?? 0) < acknowledged
  return isOlder ? 'lost' : 'ghost'
}

/** After a restart nothing is under way: what was observed is what there is, from then on. */
export function settle(register: Register, observed: Version): void {
  register.acknowledged = observed
  register.pending = []
}
