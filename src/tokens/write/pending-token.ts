/**
 * A new token on its way into the store: pending once it is composed from a request, identified
 * once it has an id, sealed once it has a row. If its id is found taken, it is pending again.
 *
 * Source: contract sections 5 to 8.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { parseFutureInstant } from '../../rules/instants.ts'
import type { Transform } from '../../rules/access.ts'
import { assertMemberNames } from '../../rules/member-names.ts'
import { tokenTypeNames, tokenTypeOf } from '../../rules/token-types.ts'
import { type ApiError, invalid } from '../../lib/errors.ts'
import { expectedOneOf } from '../../lib/spelling.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'
import type { PacedWork } from '../../lib/work.ts'
import type { NewRow } from '../../store/contract.ts'
import { codeEndOf, sealCode, type SealedCode } from '../code.ts'
import type { WrittenData } from '../read/view.ts'
import type { CreateTokenBody } from '../schema.ts'
import { defaultTokenId } from '../token-id.ts'
import type { TokenRecord } from '../token-record.ts'
import { composeToken, type Composed, type Draft } from './compose.ts'
import type { CreateAnswer } from './create-answer.ts'
import { idSourceOf, type IdSource } from './id-source.ts'

export interface IdentifiedToken {
  readonly record: TokenRecord
  readonly transform: Transform
}

/** A token with its row and its answer. */
export interface SealedToken extends IdentifiedToken {
  readonly row: NewRow
  readonly written: WrittenData
  readonly answer: CreateAnswer
}

/** A token that is complete but for its id, and how far attempts to write it have come. */
export interface PendingToken {
  readonly composed: Composed
  /** Its code, sealed once: it does not depend on the id. */
  readonly code: SealedCode | undefined
  readonly drawId: IdSource
  /** True if the answer is the id alone: its value came without a request around it. */
  readonly isBare: boolean
  /** True if the request names the id, or an expression that gives it. */
  readonly choosesId: boolean
  /** Shared by all tokens of one request. */
  readonly work: PacedWork
  /** Unix milliseconds until which its fingerprint is hidden. */
  fingerprintHiddenUntilMs: number | undefined
  /** Number of times that its id was found taken. */
  collisions: number
  /** Under the id that was drawn last; absent once that is taken. */
  identified: IdentifiedToken | undefined
  /** Absent once its id is taken; each attempt makes it anew if the token deduplicates. */
  sealed: SealedToken | undefined
  /** Once refused, it is not decided anew. */
  refused: ApiError | undefined
}

/** An absent mask is the type's default; `null` is no mask (contract section 5). */
export function draftOf(deps: Deps, body: CreateTokenBody): Draft {
  const type = tokenTypeOf(body.type)
  if (type === undefined) throw invalid('type', expectedOneOf(body.type, tokenTypeNames))
  if (body.data === undefined || body.data === null) throw invalid('data', 'is required')
  assertMemberNames(type.name, body.data, 'data')
  const { expires_at: expires } = body
  const nowMs = deps.now()
  return {
    type,
    nowMs,
    data: body.data,
    mask: body.mask === undefined ? type.defaultMask : (body.mask ?? undefined),
    metadata: body.metadata,
    containers: body.containers ?? [type.defaultContainer],
    searchIndexes: body.search_indexes ?? type.defaultSearchIndexes,
    fingerprintExpression: body.fingerprint_expression ?? type.defaultFingerprintExpression,
    expiresAt:
      typeof expires === 'string' ? parseFutureInstant(expires, 'expires_at', nowMs) : undefined,
    deduplicates: body.deduplicate_token === true,
    codeEndsAtMs: codeEndOf(deps, type, nowMs),
  }
}

export function drawIdOf(
  deps: Deps,
  tenantId: string,
  { id }: CreateTokenBody,
  { type }: Draft,
  { written }: Composed,
  { meter }: PacedWork,
): IdSource {
  const byDefault = () => ({ id: defaultTokenId(deps, tenantId), isDefault: true })
  if (typeof id !== 'string') return byDefault
  return idSourceOf(deps, byDefault, id, type, written.data, meter)
}

/** @throws ApiError `invalid_request` with the path of what is wrong */
export function pendingTokenOf(
  deps: Deps,
  tenantId: string,
  body: CreateTokenBody,
  work: PacedWork,
  { isBare }: Pick<PendingToken, 'isBare'> = { isBare: false },
): MaybeLater<PendingToken> {
  const draft = draftOf(deps, body)
  const composing = composeToken(deps.keys.tenant(tenantId), deps.settings, draft, work)
  const sealing = andThen(composing, composed =>
    andThen(composed.code && sealCode(deps, tenantId, composed.code), code => ({ composed, code })),
  )
  return andThen(sealing, ({ composed, code }) =>
    andThen(work.pause(), () => ({
      composed,
      code,
      drawId: drawIdOf(deps, tenantId, body, draft, composed, work),
      isBare,
      choosesId: typeof body.id === 'string',
      work,
      fingerprintHiddenUntilMs: undefined,
      collisions: 0,
      identified: undefined,
      sealed: undefined,
      refused: undefined,
    })),
  )
}
