/**
 * How long is waited for a database, and for the holder of a lease. Tests have shorter ones.
 * @module
 */
import {
  databaseAbandonedMs,
  databaseClockMs,
  databaseConnectMsMax,
  databaseReadMsMax,
  databaseTryMsMax,
  databaseWriteMsMax,
  leaseMs,
  leaseRenewMs,
} from '../core/limits.ts'

export interface DatabaseTimeouts {
  readonly connectMs: number
  readonly readMs: number
  readonly writeMs: number
  /** Of one try of a group of writes. */
  readonly tryMs: number
  /** Of a transaction that says nothing, before the database ends it. */
  readonly abandonedMs: number
  /** Between two looks at the clock of the database. */
  readonly clockMs: number
  readonly leaseMs: number
  readonly leaseRenewMs: number
}

export const defaultTimeouts: DatabaseTimeouts = {
  connectMs: databaseConnectMsMax,
  readMs: databaseReadMsMax,
  writeMs: databaseWriteMsMax,
  tryMs: databaseTryMsMax,
  abandonedMs: databaseAbandonedMs,
  clockMs: databaseClockMs,
  leaseMs,
  leaseRenewMs,
}
