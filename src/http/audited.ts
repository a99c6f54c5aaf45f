/**
 * Entries of the audit log for requests: one for each request of an operation, whether it was
 * answered or refused. Refusals without a live key share entries (`audit/login-refusals.ts`).
 *
 * A write brings its entry along; the setting `auditReads` says which reads, but for HEAD, are
 * entered before the answer leaves; all else is entered soon. So an entry says what was released,
 * not what was received: after a crash the log may tell of an answer that nobody got. It lacks no
 * write that landed and no read that waited for its entry, but may lack the newest of all else.
 * @module
 */
import type { AuditEntry } from '../audit/entry.ts'
import { keptId } from '../audit/entry.ts'
import type { ApiError } from '../lib/errors.ts'
import type { WriteAudit } from '../records/write-rows.ts'
import type { Transform } from '../rules/access.ts'
import { loggable } from '../rules/loggable.ts'
import type { Admission } from './admission.ts'
import type { Exchange } from './exchange.ts'
import { loggedName, type Operation, type Reply } from './operation.ts'
import { statusOf } from './problem.ts'

/** The kind of thing that an address is about, by its first segment that is no version. */
const entityTypes = {
  tokens: 'token',
  tokenize: 'token',
  detokenize: 'token',
  containers: 'token',
  applications: 'application',
  sessions: 'session',
  tenants: 'tenant',
  permissions: 'permission',
  logs: 'log',
  events: 'event',
  webhooks: 'webhook',
  access: 'access',
  status: 'status',
  expressions: 'expression',
} as const

/** The kinds of things that entries are about. */
export const entityTypeNames: readonly string[] = [...new Set(Object.values(entityTypes))]

const entityTypesByPath: Readonly<Record<string, string>> = entityTypes

const subjectOf = /^(?:\/v\d+)?\/([^/]+)/

const entityTypeOf = ({ path }: Operation): string | undefined =>
  entityTypesByPath[subjectOf.exec(path)?.[1] ?? '']

/** Returns the transform that showed most of any token. */
function transformOf({ shown, request }: Exchange): Transform | undefined {
  const { reveal, mask, redact } = shown.counts
  if (request.method === 'HEAD') return reveal + mask + redact > 0 ? 'redact' : undefined
  if (reveal > 0) return 'reveal'
  if (mask > 0) return 'mask'
  return redact > 0 ? 'redact' : undefined
}

function idsOf({ shown, params }: Exchange): readonly string[] {
  if (shown.ids.length > 0) return shown.ids
  return [params['id'], params['keyId']].flatMap(id => (id === undefined ? [] : [keptId(id)]))
}

type Ended = Pick<AuditEntry, 'result' | 'reason'> & { readonly ids?: readonly string[] }

function entryOf(
  { deps }: Pick<Admission, 'deps'>,
  operation: Operation,
  x: Exchange,
  { result, reason, ids = idsOf(x) }: Ended,
): AuditEntry {
  const { caller } = x
  const isRefused = reason !== undefined && reason !== 'replay'
  const permission = isRefused ? undefined : operation.permission
  return {
    atMs: deps.now(),
    tenantId: caller?.tenantId,
    actorId: caller?.applicationId,
    actorType: caller?.type,
    keyId: caller?.keyId,
    sessionId: caller?.sessionId,
    operation: loggedName(operation, x.query),
    entityType: entityTypeOf(operation),
    entityIds: ids,
    transform: isRefused && !x.shown.isTold ? undefined : transformOf(x),
    rule: reason === 'forbidden' ? 'none' : (x.shown.rule ?? permission),
    result,
    reason,
    statedReason: x.statedReason,
    searched: x.shown.searched,
    traceId: x.isTraceMade ? x.traceId : loggable(x.traceId),
    from: x.clientAddress,
  }
}

/** The entry of a write, which lands with it. */
export const auditOfWrite = (
  admission: Admission,
  operation: Operation,
  x: Exchange,
): WriteAudit => ({
  changeOf: ids =>
    admission.deps.audit.changeOf(
      entryOf(admission, operation, x, {
        result: operation.success.status,
        ids: ids.length > 0 ? ids : idsOf(x),
      }),
    ),
  landed() {
    x.isAudited = true
  },
})

const isAwaited = ({ settings }: Admission['deps'], { counts }: Exchange['shown']): boolean => {
  if (settings.auditReads === 'durable') return true
  return settings.auditReads === 'reveals' && counts.reveal > 0
}

/**
 * Enters an answer, unless its write has.
 * @returns a promise if the answer must wait for it, which rejects if nothing can be entered
 */
export function auditReply(
  admission: Admission,
  operation: Operation,
  x: Exchange,
  { status, isReplay }: Reply,
): Promise<void> | undefined {
  if (x.isAudited) return undefined
  const { audit } = admission.deps
  const reason = isReplay === true ? 'replay' : undefined
  const entry = entryOf(admission, operation, x, { result: status, reason })
  if (x.request.method === 'HEAD' || !isAwaited(admission.deps, x.shown)) {
    audit.note(entry)
    x.isAudited = true
    return undefined
  }
  return audit.record(entry).then(() => {
    x.isAudited = true
  })
}

/**
 * Enters a refusal, unless a write that landed before it has its entry.
 * @returns as `auditReply`, for a refusal that tells of data
 */
export function auditRefusal(
  admission: Admission,
  x: Exchange,
  { kind }: ApiError,
): Promise<void> | undefined {
  const { operation, shown } = x
  if (operation === undefined || x.isAudited) return undefined
  x.isAudited = true
  const { audit } = admission.deps
  const entry = entryOf(admission, operation, x, { result: statusOf(kind), reason: kind })
  if (shown.isTold && isAwaited(admission.deps, shown)) return audit.record(entry)
  if (x.caller === undefined) audit.noteLogin(entry)
  else audit.note(entry)
  return undefined
}
