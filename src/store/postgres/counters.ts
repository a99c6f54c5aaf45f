/**
 * What a store in a database counts of itself: plain numbers, added up in passing and read when
 * somebody asks. They are of this vault alone; of the others each tells its own.
 * @module
 */
import { databaseErrorKinds, type DatabaseErrorKind } from './database-error.ts'

/** Of one pool of connections, since it was opened. */
export interface PoolFigures {
  /** At most, at once. */
  readonly connections: number
  /** Statements and transactions under way; where they are more than connections, some wait. */
  readonly inFlight: number
  readonly begun: number
  /** Not answered in time, or no connection was free in time; each is `lost` as well. */
  readonly timeouts: number
  readonly failures: Readonly<Record<DatabaseErrorKind, number>>
}

/** Whatever a pool does goes through these. */
export interface PoolCounts {
  readonly begin: () => void
  readonly end: () => void
  readonly late: () => void
  readonly fail: (kind: DatabaseErrorKind) => void
  readonly figures: () => PoolFigures
}

export function makePoolCounts(connections: number): PoolCounts {
  const none = databaseErrorKinds.map(kind => [kind, 0] as const)
  const failures = Object.fromEntries(none) as Record<DatabaseErrorKind, number>
  let inFlight = 0
  let begun = 0
  let timeouts = 0
  return {
    begin() {
      begun += 1
      inFlight += 1
    },
    end() {
      inFlight -= 1
    },
    late() {
      timeouts += 1
    },
    fail(kind) {
      failures[kind] += 1
    },
    figures: () => ({ connections, inFlight, begun, timeouts, failures: { ...failures } }),
  }
}

/** Of all that a vault does in its database. */
export interface DatabaseFigures {
  readonly pools: Readonly<Record<'look' | 'page' | 'write', PoolFigures>>
  /** Change sets that wait for the group that takes them along. */
  readonly writesWaiting: number
  /** Tries of groups of writes beyond the first of each. */
  readonly retries: number
  readonly folds: number
  /** Without races that were lost. */
  readonly foldFailures: number
  /** What this vault does for all. */
  readonly leases: Readonly<Record<'sweep' | 'fold', boolean>>
  /** By how much the clock of this machine is ahead. */
  readonly skewMs: number
  /** Since the database answered last, as one that takes writes. */
  readonly silentMs: number
}
