/**
 * A webhook that the vault disables by itself: its receiver is gone, or has failed for days.
 * @module
 */
import type { Deps } from '../deps.ts'
import { sealWebhook, type DisabledBy, type StoredWebhook } from './webhook-record.ts'

/** @returns false if it was changed meanwhile: then nothing is written */
export async function disableWebhook(
  deps: Pick<Deps, 'store' | 'keys' | 'now' | 'randomBytes' | 'audit' | 'log'>,
  { row, record }: StoredWebhook,
  by: DisabledBy,
): Promise<boolean> {
  const { id, tenantId } = record
  const atMs = deps.now()
  const disabled = { ...record, status: 'disabled', disabledBy: by } as const
  const { ok } = await deps.store.write([
    {
      replace: sealWebhook(deps, disabled, row.version + 1),
      ordinal: row.ordinal,
      ifVersion: row.version,
    },
    deps.audit.changeOf({
      atMs,
      tenantId,
      actorType: 'vault',
      operation: 'webhookDisabled',
      entityType: 'webhook',
      entityIds: [id],
      result: 200,
    }),
    { bumpGeneration: true },
  ])
  if (ok) deps.log('webhook_disabled', { webhook: id, because: by })
  return ok
}
