/**
 * Timeouts for a database, and for the holder of a lease. Tests have shorter ones.
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
  /** One try of a group of writes. */
  readonly tryMs: number
  /** Time after which the database ends an idle transaction. */
  readonly abandonedMs: number
  /** Interval of reading the database clock. */
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
