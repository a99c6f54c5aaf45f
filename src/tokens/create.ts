/**
 * Creating a token. Source: spec, "Create token"; contract sections 5 to 8.
 *
 * @module
 */
import { uuidOf } from '../bytes.ts'
import type { Deps } from '../deps.ts'
import { atMostMask, decideTransform } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import { parseFutureInstant } from '../domain/instants.ts'
import { assertTokenId } from '../domain/token-ids.ts'
import { tokenTypeNames, tokenTypeOf } from '../domain/token-types.ts'
import { ApiError, invalid } from '../errors.ts'
import { untilWritten, writeAs } from '../records/write.ts'
import type { Change, NewRow } from '../store/contract.ts'
import { composeToken, type Draft } from './compose.ts'
import type { CreateTokenBody } from './model.ts'
import { isExpired, sealToken, type TokenRecord } from './record.ts'
import { viewWritten } from './view.ts'

export interface CreatedToken {
  readonly id: string
  readonly json: string
}

/** An absent mask is the type's default; `null` is no mask (contract section 5). */
function draftOf(deps: Deps, body: CreateTokenBody): Draft {
  const type = tokenTypeOf(body.type)
  if (type === undefined) throw invalid('type', `expected one of ${tokenTypeNames.join(', ')}`)
  if (body.data === undefined || body.data === null) throw invalid('data', 'is required')
  const { expires_at: expires } = body
  return {
    type,
    data: body.data,
    mask: body.mask === undefined ? type.defaultMask : (body.mask ?? undefined),
    metadata: body.metadata,
    containers: body.containers ?? [type.defaultContainer],
    searchIndexes: body.search_indexes ?? type.defaultSearchIndexes,
    fingerprintExpression: body.fingerprint_expression ?? type.defaultFingerprintExpression,
    expiresAt:
      typeof expires === 'string'
        ? parseFutureInstant(expires, 'expires_at', deps.now())
        : undefined,
  }
}

/** When an expired token still holds the id, it leaves in the same write. */
const insertToken = (deps: Deps, caller: Caller, row: NewRow): Promise<void> => {
  let leaving: Change[] = []
  return untilWritten(async () => {
    const landed = await writeAs(deps.store, caller.credential, [...leaving, { insert: row }])
    if (landed) return { result: undefined }
    leaving = await expiredHolder(deps, row)
    return undefined
  })
}

/** @throws ApiError `conflict` when a live token holds the id */
async function expiredHolder(deps: Deps, row: NewRow): Promise<Change[]> {
  const [unique] = row.uniques
  const holder = unique === undefined ? undefined : await deps.store.find(unique)
  if (holder === undefined) return []
  if (!isExpired(holder, deps.now())) throw new ApiError('conflict', 'A token with this id exists.')
  return [{ remove: holder.ordinal, ifVersion: holder.version }]
}

function idOf(deps: Deps, body: CreateTokenBody): string {
  if (body.id === undefined || body.id === null) return uuidOf(deps.randomBytes(16))
  assertTokenId(body.id, 'id')
  return body.id
}

/**
 * @throws ApiError `invalid_request`, `forbidden` for a container that no rule covers, `conflict`
 * for an id that is taken
 */
export async function createToken(
  deps: Deps,
  caller: Caller,
  body: CreateTokenBody,
): Promise<CreatedToken> {
  const { tenantId } = caller
  const composed = composeToken(deps.keys.tenant(tenantId), draftOf(deps, body))
  const record: TokenRecord = {
    id: idOf(deps, body),
    ...composed.record,
    createdBy: caller.applicationId,
    createdAtMs: deps.now(),
  }
  const transform = decideTransform(caller.grants, 'token:create', record)
  if (transform === undefined) {
    throw new ApiError('forbidden', 'expected a container that a rule with token:create covers')
  }
  await insertToken(deps, caller, sealToken(deps, tenantId, record, composed.contents, 1))
  const { dataText } = composed.contents
  return { id: record.id, json: viewWritten(record, tenantId, atMostMask(transform), dataText) }
}
