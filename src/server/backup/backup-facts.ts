/**
 * Facts about backups for `coffer status`, the same as in the metrics.
 * @module
 */
import type { Facts } from '../../vault/operator/operator-operation.ts'
import type { BackupSchedule } from './schedule.ts'

/** @param backups absent if the server makes none */
export function factsOfBackups(backups: BackupSchedule | undefined): Facts {
  if (backups === undefined) return { backup_to: null }
  const { ageMs, made, failed } = backups.counts()
  return {
    backup_to: backups.to,
    backup_age_seconds: ageMs === undefined ? null : Math.floor(ageMs / 1_000),
    backups_made: made,
    backups_failed: failed,
    backup_overdue: backups.isOverdue(),
  }
}
