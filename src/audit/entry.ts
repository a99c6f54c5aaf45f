/**
 * Entries of the audit log: what was asked, by whom, of what, and what was decided.
 *
 * An entry never holds data, masks, metadata, names, keys, fingerprints or the text of a query. Its
 * ids and its stated reason are a caller's choice, so entries are sealed like everything else.
 * @module
 */
import type { ErrorKind } from '../lib/errors.ts'
import { entityIdCharsMax } from '../limits/work-limits.ts'
import type { Transform } from '../rules/access.ts'
import type { CallerType } from '../rules/permissions.ts'

/** `operator`: a holder of the master key. `vault`: the vault by itself, as for what expired. */
export type ActorType = CallerType | 'operator' | 'vault'

export interface AuditEntry {
  /** Unix milliseconds by the clock of the vault. */
  readonly atMs: number
  /** Absent for what concerns the installation, and where no live key was recognized. */
  readonly tenantId?: string | undefined
  readonly actorId?: string | undefined
  readonly actorType?: ActorType | undefined
  readonly keyId?: string | undefined
  readonly sessionId?: string | undefined
  /** Name of the operation, as generated clients call it. */
  readonly operation: string
  /** Kind of the things whose ids follow, such as `token`. */
  readonly entityType?: string | undefined
  /** At most as many as a bulk operation has items. */
  readonly entityIds: readonly string[]
  /** The transform that showed most of any of them. */
  readonly transform?: Transform | undefined
  /** Name of what decided: `rule 0` by its place in order, the plain permission, or `none`. */
  readonly rule?: string | undefined
  /** HTTP status of the answer. */
  readonly result: number
  /** Kind of the error, or `replay` for an answer that repeats an earlier effect. */
  readonly reason?: ErrorKind | 'replay' | undefined
  /** As the caller has stated it; absent in entries of coffers that took none. */
  readonly statedReason?: string | undefined
  /** Fields that a search asked for, or `*`; absent in entries of coffers that kept none. */
  readonly searched?: readonly string[] | undefined
  readonly traceId?: string | undefined
  /** Client address; absent by a socket of the file system. */
  readonly from?: string | undefined
  /** Number of equal events that this entry stands for; absent: 1. */
  readonly count?: number | undefined
}

/**
 * True if entries differ in instant, status, ids, stated reason, searched fields, trace, address
 * and count alone, as those of one caller mostly do.
 */
export const isAlike = (a: AuditEntry, b: AuditEntry): boolean =>
  a.tenantId === b.tenantId &&
  a.actorId === b.actorId &&
  a.actorType === b.actorType &&
  a.keyId === b.keyId &&
  a.sessionId === b.sessionId &&
  a.operation === b.operation &&
  a.entityType === b.entityType &&
  a.transform === b.transform &&
  a.rule === b.rule &&
  a.reason === b.reason

/** An id as an entry keeps it: a longer one is no id of a token, and a lone surrogate no text. */
export const keptId = (id: string): string => id.slice(0, entityIdCharsMax).toWellFormed()

let secondMs = Number.NaN
let secondText = ''

/** As `Date.toISOString`, which would take as long as all else of an entry. */
function instantOf(atMs: number): string {
  const ms = ((atMs % 1_000) + 1_000) % 1_000
  if (atMs - ms !== secondMs) {
    secondMs = atMs - ms
    secondText = new Date(secondMs).toISOString().slice(0, -4)
  }
  return `${secondText}${String(ms).padStart(3, '0')}Z`
}

/**
 * Returns the exact text of an entry that is hashed and exported: JSON in one line, its members in
 * this order, absent ones left out. Its sequence is its place in the log and no part of it.
 */
export const printEntry = (entry: AuditEntry): string =>
  JSON.stringify({
    at: instantOf(entry.atMs),
    tenant_id: entry.tenantId,
    actor_id: entry.actorId,
    actor_type: entry.actorType,
    key_id: entry.keyId,
    session_id: entry.sessionId,
    operation: entry.operation,
    entity_type: entry.entityType,
    entity_id: entry.entityIds.length === 1 ? entry.entityIds[0] : undefined,
    entity_ids: entry.entityIds.length > 1 ? entry.entityIds : undefined,
    transform: entry.transform,
    rule: entry.rule,
    result: entry.result,
    reason: entry.reason,
    stated_reason: entry.statedReason,
    searched: entry.searched,
    trace_id: entry.traceId,
    from: entry.from,
    count: entry.count === 1 ? undefined : entry.count,
  })
