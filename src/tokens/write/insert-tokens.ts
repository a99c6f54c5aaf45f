/**
 * Inserting planned tokens, many in one write: each is decided by what is stored and by those
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
import { TextMap } from '../../lib/maps.ts'
import type { SeatChange } from './dedup.ts'
import { placeFingerprints, spendCreates } from '../find/guesses.ts'
import { visibleTokensOf, type VisibleTokens } from '../find/visibility.ts'
import {
  candidateOf,
  changesOfOthers,
  clearWay,
  decide,
  type CreateAnswer,
  type PendingToken,
  type Decision,
  type EarlierTokens,
  type PreparedToken,
  type TokenPlan,
} from './decide-token.ts'

export type Outcome = CreateAnswer | ApiError

interface Planned extends PendingToken {
  /** Once refused, it is not decided anew. */
  refused?: ApiError
}

/** Tokens that one attempt will write. */
interface TokenBatch extends EarlierTokens {
  readonly inserted: Planned[]
  /** Ids that callers chose; drawn ones never collide within a batch. */
  readonly ids: TextMap<true>
  /** By fingerprint; the first of equal ones. */
  readonly equals: Map<string, PreparedToken>
  /** Conditions of deduplication. */
  readonly changes: SeatChange[]
  isLate: boolean
}

function makeBatch(deps: Deps, caller: Caller): TokenBatch {
  const ids = new TextMap<true>()
  const equals = new Map<string, PreparedToken>()
  let reach: VisibleTokens | undefined
  return {
    inserted: [],
    ids,
    equals,
    changes: [],
    isLate: false,
    hasId: id => ids.has(id),
    equalOf: fingerprint => equals.get(fingerprint),
    reach: () => (reach ??= visibleTokensOf(deps, caller)),
  }
}

function fold(batch: TokenBatch, planned: Planned, decision: Decision): Outcome {
  if (decision.kind === 'refused') return decision.error
  if (decision.kind === 'equal') return decision.answer
  const { made, changes, isLate } = decision
  const { id, idIsRandom, fingerprint } = made.record
  batch.inserted.push(planned)
  batch.isLate ||= isLate
  batch.changes.push(...changes)
  if (idIsRandom !== true) batch.ids.set(id, true)
  if (!batch.equals.has(fingerprint)) batch.equals.set(fingerprint, made)
  return made.answer
}

type CountTries = (tried: number) => void

/** One attempt: decides all anew, in order; of a whole, until one is refused. */
async function decideAll(
  deps: Deps,
  caller: Caller & Budgeted,
  all: readonly Planned[],
  isWhole: boolean,
  countTaken: CountTries,
): Promise<{ readonly batch: TokenBatch; readonly outcomes: readonly Outcome[] }> {
  const batch = makeBatch(deps, caller)
  const outcomes: Outcome[] = []
  let chars = 0
  for (const planned of all) {
    const deciding = planned.refused ?? decide(deps, caller, planned, batch)
    const decision = deciding instanceof Promise ? await deciding : deciding
    const outcome = decision instanceof ApiError ? decision : fold(batch, planned, decision)
    outcomes.push(outcome)
    if (outcome instanceof ApiError) {
      // If nothing is created, every id was only tried.
      if (outcome.kind === 'conflict' && decision !== outcome) countTaken(isWhole ? all.length : 1)
      planned.refused = outcome
      if (isWhole) break
    }
    chars += outcome instanceof ApiError ? 0 : outcome.json.length
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    caller.room?.needs(chars)
    const turn = planned.plan.work.pause()
    if (turn !== undefined) await turn
  }
  return { batch, outcomes }
}

/**
 * @param isWhole all of them or none: with the first that is refused nothing is written
 * @param tell gives what the outcomes come to, as it is kept for a repetition
 * @returns one outcome for each plan; of a whole that is refused, up to that one
 * @throws ApiError `too_many_requests` where the caller has no guesses left, `invalid_request` for
 *   an answer that would be too long
 */
export async function insertTokens(
  deps: Deps,
  caller: Caller & Budgeted,
  plans: readonly TokenPlan[],
  isWhole: boolean,
  tell: (outcomes: readonly Outcome[]) => Effect = () => null,
): Promise<readonly Outcome[]> {
  const hidden = placeFingerprints(deps, caller, plans.length)
  const all: readonly Planned[] = plans.map((plan, at) => candidateOf(plan, hidden[at]))
  const countTaken = spendCreates(deps, caller, plans)
  let leaving: ReadonlyMap<number, Change> = new Map()
  return untilWritten(async () => {
    const { batch, outcomes } = await decideAll(deps, caller, all, isWhole, countTaken)
    if (isWhole && outcomes.some(outcome => outcome instanceof ApiError)) {
      return { result: outcomes }
    }
    const inserts = batch.inserted.flatMap(({ made }) => (made ? [{ insert: made.row }] : []))
    const isNew = inserts.length > 0
    if (isNew && batch.isLate) return undefined
    const changes = isNew ? [...changesOfOthers(batch.changes, leaving), ...inserts] : []
    if (await writeAs(deps.store, caller, changes, () => tell(outcomes)))
      return { result: outcomes }
    leaving = await clearWay(deps, caller, batch.inserted)
    return undefined
  })
}
