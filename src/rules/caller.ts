/**
 * The caller: the grants and limits of a live credential, as plain data.
 * @module
 */
import type { Grants } from './access.ts'
import type { CallerType } from './permissions.ts'

/** Names a row of the store, as it was read. */
interface CredentialRow {
  readonly ordinal: number
  readonly version: number
  readonly uniques: readonly Uint8Array[]
}

export interface Caller {
  readonly tenantId: string
  /** For a session: the public application that created it. */
  readonly applicationId: string
  /** Id of a session, for the log; absent for an application. */
  readonly sessionId?: string
  readonly type: CallerType
  readonly grants: Grants
  readonly expiresAtMs: number | undefined
  /** Row of the credential in the store: decisions for it hold while that version stands. */
  readonly credential: CredentialRow
  /** For a session: the applications that it depends on, as they were read. */
  readonly dependsOn: readonly Pick<Caller, 'credential' | 'grants'>[]
  /** Number of the application's key; 0 for a session. */
  readonly keyNumber: number
  /** Id of that key, for the log; for a session, of the key that began it; absent if none. */
  readonly keyId?: string
  /** True for a session with so many that each of its requests is long work. */
  readonly hasManyConditions?: boolean
}

/** Result of looking up a key, and how long it is valid. */
export interface Loaded<T> {
  readonly value: T
  /** Unix milliseconds until which it may be cached; 0: not at all; `undefined`: no such bound. */
  readonly keepUntilMs: number | undefined
  /** Memory that it holds, about; absent: little. */
  readonly bytes?: number
}

/** Returns the live caller of a key at an instant; `undefined` for any other text. */
export type LoadCaller = (key: string, nowMs: number) => Promise<Loaded<Caller> | undefined>
