/**
 * What `coffer status` says of backups: what the metrics say.
 * @module
 */
import type { Facts } from '../../vault/operator/operator-operation.ts'
import type { BackupSchedule } from './schedule.ts'

/** @param backups absent where none are made */
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
