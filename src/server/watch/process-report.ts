/**
 * Reports to operators: liveness, readiness and metrics, of one process or of several that serve
 * together.
 * @module
 */
import type { MaybeLater } from '../../lib/waiting.ts'
import type { Numbers } from './metric-kinds.ts'

/** Checks of readiness, and `clock_ahead` and `audit_log`, which are only reported. */
export interface Checks {
  readonly sealed: () => boolean
  readonly stopping: () => boolean
  /** True if the store cannot be read, or refuses writes. */
  readonly store: () => boolean
  /** True if the clock differs from that of the shared database. */
  readonly clock: () => boolean
  /** True if short expiries are refused, as the vault is ahead of its clock. */
  readonly clock_ahead: () => boolean
  /** True if too little disk space is left for writes. */
  readonly disk: () => boolean
  /** True if writes wait, as too many rows are not folded yet. */
  readonly fold: () => boolean
  /** True if a backup is far too late; false if none are made. */
  readonly backup: () => boolean
  /** True if the audit log has taken most of its room. */
  readonly audit_log: () => boolean
}

/** Checks of several workers: none of them serves, or one is missing while others serve. */
export type WorkerCheck = 'workers' | 'worker_missing'

/** Names from `Checks` and `WorkerCheck`. */
export type Failing = readonly string[]

/** Only reported: everything else is served, and other vaults of the store are ahead as well. */
const toldAlone: ReadonlySet<string> = new Set(['clock_ahead', 'worker_missing', 'audit_log'])

/** True if all failing checks are only reported. */
export const mayBeSent = (failing: Failing): boolean => failing.every(name => toldAlone.has(name))

/** A check that throws has failed. */
export const failsBy = (check: () => boolean): boolean => {
  try {
    return check()
  } catch {
    return true
  }
}

export const failingOf = (checks: Checks): Failing =>
  Object.entries(checks).flatMap(([name, check]: [string, () => boolean]) =>
    failsBy(check) ? [name] : [],
  )

export interface ProcessReport {
  readonly failing: () => MaybeLater<Failing>
  /** True if each serving process answers. */
  readonly isAlive: () => MaybeLater<boolean>
  /** Numbers of each process; they are merged when printed. */
  readonly numbers: () => Promise<readonly Numbers[]>
}
