/**
 * The caller: what a live credential is worth, as plain data.
 *
 * @module
 */
import type { Grants } from './access.ts'
import type { CallerType } from './permissions.ts'

/** Where a row stood in the store when it was read. */
interface RowVersion {
  readonly ordinal: number
  readonly version: number
}

export interface Caller {
  readonly tenantId: string
  /** Of a session: the public application that created it. */
  readonly applicationId: string
  readonly type: CallerType
  readonly grants: Grants
  readonly expiresAtMs: number | undefined
  /** Where the credential stands in the store: what is decided for it holds while that stands. */
  readonly credential: RowVersion
  /** Of a session: the applications that it stands and falls with, as they were read. */
  readonly restsOn: readonly Pick<Caller, 'credential' | 'grants'>[]
  /** Which key of the application it is; 0 of a session. */
  readonly keyNumber: number
}
