/**
 * What sessions need beside everything else.
 *
 * Features know nothing of each other, so what sessions ask about applications is handed in.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'

export interface SessionDeps extends Deps {
  /** The live application of that id in that tenant, as the caller that its key makes. */
  readonly findApplication: (tenantId: string, id: string) => Promise<Caller | undefined>
}
