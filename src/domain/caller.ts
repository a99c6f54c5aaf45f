/**
 * The caller: what a live credential is worth, as plain data.
 *
 * @module
 */
import type { Grants } from './access.ts'
import type { CallerType } from './permissions.ts'

export interface Caller {
  readonly tenantId: string
  /** Of a session: the public application that created it. */
  readonly applicationId: string
  readonly type: CallerType
  readonly grants: Grants
  readonly expiresAtMs: number | undefined
  /** Where the credential stands in the store: what is decided for it holds while that stands. */
  readonly credential: { readonly ordinal: number; readonly version: number }
}
