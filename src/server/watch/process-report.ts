/**
 * What is told to those who run a vault: whether it lives, whether it may be sent requests, and
 * numbers; of one process, or of several that serve together.
 * @module
 */
import type { MaybeLater } from '../../lib/waiting.ts'
import type { Numbers } from './metric-kinds.ts'

/** What may keep a vault from being sent requests, and `clock_ahead`, which is told alone. */
export interface Checks {
  readonly sealed: () => boolean
  readonly stopping: () => boolean
  /** Whether the store cannot be read, or takes no writes any more. */
  readonly store: () => boolean
  /** Whether the clock is not that of the database that others share. */
  readonly clock: () => boolean
  /** Whether what expires soon is refused, since the vault is ahead of its clock. */
  readonly clock_ahead: () => boolean
  /** Whether too little space is left for writes. */
  readonly disk: () => boolean
  /** Whether so many rows are not folded that writes wait for it. */
  readonly fold: () => boolean
  /** Whether a backup comes far too late; `false` where none are made. */
  readonly backup: () => boolean
}

/** Of several workers: that none of them serves, or that one is missing while others serve. */
export type WorkerCheck = 'workers' | 'worker_missing'

/** Source: `Checks` and `WorkerCheck`, by their names. */
export type Failing = readonly string[]

/** All else is served, and by others; another vault of the same store is ahead as well. */
const toldAlone: ReadonlySet<string> = new Set(['clock_ahead', 'worker_missing'])

/** Whether all that fails is only told. */
export const mayBeSent = (failing: Failing): boolean => failing.every(name => toldAlone.has(name))

/** A check that itself fails has failed. */
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
  /** Whether each process that serves answers when it is asked. */
  readonly isAlive: () => MaybeLater<boolean>
  /** Of each process; they are merged where they are printed. */
  readonly numbers: () => Promise<readonly Numbers[]>
}
