/**
 * Inserting new tokens, one or many in one write: each is decided by what is stored and by those
 * before it.
 *
 * Each attempt decides all of them anew. When a unique was taken meanwhile, expired holders leave
 * with the next attempt, and ids that are held by live tokens are drawn again.
 * Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { ApiError, invalid } from '../../lib/errors.ts'
import { bulkAnswerCharsMax } from '../../limits/limits.ts'
import { untilWritten, writeAs, type Effect } from '../../records/write-rows.ts'
import type { Budgeted } from '../../records/budgeted.ts'
import type { Change } from '../../store/contract.ts'
import { placeFingerprints, spendCreates } from '../find/guesses.ts'
import { addToBatch, makeBatch, type Batch } from './batch.ts'
import { changesOfOthers, clearWay, decide, type Decision } from './decide-token.ts'
import type { CreateAnswer, PendingToken } from './pending-token.ts'

export type Outcome = CreateAnswer | ApiError

function outcomeOf(batch: Batch, token: PendingToken, decision: Decision): Outcome {
  if (decision.kind === 'refused') return decision.error
  if (decision.kind === 'equal') return decision.answer
  const { sealed, changes, isLate } = decision
  batch.isLate ||= isLate
  addToBatch(batch, token, sealed, changes)
  return sealed.answer
}

/** One attempt: decides all anew, in order; of a whole, until one is refused. */
async function decideAll(
  deps: Deps,
  caller: Caller & Budgeted,
  tokens: readonly PendingToken[],
  isWhole: boolean,
  countTaken: (tried: number) => void,
): Promise<{ readonly batch: Batch; readonly outcomes: readonly Outcome[] }> {
  const batch = makeBatch(deps, caller)
  const outcomes: Outcome[] = []
  let chars = 0
  for (const token of tokens) {
    const turn = outcomes.length > 0 ? token.work.pause() : undefined
    if (turn !== undefined) await turn
    const deciding = token.refused ?? decide(deps, caller, token, batch)
    const decision = deciding instanceof Promise ? await deciding : deciding
    const outcome = decision instanceof ApiError ? decision : outcomeOf(batch, token, decision)
    outcomes.push(outcome)
    if (outcome instanceof ApiError) {
      // If nothing is created, every id was only tried.
      const tried = isWhole ? tokens.length : 1
      if (outcome.kind === 'conflict' && decision !== outcome) countTaken(tried)
      token.refused = outcome
      if (isWhole) break
    }
    chars += outcome instanceof ApiError ? 0 : outcome.json.length
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    caller.budget?.needs(chars)
  }
  return { batch, outcomes }
}

/**
 * @param isWhole all of them or none: with the first that is refused nothing is written
 * @param effectOf gives what the outcomes come to, as it is kept for a repetition
 * @returns one outcome for each token; of a whole that is refused, up to that one
 * @throws ApiError `too_many_requests` where the caller has no guesses left, `invalid_request` for
 *   an answer that would be too long
 */
export async function insertTokens(
  deps: Deps,
  caller: Caller & Budgeted,
  tokens: readonly PendingToken[],
  isWhole: boolean,
  effectOf: (outcomes: readonly Outcome[]) => Effect = () => null,
): Promise<readonly Outcome[]> {
  const hidden = placeFingerprints(deps, caller, tokens.length)
  for (const [at, token] of tokens.entries()) token.hidesFingerprint = hidden[at]
  const countTaken = spendCreates(deps, caller, tokens)
  let leaving: ReadonlyMap<number, Change> = new Map()
  return untilWritten(async () => {
    const { batch, outcomes } = await decideAll(deps, caller, tokens, isWhole, countTaken)
    if (isWhole && outcomes.some(outcome => outcome instanceof ApiError)) {
      return { result: outcomes }
    }
    const inserts = batch.inserted.flatMap(({ sealed }) => (sealed ? [{ insert: sealed.row }] : []))
    const isNew = inserts.length > 0
    if (isNew && batch.isLate) return undefined
    const changes = isNew ? [...changesOfOthers(batch.changes, leaving), ...inserts] : []
    if (await writeAs(deps.store, caller, changes, () => effectOf(outcomes)))
      return { result: outcomes }
    leaving = await clearWay(deps, caller, batch.inserted)
    return undefined
  })
}
