/**
 * Lists sessions for their managers, newest first, as a walk. Source: contract section 12.
 *
 * Shows only sessions that are live, and never a key, a nonce or a digest of one.
 * decision: a stretch may hold fewer sessions than requested, as it skips those that ended with
 * their applications.
 * @module
 */
import { reserveRows, type Budgeted } from '../records/budgeted.ts'
import type { Caller } from '../rules/caller.ts'
import { printInstantUtc } from '../rules/instants.ts'
import { unsealCursor, sealCursor } from '../records/cursor.ts'
import { paceOf } from '../records/pace.ts'
import type { Row } from '../store/contract.ts'
import type { SessionDeps } from './session-deps.ts'
import {
  isUsable,
  unsealSession,
  sessionTenantTerm,
  type SessionRecord,
  findBacking,
} from './session-record.ts'

/** Cursors of this list are bound to this text. */
const question = JSON.stringify(['sessions'])

export interface SessionWalk {
  /** Cursor of the stretch before; empty at first. */
  readonly start: string
  /** Place of the cursor in the request. */
  readonly at: string
  readonly size: number
}

export interface ListedSessions {
  /** JSON texts. */
  readonly items: readonly string[]
  readonly next: string | undefined
}

const instantOf = (epochMs: number | undefined): string | undefined =>
  epochMs === undefined ? undefined : printInstantUtc(epochMs)

const printSession = ({ authorization, ...record }: SessionRecord): string =>
  JSON.stringify({
    id: record.id,
    tenant_id: record.tenantId,
    created_by: record.applicationId,
    created_at: instantOf(record.createdAtMs),
    authorized: authorization !== undefined,
    authorized_by: authorization?.authorizedBy,
    authorized_at: instantOf(authorization?.authorizedAtMs),
    expires_at: instantOf(record.expiresAtMs),
  })

/** @param pause is awaited before each, since it and both applications behind it may be long */
async function showStanding(
  deps: SessionDeps,
  rows: readonly Row[],
  pause: () => Promise<void> | undefined,
): Promise<readonly string[]> {
  const nowMs = deps.now()
  const texts: string[] = []
  for (const row of rows) {
    await pause()
    const { record } = unsealSession(deps.keys, row)
    const backing = isUsable(record, nowMs) ? await findBacking(deps, record) : undefined
    if (backing !== undefined) texts.push(printSession(record))
  }
  return texts
}

/** @throws ApiError `invalid_request` for a cursor that is not of this list; `overloaded` */
export async function listSessions(
  deps: SessionDeps,
  caller: Pick<Caller, 'tenantId' | 'applicationId' | 'credential'> & Budgeted,
  { start, at, size }: SessionWalk,
): Promise<ListedSessions> {
  const { store, keys, now, randomBytes } = deps
  const { tenantId } = caller
  const pause = paceOf(deps, caller)
  const scope = keys.tenant(tenantId)
  const before = start === '' ? {} : { before: unsealCursor(scope, question, start, at) }
  // One more than is shown tells whether there is a next stretch.
  const window = { offset: 0, limit: size + 1, nowMs: now(), uncounted: true, ...before } as const
  await pause()
  const { rows } = await store.page({ term: sessionTenantTerm(keys, tenantId) }, window)
  reserveRows(caller, rows)
  const shown = rows.slice(0, size)
  const last = rows.length > size ? shown.at(-1) : undefined
  const next = last && sealCursor(scope, randomBytes, question, last.ordinal)
  return { items: await showStanding(deps, shown, pause), next }
}
