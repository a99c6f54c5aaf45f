/**
 * Promises to the clients: the oracle of the crash tests, kept by the client, not the server.
 *
 * An operation begins before it is sent and is acknowledged after the last byte of its answer. If
 * it was acknowledged it must hold; if only begun, it may have happened or not, but never in part.
 * @module
 */

/** Value of a token; `undefined` means absent. */
export type State = number | undefined

export interface Entry {
  acknowledged: State
  /** State that an unanswered operation would have left. */
  pending: { readonly state: State } | undefined
}

export interface Ledger {
  readonly entries: Map<string, Entry>
  /** Number of acknowledged operations so far. */
  acknowledged: number
}

/** Sends one operation. Throws when no answer came, and leaves it pending. */
export async function record(
  ledger: Ledger,
  id: string,
  state: State,
  send: () => Promise<number>,
  expected: number,
): Promise<void> {
  const { entries } = ledger
  const entry: Entry = entries.get(id) ?? { acknowledged: undefined, pending: undefined }
  entries.set(id, entry)
  entry.pending = { state }
  const status = await send()
  if (status !== expected) throw new Error(`expected ${expected}, got ${status}`)
  entry.acknowledged = state
  ledger.acknowledged += 1
  entry.pending = undefined
}

/** Describes how an observed state breaks the promise; `undefined` if it does not. */
export function breach(entry: Entry, observed: State): string | undefined {
  if (observed === entry.acknowledged) return undefined
  if (entry.pending !== undefined && observed === entry.pending.state) return undefined
  return `acknowledged ${entry.acknowledged}, pending ${entry.pending?.state}, found ${observed}`
}
