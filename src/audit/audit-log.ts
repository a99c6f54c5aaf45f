/**
 * Writing the audit log: with the write of an operation, before an answer, or soon.
 *
 * Entries that come together share a bundle and a commit. What cannot be written is kept, up to a
 * bound; beyond it the oldest are dropped, and an entry says how many.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { ApiError } from '../lib/errors.ts'
import {
  auditDelayMs,
  auditWaitingMax,
  bundleEntriesMax,
  bundleTextBytesMax,
} from '../limits/work-limits.ts'
import type { Change, Store } from '../store/contract.ts'
import { sealBundle } from './bundle.ts'
import type { AuditEntry } from './entry.ts'
import { makeLoginRefusals } from './login-refusals.ts'

export interface AuditLog {
  /** The change that appends an entry, for the write of its operation. */
  readonly changeOf: (entry: AuditEntry) => Change
  /**
   * Resolves when the entry is on disk.
   * @throws ApiError `storage_full`, `unavailable`: then it is not
   */
  readonly record: (entry: AuditEntry) => Promise<void>
  /** Has the entry written within `auditDelayMs`, or with the next commit. */
  readonly note: (entry: AuditEntry) => void
  /** Has what waits written with a commit that is about to begin. */
  readonly hasten: () => void
  /** Like `note`, for a refusal without a live key: many of one address share an entry. */
  readonly noteLogin: (entry: AuditEntry) => void
  /** Writes what waits; call it before the store is closed. */
  readonly flush: () => Promise<void>
}

export interface AuditLogParts {
  readonly store: Pick<Store, 'write'>
  readonly keys: Pick<Keys, 'auditKey'>
  readonly randomBytes: (count: number) => Uint8Array
  readonly now: () => number
  readonly log: (event: string, facts?: Readonly<Record<string, number | string>>) => void
}

interface Waiting {
  readonly entry: AuditEntry
  /** Absent if nobody waits for it. */
  readonly resolve?: () => void
  readonly reject?: (error: unknown) => void
}

const isOfClosedStore = (error: unknown): boolean =>
  error instanceof ApiError && error.message === 'the store is closed'

/** Bytes of the texts of an entry, at most. */
function textBytesOf({ entityIds }: AuditEntry): number {
  let bytes = 0
  for (const id of entityIds) bytes += 3 * id.length
  return bytes
}

/** Takes as many of the first entries as fit in a bundle; always at least one. */
function takeBundle(waiting: Waiting[]): Waiting[] {
  let bytes = 0
  let count = 0
  for (const { entry } of waiting) {
    bytes += textBytesOf(entry)
    // One more may say how many were dropped.
    if (count > 0 && (count === bundleEntriesMax - 1 || bytes > bundleTextBytesMax)) break
    count += 1
  }
  return waiting.splice(0, count)
}

const droppedEntry = (atMs: number, count: number): AuditEntry => ({
  atMs,
  actorType: 'vault',
  operation: 'auditEntriesDropped',
  entityIds: [],
  result: 507,
  reason: 'storage_full',
  count,
})

/** Entries that wait, and what writes them. */
function makeQueue({ store, keys, randomBytes, now, log }: AuditLogParts) {
  let waiting: Waiting[] = []
  let dropped = 0
  let isTold = false

  /** Keeps what nobody waits for, and tells the others. */
  const putBack = (group: readonly Waiting[], error: unknown): void => {
    for (const { reject } of group) reject?.(error)
    const kept = [...group.filter(({ reject }) => reject === undefined), ...waiting]
    dropped += Math.max(0, kept.length - auditWaitingMax)
    waiting = kept.slice(-auditWaitingMax)
    // A server that has ended its store has nothing more to write it to.
    if (isOfClosedStore(error)) return
    if (!isTold) log('audit_not_written', { waiting: waiting.length })
    isTold = true
  }

  return {
    add: (entry: Waiting): number => waiting.push(entry),
    size: () => waiting.length,
    /** @returns false if the first of them could not be written */
    async writeSome(): Promise<boolean> {
      const lost = dropped
      const group = takeBundle(waiting)
      const entries = group.map(({ entry }) => entry)
      if (lost > 0) entries.unshift(droppedEntry(now(), lost))
      try {
        await store.write([{ log: sealBundle(keys, randomBytes, entries) }])
      } catch (error) {
        putBack(group, error)
        return false
      }
      dropped -= lost
      isTold = false
      for (const { resolve } of group) resolve?.()
      return true
    },
  }
}

export function makeAuditLog(parts: AuditLogParts): AuditLog {
  const { keys, randomBytes } = parts
  const queue = makeQueue(parts)
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const writeAll = async (): Promise<void> => {
    // Requests of one turn of the loop share a commit.
    await Promise.resolve()
    while (queue.size() > 0 && (await queue.writeSome()));
    writing = undefined
    if (queue.size() > 0) later()
  }

  const start = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    return (writing ??= writeAll())
  }

  function later(): void {
    timer ??= setTimeout(() => void start(), auditDelayMs).unref()
  }

  const note = (entry: AuditEntry): void => {
    if (queue.add({ entry }) >= auditWaitingMax) void start()
    else later()
  }
  const logins = makeLoginRefusals(note)

  const hasten = (): void => {
    if (queue.size() > 0) void start()
  }

  return {
    changeOf(entry) {
      hasten()
      return { log: sealBundle(keys, randomBytes, [entry]) }
    },
    hasten,
    record: entry =>
      new Promise((resolve, reject) => {
        queue.add({ entry, resolve, reject })
        void start()
      }),
    note,
    noteLogin: logins.note,
    async flush() {
      logins.end()
      await writing
      if (queue.size() > 0) await start()
    },
  }
}
