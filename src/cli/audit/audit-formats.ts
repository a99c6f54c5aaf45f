/**
 * Entries of the audit log as other programs read them.
 * @module
 */
import type { LoggedEntry } from '../../audit/bundle.ts'
import type { AuditEntry } from '../../audit/entry.ts'
import { version } from '../../lib/version.ts'
import { entryLine } from './audit-file.ts'

export const auditFormats = ['jsonl', 'ocsf', 'cef'] as const
export type AuditFormat = (typeof auditFormats)[number]

/*
 * OCSF 1.3: class 6003, API Activity.
 */

const activities: readonly (readonly [RegExp, number, string])[] = [
  [/^(?:create|tokenize)/, 1, 'Create'],
  [/^(?:get|list|search|detokenize)/, 2, 'Read'],
  [/^(?:update|replace|patch|regenerate|rename|authorize|add)/, 3, 'Update'],
  [/^(?:delete|remove|end|tokenExpired)/, 4, 'Delete'],
]
const otherActivity = [99, 'Other'] as const

function activityOf(operation: string): readonly [number, string] {
  const found = activities.find(([pattern]) => pattern.test(operation))
  return found === undefined ? otherActivity : [found[1], found[2]]
}

const classId = 6_003
const isFailed = ({ result }: AuditEntry): boolean => result >= 400

/** The schema asks for an actor and for an endpoint with at least one attribute each. */
function actorOf({ actorId, actorType, keyId, sessionId }: AuditEntry): object {
  return {
    app_uid: actorId,
    app_name: actorType ?? 'unknown',
    session: sessionId === undefined ? undefined : { uid: sessionId },
    user: keyId && { uid: actorId ?? keyId, credential_uid: keyId, type_id: 99, type: 'API key' },
  }
}

function ocsfOf({ entry, sequence }: LoggedEntry): object {
  const [activity, name] = activityOf(entry.operation)
  const failed = isFailed(entry)
  return {
    class_uid: classId,
    class_name: 'API Activity',
    category_uid: 6,
    category_name: 'Application Activity',
    activity_id: activity,
    activity_name: name,
    type_uid: classId * 100 + activity,
    time: entry.atMs,
    severity_id: 1,
    status_id: failed ? 2 : 1,
    status_code: String(entry.result),
    status_detail: entry.reason,
    count: entry.count,
    metadata: {
      version: '1.3.0',
      product: { name: 'Coffer', vendor_name: 'Coffer', version },
      sequence,
      correlation_uid: entry.traceId,
      tenant_uid: entry.tenantId,
    },
    actor: actorOf(entry),
    api: { operation: entry.operation, response: { code: entry.result, error: entry.reason } },
    src_endpoint: entry.from === undefined ? { name: 'local' } : { ip: entry.from },
    resources: entry.entityIds.map(uid => ({
      uid,
      type: entry.entityType,
      data: { transform: entry.transform, rule: entry.rule },
    })),
    ...(entry.statedReason === undefined && entry.searched === undefined
      ? {}
      : { unmapped: { stated_reason: entry.statedReason, searched: entry.searched } }),
  }
}

/*
 * ArcSight Common Event Format, version 0.
 */

const inHead = (text: string): string => text.replaceAll(/[\\|]/g, '\\$&').replaceAll('\n', ' ')

const inExtension = (text: string): string =>
  text.replaceAll(/[\\=]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')

function cefOf({ entry, sequence }: LoggedEntry): string {
  const failed = isFailed(entry)
  const head = ['CEF:0', 'Coffer', 'Coffer', version, entry.operation, entry.operation]
  const fields: Readonly<Record<string, string | number | undefined>> = {
    rt: entry.atMs,
    externalId: sequence,
    outcome: failed ? 'failure' : 'success',
    reason: entry.reason,
    src: entry.from,
    suid: entry.actorId,
    spriv: entry.actorType,
    cnt: entry.count,
    cs1Label: 'entity',
    cs1: entry.entityIds.join(',') || undefined,
    cs2Label: 'rule',
    cs2: entry.rule,
    cs3Label: 'transform',
    cs3: entry.transform,
    cs4Label: 'trace',
    cs4: entry.traceId,
    cs5Label: 'key',
    cs5: entry.keyId,
    cs6Label: 'tenant',
    cs6: entry.tenantId,
    flexString1Label: 'stated reason',
    flexString1: entry.statedReason,
    flexString2Label: 'searched',
    flexString2: entry.searched?.join(','),
    cn1Label: 'status',
    cn1: entry.result,
  }
  const isTold = (name: string): boolean =>
    fields[name.endsWith('Label') ? name.slice(0, -'Label'.length) : name] !== undefined
  const extension = Object.entries(fields)
    .filter(([name]) => isTold(name))
    .map(([name, value]) => `${name}=${inExtension(String(value))}`)
  const severity = failed ? 5 : 1
  return `${[...head.map(inHead), severity].join('|')}|${extension.join(' ')}`
}

/** The line of an entry in a format. */
export const lineIn = (format: AuditFormat, entry: LoggedEntry): string => {
  if (format === 'ocsf') return JSON.stringify(ocsfOf(entry))
  return format === 'cef' ? cefOf(entry) : entryLine(entry)
}
