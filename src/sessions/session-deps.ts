/**
 * Dependencies of sessions, beyond the common ones.
 *
 * Features do not import each other, so the look-up of applications is passed in.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'

export interface SessionDeps extends Deps {
  /**
   * Returns the live application of that tenant, as the caller that its key would be.
   * @param keyNumber a key that must be live too
   */
  readonly findApplication: (
    tenantId: string,
    id: string,
    keyNumber: number,
  ) => Promise<Caller | undefined>
}
