/**
 * From a create request to a plan: a token that is checked and complete but for its id.
 *
 * Source: spec, "Token create request fields"; contract section 5 for the defaults.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { parseFutureInstant } from '../../rules/instants.ts'
import { tokenTypeNames, tokenTypeOf } from '../../rules/token-types.ts'
import { invalid } from '../../errors.ts'
import { andThen, type MaybeLater } from '../../maybe-later.ts'
import { composeToken, type Composed, type Draft } from './compose.ts'
import { idSourceOf, type IdSource } from './id-source.ts'
import type { CreateTokenBody } from '../schema.ts'
import type { Work } from '../read/work.ts'

export interface Plan {
  readonly composed: Composed
  readonly drawId: IdSource
  /** The answer is the id, not the token: for values that came without a request around them. */
  readonly isBare: boolean
  /** Whether the request names its id, or how it follows from the data. */
  readonly choosesId: boolean
  /** Of the request that it came with. */
  readonly work: Work
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
    deduplicates: body.deduplicate_token === true,
  }
}

/** @throws ApiError `invalid_request` with the path of what is wrong */
export function planToken(
  deps: Deps,
  tenantId: string,
  body: CreateTokenBody,
  work: Work,
  isBare = false,
): MaybeLater<Plan> {
  const draft = draftOf(deps, body)
  const choosesId = typeof body.id === 'string'
  const composing = composeToken(deps.keys.tenant(tenantId), deps.settings, draft, work)
  return andThen(composing, composed =>
    andThen(work.pause(), () => {
      const drawId = idSourceOf(deps, body.id, draft.type, composed.data, work.meter)
      return { composed, drawId, isBare, choosesId, work }
    }),
  )
}
