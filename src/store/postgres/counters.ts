/**
 * Counters of a store in a database: plain numbers, added up in passing and read on demand. They
 * cover only this vault; each other vault reports its own.
 * @module
 */
import { databaseErrorKinds, type DatabaseErrorKind } from './database-error.ts'

/** Figures of one connection pool since it was opened. */
export interface PoolFigures {
  /** Largest number open at once. */
  readonly connections: number
  /** Statements and transactions in progress; if more than connections, some are waiting. */
  readonly inFlight: number
  readonly begun: number
  /** No answer in time, or no free connection in time; each also counts as `lost`. */
  readonly timeouts: number
  readonly failures: Readonly<Record<DatabaseErrorKind, number>>
}

/** Every operation of a pool is counted here. */
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

/** Figures of everything that a vault does in its database. */
export interface DatabaseFigures {
  readonly pools: Readonly<Record<'look' | 'page' | 'write', PoolFigures>>
  /** Change sets waiting for a group. */
  readonly writesWaiting: number
  /** Retries of groups of writes. */
  readonly retries: number
  readonly folds: number
  /** Excludes lost races. */
  readonly foldFailures: number
  /** Leases held: work that this vault does for all. */
  readonly leases: Readonly<Record<'sweep' | 'fold', boolean>>
  /** Lead of this machine's clock. */
  readonly skewMs: number
  /** Time since the database last answered as one that takes writes. */
  readonly silentMs: number
}
