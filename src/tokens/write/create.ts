/**
 * Creating a token: from a request to a plan, a token that is checked and complete but for its id,
 * and from a plan to a row.
 *
 * Source: spec, "Create token" and "Token create request fields"; contract sections 5 to 8.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { parseFutureInstant } from '../../rules/instants.ts'
import { assertMemberNames } from '../../rules/member-names.ts'
import { tokenTypeNames, tokenTypeOf } from '../../rules/token-types.ts'
import { invalid } from '../../lib/errors.ts'
import { expectedOneOf } from '../../lib/spelling.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'
import { makeWork, type PacedWork } from '../../lib/work.ts'
import { codeEndOf, sealCode } from '../code.ts'
import { composeToken, type Draft } from './compose.ts'
import { idSourceOf } from './id-source.ts'
import type { CreateTokenBody } from '../schema.ts'
import { untilWritten, writeAs } from '../../records/write-rows.ts'
import type { Budgeted } from '../../records/budgeted.ts'
import type { Change } from '../../store/contract.ts'
import { placeFingerprints, spendCreates } from '../find/guesses.ts'
import { visibleTokensOf } from '../find/visibility.ts'
import {
  candidateOf,
  changesOfOthers,
  clearWay,
  decide,
  type CreateAnswer,
  type PendingToken,
  type EarlierTokens,
  type TokenPlan,
} from './decide-token.ts'
import { itemOf } from './replay.ts'
import { defaultTokenId } from '../token-id.ts'

/** An absent mask is the type's default; `null` is no mask (contract section 5). */
function draftOf(deps: Deps, body: CreateTokenBody): Draft {
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

/** @throws ApiError `invalid_request` with the path of what is wrong */
export function planToken(
  deps: Deps,
  tenantId: string,
  body: CreateTokenBody,
  work: PacedWork,
  isBare = false,
): MaybeLater<TokenPlan> {
  const draft = draftOf(deps, body)
  const { id } = body
  const choosesId = typeof id === 'string'
  const composing = composeToken(deps.keys.tenant(tenantId), deps.settings, draft, work)
  const sealing = andThen(composing, composed =>
    andThen(composed.code && sealCode(deps, tenantId, composed.code), code => ({ composed, code })),
  )
  return andThen(sealing, ({ composed, code }) =>
    andThen(work.pause(), () => {
      const byDefault = () => ({ id: defaultTokenId(deps, tenantId), isDefault: true })
      const drawId =
        typeof id === 'string'
          ? idSourceOf(deps, byDefault, id, draft.type, composed.written.data, work.meter)
          : byDefault
      return { composed, code, drawId, isBare, choosesId, work }
    }),
  )
}

const nothing = (deps: Deps, caller: Caller): EarlierTokens => ({
  hasId: () => false,
  equalOf: () => undefined,
  reach: () => visibleTokensOf(deps, caller),
})

/** @throws ApiError as `createToken` */
function insertToken(
  deps: Deps,
  caller: Caller & Budgeted,
  candidate: PendingToken,
): Promise<CreateAnswer> {
  const countTaken = spendCreates(deps, caller, [candidate.plan])
  let leaving: ReadonlyMap<number, Change> = new Map()
  return untilWritten(async () => {
    const deciding = decide(deps, caller, candidate, nothing(deps, caller))
    const decision = deciding instanceof Promise ? await deciding : deciding
    if (decision.kind === 'refused') {
      if (decision.error.kind === 'conflict') countTaken(1)
      throw decision.error
    }
    const isNew = decision.kind === 'new'
    if (isNew && decision.isLate) return undefined
    const answer = isNew ? decision.made.answer : decision.answer
    caller.room?.needs(answer.json.length)
    const changes = isNew
      ? [...changesOfOthers(decision.changes, leaving), { insert: decision.made.row }]
      : []
    const landed = await writeAs(deps.store, caller, changes, () => [itemOf(answer)])
    if (landed) return { result: answer }
    leaving = await clearWay(deps, caller, [candidate])
    return undefined
  })
}

/**
 * @throws ApiError `invalid_request`, `forbidden` for a container that no rule covers, `conflict`
 * for an id that is taken, `too_many_requests` where the caller has no guesses left
 */
export async function createToken(
  deps: Deps,
  caller: Caller,
  body: CreateTokenBody,
): Promise<CreateAnswer> {
  const work = makeWork(deps, caller)
  const planned = andThen(work.pause(), () => planToken(deps, caller.tenantId, body, work))
  const plan = planned instanceof Promise ? await planned : planned
  const turn = work.pause()
  if (turn !== undefined) await turn
  const [hidesFingerprint] = placeFingerprints(deps, caller, 1)
  return insertToken(deps, caller, candidateOf(plan, hidesFingerprint))
}
