/**
 * Findings of `coffer doctor` about a vault ahead of its clock: it refuses deadlines before its own
 * time. Source: server/process/clock.ts.
 * @module
 */
import { clockStepMsMax } from '../../limits/operation-limits.ts'
import { lookAtMarkMs } from '../../server/process/clock-file.ts'
import { callControl } from '../../server/listen/control.ts'
import { controlOf, type FolderOptions } from '../../server/folder/data-folder.ts'
import { isInDatabase } from '../../server/folder/folder-database.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { pathsOf } from '../../server/folder/folder-stamp.ts'
import { wallMs } from '../../server/process/system.ts'
import { warning, type DoctorFinding } from './finding.ts'

const effect = 'what expires before that is refused or hidden'

/**
 * @param aheadMs the mark minus the clock
 * @param remedy advice if the clock is right
 */
export function findInMark(aheadMs: number, clock: string, remedy: string): DoctorFinding[] {
  if (aheadMs <= clockStepMsMax) return []
  const minutes = Math.floor(aheadMs / 60_000)
  const ahead = `${minutes} minutes ahead of ${clock}`
  const text = `this vault was told a time ${ahead}, and goes on from there: ${effect}`
  return [warning('clock', `${text}. If that clock is right, ${remedy}`)]
}

/** Asks the server of a folder how far it is ahead; 0 if none runs or it does not say. */
async function servedAheadMs(data: string): Promise<number> {
  // A stopped or sealed server does not say.
  const asked = callControl(controlOf(data), 'status', {}).catch((error: unknown) => {
    if (error instanceof CommandFailure) return undefined
    throw error
  })
  const facts = await asked
  return 1_000 * Number(facts?.['clock_ahead_seconds'] ?? 0)
}

/** Reports the stored mark, which a start uses, before the server's: only it outlives a restart. */
export async function findInClock({ data }: FolderOptions): Promise<DoctorFinding[]> {
  const file = pathsOf(data).clock
  const kept = isInDatabase(data)
    ? []
    : findInMark(
        lookAtMarkMs(file) - wallMs(),
        'the clock of this machine',
        `stop the vault, remove ${file}, and start it`,
      )
  if (kept.length > 0) return kept
  return findInMark(await servedAheadMs(data), 'its clock', 'restart the vault')
}
