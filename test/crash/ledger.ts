/**
 * What clients were promised: the oracle of the crash tests, kept by the client, not the server.
 *
 * An operation begins before it is sent and is acknowledged after its last byte. Acknowledged must
 * hold; begun but not acknowledged may have happened or not, but wholly.
 * @module
 */

/** The value that a token holds; `undefined` is absent. */
export type State = number | undefined

export interface Entry {
  acknowledged: State
  /** What an operation that got no answer would have made of it. */
  pending: { readonly state: State } | undefined
}

export interface Ledger {
  readonly entries: Map<string, Entry>
  /** Operations that were acknowledged so far. */
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

/** How an observed state breaks the promise; `undefined` when it does not. */
export function breach(entry: Entry, observed: State): string | undefined {
  if (observed === entry.acknowledged) return undefined
  if (entry.pending !== undefined && observed === entry.pending.state) return undefined
  return `acknowledged ${entry.acknowledged}, pending ${entry.pending?.state}, found ${observed}`
}
