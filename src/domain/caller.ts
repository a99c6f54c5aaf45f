/**
 * The caller: what a live credential is worth, as plain data.
 *
 * @module
 */
import type { Grants } from './access.ts'
import type { ApplicationType } from './permissions.ts'

export interface Caller {
  readonly tenantId: string
  readonly applicationId: string
  readonly type: ApplicationType
  readonly grants: Grants
  readonly expiresAtMs: number | undefined
  /** Where the credential stands in the store: a write holds only while it stands unchanged. */
  readonly credential: { readonly ordinal: number; readonly version: number }
}
