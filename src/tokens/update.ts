/**
 * Changing a token: RFC 7386 on data, mask and metadata, replacement of the rest.
 *
 * The read, the merge and the write are repeated until the write lands on what was read, so that
 * no concurrent update is lost. Source: spec, "Update token"; contract section 9.
 * @module
 */
import type { Deps } from '../deps.ts'
import { atMostMask, decideTransform } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import { parseFutureInstant } from '../domain/instants.ts'
import type { Json } from '../domain/json.ts'
import { parseJson } from '../domain/json-parse.ts'
import { mergePatch } from '../domain/merge-patch.ts'
import { tokenTypeOf } from '../domain/token-types.ts'
import { ApiError, invalid, invariant } from '../errors.ts'
import { untilWritten, writeAs } from '../records/write.ts'
import { composeToken, type Draft } from './compose.ts'
import { loadToken, type LoadedToken } from './load.ts'
import type { TokenChanges } from './model.ts'
import { openData, sealToken, type TokenRecord } from './record.ts'
import { viewWritten } from './view.ts'

/** `null` clears, absent keeps, anything else is merged into what stands. */
function mergeOptional(standing: string | undefined, patch: Json | undefined): Json | undefined {
  const target = standing === undefined ? undefined : parseJson(standing)
  if (patch === undefined) return target
  return patch === null ? undefined : mergePatch(target, patch)
}

function expiryOf(deps: Deps, record: TokenRecord, body: TokenChanges): Draft['expiresAt'] {
  const { expires_at: expires } = body
  if (expires === undefined) return record.expiresAt
  return expires === null ? undefined : parseFutureInstant(expires, 'expires_at', deps.now())
}

function draftOf(deps: Deps, caller: Caller, token: LoadedToken, body: TokenChanges): Draft {
  const { record, row } = token
  const type = tokenTypeOf(record.type)
  invariant(type !== undefined, 'a stored token has a known type')
  if (body.data === null) throw invalid('data', 'expected a value: data cannot be removed')
  if (body.containers === null) throw invalid('containers', 'expected a list with one container')
  const data = parseJson(openData(deps.keys, caller.tenantId, row))
  const { search_indexes: indexes, fingerprint_expression: expression } = body
  return {
    type,
    data: body.data === undefined ? data : mergePatch(data, body.data),
    mask: mergeOptional(record.maskText, body.mask),
    metadata: mergeOptional(record.metadataText, body.metadata),
    containers: body.containers ?? record.containers,
    searchIndexes: indexes === undefined ? record.searchIndexes : (indexes ?? []),
    fingerprintExpression:
      expression === undefined
        ? record.fingerprintExpression
        : (expression ?? type.defaultFingerprintExpression),
    expiresAt: expiryOf(deps, record, body),
  }
}

interface Decided {
  readonly record: TokenRecord
  readonly replacement: ReturnType<typeof sealToken>
  readonly dataText: string
}

function decide(deps: Deps, caller: Caller, token: LoadedToken, body: TokenChanges): Decided {
  const { tenantId } = caller
  const composed = composeToken(deps.keys.tenant(tenantId), draftOf(deps, caller, token, body))
  const { id, createdBy, createdAtMs } = token.record
  const record: TokenRecord = {
    id,
    ...composed.record,
    createdBy,
    createdAtMs,
    modifiedBy: caller.applicationId,
    modifiedAtMs: deps.now(),
  }
  if (decideTransform(caller.grants, 'token:update', record) === undefined) {
    throw new ApiError('forbidden', 'expected a container that a rule with token:update covers')
  }
  const version = token.row.version + 1
  const replacement = sealToken(deps, tenantId, record, composed.contents, version)
  return { record, replacement, dataText: composed.contents.dataText }
}

/** @returns the JSON text of the changed token */
export const updateToken = (
  deps: Deps,
  caller: Caller,
  id: string,
  body: TokenChanges,
): Promise<string> =>
  untilWritten(async () => {
    const token = await loadToken(deps, caller, 'token:update', id)
    const { record, replacement, dataText } = decide(deps, caller, token, body)
    const { ordinal, version } = token.row
    const change = { replace: replacement, ordinal, ifVersion: version }
    if (!(await writeAs(deps.store, caller.credential, [change]))) return undefined
    return { result: viewWritten(record, caller.tenantId, atMostMask(token.transform), dataText) }
  })
