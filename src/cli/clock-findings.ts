/**
 * What `coffer doctor` says of a vault that is ahead of its clock: it refuses what expires sooner.
 * Source: server/process/clock.ts.
 * @module
 */
import { clockStepMsMax } from '../limits/operation-limits.ts'
import { lookAtMarkMs } from '../server/process/clock-file.ts'
import { callControl } from '../server/listen/control.ts'
import { controlOf, type FolderOptions } from '../server/folder/data-folder.ts'
import { isInDatabase } from '../server/folder/folder-database.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { pathsOf } from '../server/folder/folder-stamp.ts'
import { wallMs } from '../server/process/system.ts'
import { warning, type DoctorFinding } from './finding.ts'

const effect = 'what expires before that is refused or hidden'

/**
 * @param aheadMs the mark, less the clock
 * @param remedy for a clock that is right
 */
export function findInMark(aheadMs: number, clock: string, remedy: string): DoctorFinding[] {
  if (aheadMs <= clockStepMsMax) return []
  const minutes = Math.floor(aheadMs / 60_000)
  const ahead = `${minutes} minutes ahead of ${clock}`
  const text = `this vault was told a time ${ahead}, and goes on from there: ${effect}`
  return [warning('clock', `${text}. If that clock is right, ${remedy}`)]
}

/** By how much the server of a folder says it is ahead; 0 where none runs or says so. */
async function servedAheadMs(data: string): Promise<number> {
  // One that is stopped or sealed says nothing of it.
  const asked = callControl(controlOf(data), 'status', {}).catch((error: unknown) => {
    if (error instanceof CommandFailure) return undefined
    throw error
  })
  const facts = await asked
  return 1_000 * Number(facts?.['clock_ahead_seconds'] ?? 0)
}

/** What a start goes by is told before what a server does: that alone outlives a restart. */
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
