/**
 * Writing entries of the audit log: with the write of an operation, before its answer, or soon.
 *
 * Entries that come together share a bundle and a commit. Entries that cannot be written are kept,
 * up to a bound; beyond it the oldest that no request waits for are dropped, and an entry says how
 * many.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { Keys } from '../crypto/keyring.ts'
import {
  auditDelayMs,
  auditEntryBytes,
  auditWaitingBytesMax,
  bundleEntriesMax,
  bundleEntriesWanted,
  bundleTextBytesMax,
} from '../limits/work-limits.ts'
import { StoreClosed, type Change, type Store } from '../store/contract.ts'
import { makeAppending } from './append-entry.ts'
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
  /** Absent if no request waits for it. */
  readonly resolve?: () => void
  readonly reject?: (error: unknown) => void
}

/** Bytes of the ids of an entry, at most: its other texts are short. */
function textBytesOf({ entityIds }: AuditEntry): number {
  let bytes = 0
  for (const id of entityIds) bytes += 3 * id.length
  return bytes
}

/** Memory of an entry, with its ids and its stated reason at two bytes a character. */
function memoryOf({ entityIds, statedReason = '' }: AuditEntry): number {
  let bytes = auditEntryBytes + 2 * statedReason.length
  for (const id of entityIds) bytes += 2 * id.length
  return bytes
}

/** Number of the first entries that fit in a bundle; always at least one. */
function countBundle(waiting: readonly Waiting[]): number {
  let bytes = 0
  let count = 0
  for (const { entry } of waiting) {
    bytes += textBytesOf(entry)
    // One more may say how many were dropped.
    if (count > 0 && (count === bundleEntriesMax - 1 || bytes > bundleTextBytesMax)) break
    count += 1
  }
  return count
}

/** Entries that wait, oldest first, within their bytes. */
function makeWaiting() {
  let waiting: Waiting[] = []
  let bytes = 0

  /** Drops the oldest that no request waits for. @returns their number */
  function shrink(): number {
    let count = 0
    while (bytes > auditWaitingBytesMax) {
      const at = waiting.findIndex(({ reject }) => reject === undefined)
      const [dropped] = at < 0 ? [] : waiting.splice(at, 1)
      if (dropped === undefined) break
      bytes -= memoryOf(dropped.entry)
      count += 1
    }
    return count
  }

  return {
    size: () => waiting.length,
    /** @returns number of entries that were dropped for it */
    add(entry: Waiting): number {
      waiting.push(entry)
      bytes += memoryOf(entry.entry)
      return shrink()
    },
    take(): readonly Waiting[] {
      const taken = waiting.splice(0, countBundle(waiting))
      for (const { entry } of taken) bytes -= memoryOf(entry)
      return taken
    },
    /**
     * Puts taken entries back in front, and rejects every entry that a request waits for, taken or
     * not: all wait for the same store.
     * @returns number of entries that were dropped for it
     */
    putBack(taken: readonly Waiting[], error: unknown): number {
      for (const { entry } of taken) bytes += memoryOf(entry)
      const kept: Waiting[] = []
      for (const each of [...taken, ...waiting]) {
        if (each.reject === undefined) kept.push(each)
        else {
          bytes -= memoryOf(each.entry)
          each.reject(error)
        }
      }
      waiting = kept
      return shrink()
    },
  }
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

/** Seals entries in bundles of which none holds up requests for long. */
async function sealBundles(
  { keys, randomBytes }: Pick<AuditLogParts, 'keys' | 'randomBytes'>,
  entries: readonly AuditEntry[],
): Promise<readonly Change[]> {
  const bundles: Change[] = []
  for (let at = 0; at < entries.length; at += bundleEntriesWanted) {
    if (at > 0) await setImmediate()
    const some = entries.slice(at, at + bundleEntriesWanted)
    bundles.push({ log: sealBundle(keys, randomBytes, some) })
  }
  return bundles
}

/** Entries that wait, and what writes them. */
function makeQueue(parts: AuditLogParts) {
  const { store, now, log } = parts
  const waiting = makeWaiting()
  let dropped = 0
  let isTold = false

  const putBack = (group: readonly Waiting[], error: unknown): void => {
    dropped += waiting.putBack(group, error)
    // A server that has closed its store can write nothing more.
    if (error instanceof StoreClosed) return
    if (!isTold) log('audit_not_written', { waiting: waiting.size() })
    isTold = true
  }

  return {
    add(entry: Waiting): void {
      dropped += waiting.add(entry)
    },
    size: waiting.size,
    take: waiting.take,
    /** @returns false if they could not be written */
    async write(group: readonly Waiting[]): Promise<boolean> {
      const lost = dropped
      const entries = group.map(({ entry }) => entry)
      if (lost > 0) entries.unshift(droppedEntry(now(), lost))
      try {
        await store.write(await sealBundles(parts, entries))
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
  const append = makeAppending(parts.keys, parts.randomBytes)
  const queue = makeQueue(parts)
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  /** Number of entries, from the oldest on, that are written without further delay. */
  let wanted = 0
  let hasFailed = false

  /**
   * decision: an entry that comes during a commit, and that no request waits for, has its whole
   * delay: else a steady load of masked reads would commit a hundred times a second.
   */
  const writeWanted = async (): Promise<void> => {
    // Requests of one turn of the loop share a commit.
    await Promise.resolve()
    while (wanted > 0 && queue.size() > 0) {
      const group = queue.take()
      wanted -= group.length
      hasFailed = !(await queue.write(group))
      if (hasFailed) wanted = 0
    }
    writing = undefined
    if (queue.size() > 0) later()
  }

  const start = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    wanted = queue.size()
    return (writing ??= writeWanted())
  }

  function later(): void {
    timer ??= setTimeout(() => void start(), auditDelayMs).unref()
  }

  const note = (entry: AuditEntry): void => {
    queue.add({ entry })
    // While none can be written, each entry would else have all that wait sealed in vain.
    if (queue.size() >= bundleEntriesMax && !hasFailed) void start()
    else later()
  }
  const logins = makeLoginRefusals(note)

  const hasten = (): void => {
    if (queue.size() > 0) void start()
  }

  return {
    changeOf(entry) {
      hasten()
      return append(entry)
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
