/**
 * Creating a token: a batch of one.
 *
 * Source: spec, "Create token" and "Token create request fields"; contract sections 5 to 8.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { ApiError, invariant } from '../../lib/errors.ts'
import { makeWork, refusedInTurn } from '../../lib/work.ts'
import type { Effect } from '../../records/write-rows.ts'
import type { Budgeted } from '../../records/budgeted.ts'
import type { CreateTokenBody } from '../schema.ts'
import type { CreateAnswer, Outcome } from './create-answer.ts'
import { insertTokens } from './insert-tokens.ts'
import { pendingTokenOf } from './pending-token.ts'
import { itemOf } from './replay.ts'

const effectOf = (outcomes: readonly Outcome[]): Effect =>
  outcomes.map(outcome => (outcome instanceof ApiError ? null : itemOf(outcome)))

/**
 * @throws ApiError `invalid_request`, `forbidden` for a container that no rule covers, `conflict`
 *   for an id that is taken, `too_many_requests` where the caller has no guesses left
 */
export async function createToken(
  deps: Deps,
  caller: Caller & Budgeted,
  body: CreateTokenBody,
): Promise<CreateAnswer> {
  const work = makeWork(deps, caller)
  const firstTurn = work.pause()
  if (firstTurn !== undefined) await firstTurn
  const token = await refusedInTurn(work, () => pendingTokenOf(deps, caller.tenantId, body, work))
  const nextTurn = work.pause()
  if (nextTurn !== undefined) await nextTurn
  const [outcome] = await insertTokens(deps, caller, [token], { isWhole: true, effectOf })
  invariant(outcome !== undefined, 'one token has one outcome')
  if (outcome instanceof ApiError) throw outcome
  return outcome
}
