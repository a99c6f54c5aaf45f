/**
 * Ends every API key and every session of a vault that is restored from a backup and not served:
 * credentials that were revoked after the backup are live in it again. Webhooks are disabled: those
 * that were deleted since would get events as soon as it is served.
 *
 * Applications stay with their grants and rules but without a key, so that each can be given a new
 * one. Kept answers to idempotency keys stay as well: they hold no key (contract section 1).
 * @module
 */
import { heldKeys } from '../../applications/api-keys.ts'
import { unsealApplication } from '../../applications/application-record.ts'
import {
  composeManager,
  replacement,
  type NewApplication,
} from '../../applications/application-service.ts'
import type { Deps } from '../../deps.ts'
import { attempt, invariant } from '../../lib/errors.ts'
import { stepsOf } from '../keyring/reseal.ts'
import { tenantsMax } from '../../limits/operation-limits.ts'
import type { ReportDone } from '../../lib/progress.ts'
import { unsealSession } from '../../sessions/session-record.ts'
import type { Change, Row } from '../../store/contract.ts'
import { listTenants } from '../../tenants/tenant-record.ts'
import { sealWebhook, unsealWebhook } from '../../webhooks/webhook-record.ts'
import { nobody } from './operator.ts'
import { removalOf } from '../../records/read-row.ts'

type Revoking = Pick<Deps, 'store' | 'keys' | 'randomBytes' | 'now'>

interface RevokedCounts {
  readonly keys: number
  readonly sessions: number
  /** Number of those that were enabled. */
  readonly webhooks: number
}

/** Numbers of ended credentials and disabled webhooks, and the keys that were made. */
export interface Revoked extends RevokedCounts {
  /** One for each tenant. */
  readonly managers: readonly NewApplication[]
}

interface Ending extends Partial<RevokedCounts> {
  readonly change: Change
}

/** A head and one value, as applications, sessions and webhooks have; tokens have more. */
const partsOfRecord = 2

function disablingOf(deps: Revoking, row: Row): Ending | undefined {
  const { record } = attempt(() => unsealWebhook(deps.keys, row)) ?? {}
  if (record?.status !== 'enabled') return undefined
  const modified = { modifiedBy: nobody, modifiedAtMs: deps.now() }
  const replace = sealWebhook(deps, { ...record, ...modified, status: 'disabled' }, row.version + 1)
  return { webhooks: 1, change: { replace, ordinal: row.ordinal, ifVersion: row.version } }
}

/**
 * @returns `undefined` for a row that is neither an application with a key, nor a session, nor a
 *   webhook that is enabled
 */
function endingOf(deps: Revoking, row: Row): Ending | undefined {
  if (row.parts.length !== partsOfRecord) return undefined
  const stored = attempt(() => unsealApplication(deps.keys, row))
  if (stored !== undefined) {
    const keys = heldKeys(row, stored.record).length
    const record = { ...stored.record, modifiedBy: nobody, modifiedAtMs: deps.now() }
    const change = replacement(deps, stored, record, [])
    return keys === 0 ? undefined : { keys, change }
  }
  const isSession = attempt(() => unsealSession(deps.keys, row)) !== undefined
  return isSession ? { sessions: 1, change: removalOf(row) } : disablingOf(deps, row)
}

async function land({ store }: Revoking, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  const { ok } = await store.write(changes)
  invariant(ok, 'nobody else writes to a vault whose keys are all revoked')
}

/** Adds to each tenant a management application with every permission of its type. */
async function addManagers(deps: Revoking): Promise<readonly NewApplication[]> {
  const tenants = await listTenants(deps.store, deps.keys, tenantsMax)
  const name = 'Management application of a restore'
  const made = tenants.map(({ id }) => composeManager(deps, id, nobody, name))
  await land(deps, [...made.map(({ row: insert }) => ({ insert })), { bumpGeneration: true }])
  return made
}

/**
 * If cut off, only some keys are revoked: the restored vault counts only after this.
 * @param onRow called with the ordinals of rows that were looked at
 * @throws ApiError `storage_full`, or as the store
 */
export async function revokeEverything(deps: Revoking, onRow: ReportDone): Promise<Revoked> {
  const sum = { keys: 0, sessions: 0, webhooks: 0 }
  for await (const rows of stepsOf(deps.store)) {
    const endings = rows.flatMap(row => endingOf(deps, row) ?? [])
    await land(
      deps,
      endings.map(({ change }) => change),
    )
    for (const { keys = 0, sessions = 0, webhooks = 0 } of endings) {
      sum.keys += keys
      sum.sessions += sessions
      sum.webhooks += webhooks
    }
    onRow(rows.at(-1)?.ordinal ?? 0)
  }
  return { ...sum, managers: await addManagers(deps) }
}
