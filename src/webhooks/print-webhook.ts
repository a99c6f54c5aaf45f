/**
 * A webhook as it is shown.
 * @module
 */
import { printInstantUtc } from '../rules/instants.ts'
import type { WebhookRecord } from './webhook-record.ts'

/** Path and query may hold a secret of the receiver: many services know their callers by those. */
const withoutPath = (url: string): string => url.replace(/^(https:\/\/[^/?]*).*$/i, '$1/')

/** Returns its JSON text. @param secret only right after it was made */
export const printWebhook = (record: WebhookRecord, isUrlWhole: boolean, secret?: string): string =>
  JSON.stringify({
    id: record.id,
    tenant_id: record.tenantId,
    status: record.status,
    disabled_by: record.disabledBy,
    name: record.name,
    url: isUrlWhole ? record.url : withoutPath(record.url),
    notify_email: record.notifyEmail,
    events: record.events,
    secret,
    created_by: record.createdBy,
    created_at: printInstantUtc(record.createdAtMs),
    modified_by: record.modifiedBy,
    modified_at:
      record.modifiedAtMs === undefined ? undefined : printInstantUtc(record.modifiedAtMs),
  })
