/**
 * What whoever runs a vault may have it do: by name, from facts to facts.
 *
 * The same operations run in the process that serves, asked by its control socket, and in the
 * command itself where nobody serves.
 * @module
 */
import type { Static, TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import type { Ring } from '../keyring/ring.ts'
import type { OperatedStore } from '../store/operated.ts'

/** Plain facts, as JSON. */
export interface Facts {
  readonly [name: string]: Fact
}
type Fact = string | number | boolean | null | undefined | readonly Fact[] | Facts

/** What an operation says while it goes on. */
export type Tell = (progress: Facts) => void

export type Operation = (input: Facts, tell: Tell) => Promise<Facts>

export type Operations = Readonly<Record<string, Operation>>

/** What operations work on. */
export interface Administered {
  readonly deps: Deps
  readonly store: OperatedStore
  readonly ring: Ring
  /** Whether other processes have the same store open. */
  readonly isShared: boolean
  /**
   * Puts another master key in the place of the one in a file.
   * @param seal has the keyring sealed under it; when it throws, the key before stands
   */
  readonly replaceMasterKey: (
    file: string,
    seal: (masterKey: Uint8Array) => Promise<void>,
  ) => Promise<void>
}

/**
 * An operation with its input checked.
 * @throws ApiError `invalid_request` that repeats no value
 */
export const operation =
  <T extends TObject>(
    schema: T,
    run: (input: Static<T>, tell: Tell) => Promise<Facts>,
  ): Operation =>
  async (input, tell) => {
    if (Value.Check(schema, input)) return run(input, tell)
    const [first] = Value.Errors(schema, input)
    throw invalid(first?.path.slice(1) ?? 'input', 'is not as it must be')
  }
