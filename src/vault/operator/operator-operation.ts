/**
 * Operations of an operator: each has a name, takes facts and returns facts.
 *
 * The same operations run in the serving process, through its control socket, and in the command
 * itself if no process serves.
 * @module
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Deps } from '../../deps.ts'
import { invalid } from '../../lib/errors.ts'
import type { LiveKeyring } from '../keyring/live-keyring.ts'
import type { WriteAudit } from '../../records/write-rows.ts'
import type { Caller } from '../../rules/caller.ts'
import type { Permission } from '../../rules/permissions.ts'
import type { OperatedStore } from '../../store/operated.ts'

/** Plain facts, as JSON. */
export interface Facts {
  readonly [name: string]: Fact
}
type Fact = string | number | boolean | null | undefined | readonly Fact[] | Facts

/** Receives the progress of an operation. */
export type Tell = (progress: Facts) => void

/** Authority under which an operation runs, and the entry of its write in the audit log. */
export interface Authority {
  /**
   * The operator, who has the master key; or a management application, which is read again for each
   * attempt of a write.
   */
  readonly who: 'operator' | (() => Promise<Caller>)
  readonly audit?: WriteAudit
}

export const theOperator: Authority = { who: 'operator' }

/**
 * Credential that the control socket asks for, beside access to it: none; a proof of the master
 * key; or either that or the API key of a management application that holds a permission.
 */
export type Need = 'nothing' | 'master-key' | Permission

export interface AdminOperation {
  readonly needs: Need
  readonly run: (input: Facts, tell: Tell, by: Authority) => Promise<Facts>
}

export type Operations = Readonly<Record<string, AdminOperation>>

/** A master key file that is to be replaced in place. */
export interface ReplacedKey {
  readonly file: string
  /** True if the previous key stays beside it. */
  readonly isBeforeKept: boolean
}

/** Place of a new master key: instead of the present one, or in a file of its own. */
export type NewMasterKey = ReplacedKey | { readonly newFile: string }

/** The vault that operations work on. */
export interface Administered {
  readonly deps: Deps
  readonly store: OperatedStore
  readonly keyring: LiveKeyring
  /** Source: `Clock.aheadMs` of server/process/clock.ts. */
  readonly clockAheadMs: () => number
  /** Facts of the server beside its vault; absent if a command has the folder. */
  readonly server?: () => Facts
  /** True if other processes have the same store open. */
  readonly isShared: boolean
  /**
   * Puts another master key in the place of the present one.
   * @param seal seals the keyring under it; if it throws, the previous key stays
   */
  readonly replaceMasterKey: (
    asked: NewMasterKey,
    seal: (masterKey: Uint8Array) => Promise<void>,
  ) => Promise<void>
}

/**
 * Returns an operation that checks its input.
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
