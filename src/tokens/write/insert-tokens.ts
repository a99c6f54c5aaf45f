/**
 * Inserting new tokens, one or many in one write: each is decided by what is stored and by those
 * before it.
 *
 * Each attempt decides all of them anew. If a unique was taken meanwhile, expired holders are
 * removed, and the next attempt draws other ids where live tokens hold them.
 * Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { ApiError, invalid } from '../../lib/errors.ts'
import { bulkAnswerCharsMax } from '../../limits/limits.ts'
import { untilWritten, writeAs, type Effect, type WriteContext } from '../../records/write-rows.ts'
import { makeTextCount, type Budgeted } from '../../records/budgeted.ts'
import { placeFingerprints, spendCreates } from '../find/guesses.ts'
import { addToBatch, makeBatch, type Batch } from './batch.ts'
import { changesOfOthers, clearWay, decide, type Decision } from './decide-token.ts'
import type { Outcome } from './create-answer.ts'
import type { PendingToken } from './pending-token.ts'

/** Options of an insertion of one or many tokens. */
export interface InsertOptions {
  /** True if the first refusal refuses all of them, so that nothing is written. */
  readonly isWhole: boolean
  /** Returns the effect of the outcomes, as it is kept to be replayed. */
  readonly effectOf?: (outcomes: readonly Outcome[]) => Effect
}

const idsOf = (outcomes: readonly Outcome[]): string[] =>
  outcomes.flatMap(outcome => (outcome instanceof ApiError ? [] : [outcome.id]))

/** Adds the token to the batch if it is new. @returns its outcome */
function applyDecision(batch: Batch, token: PendingToken, decision: Decision): Outcome {
  if (decision.kind === 'refused') return decision.error
  if (decision.kind === 'equal') return decision.answer
  const { sealed, changes, isLate } = decision
  batch.isLate ||= isLate
  addToBatch(batch, token, sealed, changes)
  return sealed.answer
}

/** Decides all anew, in order, for one attempt; a whole only as far as its first refusal. */
async function decideAll(
  deps: Deps,
  caller: Caller & Budgeted,
  tokens: readonly PendingToken[],
  { isWhole, attempt }: Pick<InsertOptions, 'isWhole'> & Pick<Batch, 'attempt'>,
  chargeTaken: (tried: number) => void,
): Promise<{ readonly batch: Batch; readonly outcomes: readonly Outcome[] }> {
  const batch = makeBatch(deps, caller, attempt)
  const outcomes: Outcome[] = []
  const counted = makeTextCount(caller)
  for (const token of tokens) {
    const deciding = token.refused ?? decide(deps, caller, token, batch)
    const decision = deciding instanceof Promise ? await deciding : deciding
    const outcome = decision instanceof ApiError ? decision : applyDecision(batch, token, decision)
    outcomes.push(outcome)
    // Also after the last one: its id may have taken more work than all else of it.
    const turn = token.work.pause()
    if (turn !== undefined) await turn
    if (outcome instanceof ApiError) {
      // A whole that fails has tried all of its ids, and creates none.
      const tried = isWhole ? tokens.length : 1
      if (outcome.kind === 'conflict' && token.refused === undefined) chargeTaken(tried)
      token.refused = outcome
      if (isWhole) break
    }
    const chars = counted.add(outcome instanceof ApiError ? '' : outcome.json)
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    counted.reserve()
  }
  return { batch, outcomes }
}

/**
 * @returns one outcome for each token; if a whole is refused, those up to the refusal
 * @throws ApiError `too_many_requests` where the caller has no guesses left, `invalid_request` for
 *   an answer that would be too long
 */
export async function insertTokens(
  deps: Deps,
  caller: Caller & Budgeted & WriteContext,
  tokens: readonly PendingToken[],
  { isWhole, effectOf = () => null }: InsertOptions,
): Promise<readonly Outcome[]> {
  const hidden = placeFingerprints(deps, caller, tokens.length)
  for (const [at, token] of tokens.entries()) token.fingerprintHiddenUntilMs = hidden[at]
  const chargeTaken = spendCreates(deps, caller, tokens)
  let attempt = 0
  return untilWritten(async () => {
    attempt += 1
    const how = { isWhole, attempt }
    const { batch, outcomes } = await decideAll(deps, caller, tokens, how, chargeTaken)
    if (isWhole && outcomes.some(outcome => outcome instanceof ApiError)) {
      return { result: outcomes }
    }
    const inserts = batch.tokens.flatMap(({ sealed }) => (sealed ? [{ insert: sealed.row }] : []))
    if (inserts.length > 0 && batch.isLate) return undefined
    const others = changesOfOthers(batch.changes)
    const isWritten = inserts.length > 0 || caller.keepEffect !== undefined
    if (!isWritten && others.length > 0 && !(await deps.store.write(others)).ok) return undefined
    const changes = isWritten ? [...others, ...inserts] : []
    const about = { effect: () => effectOf(outcomes), ids: () => idsOf(outcomes) }
    if (await writeAs(deps.store, caller, changes, about)) return { result: outcomes }
    await clearWay(deps, caller, batch.tokens)
    return undefined
  })
}
