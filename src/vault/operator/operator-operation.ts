/**
 * What an operator may have a vault do: by name, from facts to facts.
 *
 * The same operations run in the process that serves, asked by its control socket, and in the
 * command itself where nobody serves.
 * @module
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Deps } from '../../deps.ts'
import { invalid } from '../../lib/errors.ts'
import type { LiveKeyring } from '../keyring/live-keyring.ts'
import type { Caller } from '../../rules/caller.ts'
import type { Permission } from '../../rules/permissions.ts'
import type { OperatedStore } from '../../store/operated.ts'

/** Plain facts, as JSON. */
export interface Facts {
  readonly [name: string]: Fact
}
type Fact = string | number | boolean | null | undefined | readonly Fact[] | Facts

/** What an operation says while it goes on. */
export type Tell = (progress: Facts) => void

/**
 * On whose authority it runs: of the operator, who has the master key; or of a management
 * application, which is read again for each attempt of a write.
 */
export type Authority = 'operator' | (() => Promise<Caller>)

/**
 * What the control socket asks for, beside who may open it: nothing; a proof of the master key; or
 * either that or the API key of a management application that holds a permission.
 */
export type Need = 'nothing' | 'master-key' | Permission

export interface AdminOperation {
  readonly needs: Need
  readonly run: (input: Facts, tell: Tell, by: Authority) => Promise<Facts>
}

export type Operations = Readonly<Record<string, AdminOperation>>

/** The master key in a file is replaced there. */
export interface ReplacedKey {
  readonly file: string
  /** Whether the key of before stays beside it. */
  readonly isBeforeKept: boolean
}

/** Where another master key is to be: in the place of the one there is, or in a file of its own. */
export type NewMasterKey = ReplacedKey | { readonly newFile: string }

/** What operations work on. */
export interface Administered {
  readonly deps: Deps
  readonly store: OperatedStore
  readonly ring: LiveKeyring
  /** Source: `Clock.aheadMs` of server/process/clock.ts. */
  readonly clockAheadMs: () => number
  /** What is known of the server beside its vault; none where a command has the folder. */
  readonly server?: () => Facts
  /** Whether other processes have the same store open. */
  readonly isShared: boolean
  /**
   * Puts another master key in the place of the one there is.
   * @param seal has the keyring sealed under it; when it throws, the key before stands
   */
  readonly replaceMasterKey: (
    asked: NewMasterKey,
    seal: (masterKey: Uint8Array) => Promise<void>,
  ) => Promise<void>
}

/**
 * An operation with its input checked.
 * @throws ApiError `invalid_request` that repeats no value
 */
export const operation = <T extends TSchema>(
  needs: Need,
  schema: T,
  run: (input: Static<T>, tell: Tell, by: Authority) => Promise<Facts>,
): AdminOperation => ({
  needs,
  async run(input, tell, by) {
    if (Value.Check(schema, input)) return run(input, tell, by)
    const [first] = Value.Errors(schema, input)
    throw invalid(first?.path.slice(1) ?? 'input', 'is not as it must be')
  },
})
