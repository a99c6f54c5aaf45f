/**
 * The answers of `/status` of a throw-away vault, which one process has alone, and which has no
 * folder that lasts.
 * @module
 */
import type { AnswerEvent, Deps } from '../../deps.ts'
import { build, version } from '../../lib/version.ts'
import type { StatusSetting } from '../../status/schema.ts'
import { freeBytesAt } from '../../store/lmdb/write/disk-reserve.ts'
import { diskBytesAt } from '../folder/disk-space.ts'
import type { OperatedStore } from '../../store/operated.ts'
import { sweepLagMs } from '../../vault/sweep.ts'
import { elapsedMs, wallMs } from '../process/system.ts'
import { makeAnswerCounters } from './answer-counts.ts'
import type { Gauges, Metrics } from './metrics.ts'
import { startReports, type RunningReports } from './status-reports.ts'

function gaugesOf(path: string, deps: Deps, store: OperatedStore): Gauges {
  const none = (): undefined => undefined
  return {
    requestsInFlight: none,
    fileBytes: none,
    store: () => store.figures(),
    sweepLagMs: () => sweepLagMs({ store, settled: deps.settled }),
    database: none,
    freeBytes: freeBytesAt(path),
    diskBytes: () => diskBytesAt(path),
    keys: none,
    clockBehindMs: none,
    clockAheadMs: none,
    certificateUntilMs: none,
    witnessed: none,
    checkpointCopies: none,
    logBudgetBytes: none,
    logUnsigned: none,
    deliveries: none,
    checks: () => [],
  }
}

/** Counts of a vault that is made later. */
export interface ThrowAwayReports {
  readonly observe: (seen: AnswerEvent) => void
  readonly reportsOf: (deps: Deps, store: OperatedStore) => RunningReports
}

/** @param path of its folder */
export function makeThrowAwayReports(
  path: string,
  settings: readonly StatusSetting[],
): ThrowAwayReports {
  const counts = makeAnswerCounters()
  return {
    observe: seen => counts.observe(seen, elapsedMs()),
    reportsOf(deps, store) {
      let loading: Promise<Metrics> | undefined
      const load = async (): Promise<Metrics> => {
        const { makeMetrics } = await import('./metrics.ts')
        return makeMetrics({ version, build }, gaugesOf(path, deps, store), counts, {})
      }
      const numbers = async () => [await (await (loading ??= load())).numbers()]
      const facts = { store: 'folder', keySource: 'memory', findings: () => [], settings } as const
      return startReports({ ...facts, report: { failing: () => [], numbers }, wallMs, elapsedMs })
    },
  }
}
