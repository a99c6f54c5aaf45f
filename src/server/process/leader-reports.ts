/**
 * Reports of the process that leads several workers: of all of them, as of one vault.
 * @module
 */
import type { BackupSchedule } from '../backup/schedule.ts'
import type { ProcessReport } from '../watch/process-report.ts'
import { startReports, type RunningReports, type ServedFacts } from '../watch/status-reports.ts'
import type { Supervisor } from './supervisor.ts'
import { elapsedMs, wallMs } from './system.ts'

/** Loads the code of metrics with the first question: a start goes without. */
function watchLater(supervisor: Supervisor, backups: BackupSchedule | undefined): ProcessReport {
  let loading: Promise<ProcessReport> | undefined
  const load = async (): Promise<ProcessReport> => {
    const { watchWorkers } = await import('../watch/workers-watch.ts')
    return watchWorkers(supervisor, backups)
  }
  const loaded = (): Promise<ProcessReport> => (loading ??= load())
  return {
    failing: async () => (await loaded()).failing(),
    isAlive: async () => (await loaded()).isAlive(),
    numbers: async () => (await loaded()).numbers(),
  }
}

export interface LeaderReport {
  readonly report: ProcessReport
  readonly reports: RunningReports
}

/** @param backups those that the leading process makes */
export function reportTogether(
  supervisor: Supervisor,
  backups: BackupSchedule | undefined,
  facts: ServedFacts,
): LeaderReport {
  const report = watchLater(supervisor, backups)
  return { report, reports: startReports({ ...facts, report, wallMs, elapsedMs }) }
}
