/**
 * Dependencies of what tells about access, beyond the common ones.
 *
 * Features do not import each other, so look-ups of applications and sessions are passed in.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Grants } from '../../rules/access.ts'

export interface AccessDeps extends Deps {
  /**
   * Returns the grants of a live application of that tenant.
   * @throws ApiError `not_found`
   */
  readonly grantsOf: (tenantId: string, applicationId: string) => Promise<Grants>
  /**
   * Returns the grants by which a live session of that tenant is answered.
   * @throws ApiError `not_found`
   */
  readonly grantsOfSession: (tenantId: string, sessionId: string) => Promise<Grants>
}
