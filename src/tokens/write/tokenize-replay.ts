/**
 * Answering again for a body that was tokenized before, by what stands of its tokens now.
 *
 * The body is the same: it has the frame, and the values of items that were refused. One token that
 * is gone makes the whole answer one that is gone. Source: contract section 1.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { isJsonObject, type Json } from '../../json/json.ts'
import type { Leaf } from '../../json/leaves.ts'
import { ApiError, invalid, type ErrorKind, type FieldErrors } from '../../errors.ts'
import { bulkAnswerCharsMax } from '../../limits.ts'
import type { Housed } from '../../records/room.ts'
import type { Answer } from './batch.ts'
import { recreateAnswer, type KeptItem, type Past } from './replay.ts'
import { leavesOf, type CountItems, type Fate } from './tokenize.ts'
import { openWork, type Work } from '../read/work.ts'

interface KeptError {
  readonly kind: ErrorKind
  readonly message: string
  readonly fields?: FieldErrors
}

/** What became of each leaf; of null nothing did. */
export type KeptLeaves = readonly (KeptItem | KeptError | null)[]

async function recreateLeaf(
  deps: Deps,
  caller: Caller,
  { value }: Leaf,
  { effect, ordinal }: Past<KeptLeaves[number]>,
  { meter }: Work,
): Promise<Fate<Answer>> {
  if (effect === null) return undefined
  if ('kind' in effect) return new ApiError(effect.kind, effect.message, effect.fields)
  const answer = await recreateAnswer(deps, caller, { effect, ordinal }, meter)
  return isJsonObject(value) ? answer : { id: answer.id, json: JSON.stringify(answer.id) }
}

async function recreateAll(
  deps: Deps,
  caller: Caller & Housed,
  leaves: readonly Leaf[],
  { effect, ordinal }: Past<KeptLeaves>,
): Promise<readonly Fate<Answer>[]> {
  const outcomes: Fate<Answer>[] = []
  const work = openWork(deps, caller)
  let chars = 0
  for (const [index, leaf] of leaves.entries()) {
    const past = { effect: effect[index] ?? null, ordinal }
    const outcome = await recreateLeaf(deps, caller, leaf, past, work)
    outcomes.push(outcome)
    chars += outcome instanceof ApiError ? 0 : (outcome?.json.length ?? 0)
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    caller.room?.needs(chars)
    await work.pause()
  }
  return outcomes
}

/**
 * @returns what became of each value of the body
 * @throws ApiError `not_found`, `too_many_requests`
 */
export async function retokenize(
  deps: Deps,
  caller: Caller,
  body: Json,
  past: Past<KeptLeaves>,
  countItems: CountItems,
): Promise<{ readonly leaves: readonly Leaf[]; readonly fates: readonly Fate<Answer>[] }> {
  const leaves = leavesOf(body)
  countItems(leaves.length)
  return { leaves, fates: await recreateAll(deps, caller, leaves, past) }
}
