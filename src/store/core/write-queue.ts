/**
 * Waiting writes, for every engine: as many as one transaction may hold are committed together.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import type { WriteOutcome } from '../contract.ts'
import type { SetResult } from './decide-change.ts'
import type { PreparedChange } from './prepare-change.ts'
import { groupCommitBytesMax, groupCommitChangesMax } from './limits.ts'

export type ChangeSet = readonly PreparedChange[]

export interface QueuedWrite {
  readonly changes: ChangeSet
  readonly resolve: (outcome: WriteOutcome) => void
  readonly reject: (fault: ApiError) => void
}

function bytesOf(changes: ChangeSet): number {
  let bytes = 0
  for (const change of changes) {
    if ('row' in change) bytes += change.row.value.length
    else if (change.kind === 'log') bytes += change.bundle.sealed.length
    else if (change.kind === 'entry') bytes += change.entry.bytes
    else if (change.kind === 'derived') bytes += change.derived.value?.length ?? 0
  }
  return bytes
}

/** Takes as many of the first waiters as fit in one transaction; always at least one. */
export function takeGroup(waiting: QueuedWrite[]): QueuedWrite[] {
  let changes = 0
  let bytes = 0
  const end = waiting.findIndex((write, at) => {
    changes += write.changes.length
    bytes += bytesOf(write.changes)
    return at > 0 && (changes > groupCommitChangesMax || bytes > groupCommitBytesMax)
  })
  return waiting.splice(0, end < 0 ? waiting.length : end)
}

export function answerGroup(group: readonly QueuedWrite[], results: readonly SetResult[]): void {
  group.forEach(({ resolve, reject }, i) => {
    const result = results[i]
    if (result === undefined) reject(new ApiError('internal', 'a change set was not decided'))
    else if ('fault' in result) reject(result.fault)
    else resolve(result.outcome)
  })
}
