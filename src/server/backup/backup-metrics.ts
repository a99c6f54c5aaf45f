/**
 * Metrics of the backups that a process makes of its vault.
 * @module
 */
import { addCounter, gaugeAdder, secondsOf, type Registry } from '../watch/metric-kinds.ts'
import type { BackupSchedule } from './schedule.ts'

export function addBackupMetrics(registry: Registry, { counts, everyMs }: BackupSchedule): void {
  const add = gaugeAdder(registry)
  add('coffer_backup_age_seconds', 'how old the newest backup is', () => secondsOf(counts().ageMs))
  add('coffer_backup_interval_seconds', 'how often a backup is to be made', () =>
    secondsOf(everyMs),
  )
  const help = 'backups that this process was to make, by outcome'
  const described = { name: 'coffer_backups_total', help, labelNames: ['outcome'] as const }
  addCounter(registry, described, () => {
    const { made, failed } = counts()
    return [
      [{ outcome: 'made' }, made],
      [{ outcome: 'failed' }, failed],
    ]
  })
}
