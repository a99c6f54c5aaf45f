/**
 * What sessions need beside everything else.
 *
 * Features know nothing of each other, so what sessions ask about applications is handed in.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'

export interface SessionDeps extends Deps {
  /**
   * The live application of that id in that tenant, as the caller that a key of it makes.
   * @param keyNumber which key, that must be live too
   */
  readonly findApplication: (
    tenantId: string,
    id: string,
    keyNumber: number,
  ) => Promise<Caller | undefined>
}
