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
  /** The id of a session, for the log; absent of an application. */
  readonly sessionId?: string
  readonly type: CallerType
  readonly grants: Grants
  readonly expiresAtMs: number | undefined
  /** Where the credential stands in the store: what is decided for it holds while that stands. */
  readonly credential: RowVersion
  /** Of a session: the applications that it stands and falls with, as they were read. */
  readonly dependsOn: readonly Pick<Caller, 'credential' | 'grants'>[]
  /** Which key of the application it is; 0 of a session. */
  readonly keyNumber: number
  /** The id of that key, for the log; of a session, of the key that began it. Absent of none. */
  readonly keyId?: string
}

/** What a key leads to, and how long it does. */
export interface Loaded<T> {
  readonly value: T
  /** Unix milliseconds from which it is loaded anew; 0: each time; `undefined`: never. */
  readonly keepUntilMs: number | undefined
}

/** The live caller of a key at an instant; `undefined` for any other text. */
export type LoadCaller = (key: string, nowMs: number) => Promise<Loaded<Caller> | undefined>
