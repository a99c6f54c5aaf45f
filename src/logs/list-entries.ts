/**
 * Lists entries of the audit log for their tenant, newest first. Source: contract sections 4, 17.
 * @module
 */
import type { PlacedEntry } from '../audit/bundle.ts'
import type { AuditEntry } from '../audit/entry.ts'
import type { EntryFilter } from '../audit/entry-filter.ts'
import { findBelow, findPage, type EntryReader, type TakeEntry } from '../audit/find-entries.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../lib/errors.ts'
import { listAnswerCharsMax } from '../limits/limits.ts'
import { logEntriesOpenedMax } from '../limits/work-limits.ts'
import { makeTextCount, type Budgeted } from '../records/budgeted.ts'
import { sealCursor, unsealCursor } from '../records/cursor.ts'
import { paceOf } from '../records/pace.ts'
import type { Caller } from '../rules/caller.ts'
import { printInstantUtc } from '../rules/instants.ts'

/** Names no id: it may be long, and may tell something. */
function messageOf({ operation, result, reason, count = 1 }: AuditEntry): string {
  const times = count === 1 ? '' : `, ${count} times`
  if (reason === 'replay') return `${operation} was answered again with ${result}${times}.`
  if (reason === undefined) return `${operation} was answered with ${result}${times}.`
  return `${operation} was refused with ${result}, ${reason}${times}.`
}

const printLogged = ({ sequence, entry }: PlacedEntry): string =>
  JSON.stringify({
    id: String(sequence),
    sequence,
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
    message: messageOf(entry),
    trace_id: entry.traceId,
    from: entry.from,
    count: entry.count,
    created_at: printInstantUtc(entry.atMs),
  })

/** Prints entries until they are too much for one answer, at least one of them. */
function printer(budgeted: Budgeted): { readonly items: string[]; readonly take: TakeEntry } {
  const items: string[] = []
  const counted = makeTextCount(budgeted)
  const take: TakeEntry = logged => {
    const text = printLogged(logged)
    if (counted.add(text) > listAnswerCharsMax && items.length > 0) return false
    counted.reserve()
    items.push(text)
    return true
  }
  return { items, take }
}

const readerFor = (deps: Deps, caller: Caller & Budgeted): EntryReader => ({
  ...deps,
  pause: paceOf(deps, caller),
})

/** JSON texts of the entries of a page, and how many match in all. */
export interface EntryPage {
  readonly items: readonly string[]
  readonly total: number
}

/** @throws ApiError `invalid_request` if too much would have to be opened, or would be answered */
export async function listLogPage(
  deps: Deps,
  caller: Caller & Budgeted,
  filter: EntryFilter,
  { page, size }: { readonly page: number; readonly size: number },
): Promise<EntryPage> {
  const { items, take } = printer(caller)
  const window = { offset: (page - 1) * size, limit: size }
  const found = await findPage(readerFor(deps, caller), filter, window, take)
  if ('total' in found) return { items, total: found.total }
  if (found.refused === 'room') {
    throw invalid(
      'query.size',
      `expected a smaller size: the answer would have more than ${listAnswerCharsMax} characters`,
    )
  }
  throw invalid(
    'query.start',
    `expected start instead of page, or further filters: a page would read more than ` +
      `${logEntriesOpenedMax} entries one by one`,
  )
}

interface LogWalk {
  /** Cursor of the stretch before; empty at first. */
  readonly start: string
  /** Place of the cursor in the request. */
  readonly at: string
  readonly size: number
}

/** `next` is the cursor of the stretch after this one, when there may be one. */
export interface EntryStretch {
  readonly items: readonly string[]
  readonly next: string | undefined
}

/** @throws ApiError `invalid_request` for a cursor that is not of this list */
export async function listLogStretch(
  deps: Deps,
  caller: Caller & Budgeted,
  filter: EntryFilter,
  { start, at, size }: LogWalk,
): Promise<EntryStretch> {
  const scope = deps.keys.tenant(filter.tenantId)
  const question = JSON.stringify(['logs', filter])
  const before = start === '' ? Infinity : unsealCursor(scope, question, start, at)
  const { items, take } = printer(caller)
  const next = await findBelow(readerFor(deps, caller), filter, { before, limit: size }, take)
  const isEnd = next === undefined || next === 0
  return { items, next: isEnd ? undefined : sealCursor(scope, deps.randomBytes, question, next) }
}
