/**
 * Tokenizing any JSON: token requests in it become tokens, and so does every bare value.
 *
 * An object with `data` and the name of a token type as its `type` is a token request; any other
 * object and every array is a frame that is kept. A text, number or boolean becomes a token of type
 * `token`; null stays null, since there is nothing in it to protect. A request is answered by its
 * token as create would answer, a bare value by the id of its token. Items are dealt with in order,
 * so that a later one can be the duplicate of an earlier one. Source: contract section 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { assertAffordable } from '../../language/expression/run.ts'
import { isJsonObject, type Json, type JsonObject } from '../../lib/json/json.ts'
import { listLeaves, pathBelow, printFrame, type IsLeaf, type Leaf } from '../../lib/json/leaves.ts'
import { tokenTypeOf } from '../../rules/token-types.ts'
import { ApiError, invalid, type ErrorKind, type FieldErrors } from '../../lib/errors.ts'
import { bulkLeavesMax, bulkAnswerCharsMax } from '../../limits/limits.ts'
import { orElse, type MaybeLater } from '../../lib/waiting.ts'
import { makeWork, type PacedWork } from '../../lib/work.ts'
import { makeTextCount, noteShown, type Budgeted } from '../../records/budgeted.ts'
import type { Effect, Past } from '../../records/write-rows.ts'
import type { CreateAnswer, Outcome } from './create-answer.ts'
import { insertTokens, type InsertOptions } from './insert-tokens.ts'
import { pendingTokenOf, type PendingToken } from './pending-token.ts'
import { itemOf, recreateAnswer, type KeptItem } from './replay.ts'
import type { CreateTokenBody } from '../schema.ts'

/** Checks the shape of a create request. @throws ApiError `invalid_request` with every fault */
export type ReadRequest = (request: JsonObject) => CreateTokenBody

/** Counts the values of a body before anything is done. @throws ApiError `too_many_requests` */
type CountItems = (count: number) => void

/** Outcome for a leaf; `undefined` for null. */
type Fate<Success> = Success | ApiError | undefined

const isRequest: IsLeaf = value => {
  const type = value.get('type')
  return typeof type === 'string' && value.has('data') && tokenTypeOf(type) !== undefined
}

const leavesOf = (body: Json): readonly Leaf[] => listLeaves(body, isRequest, bulkLeavesMax)

function pendingTokenOfLeaf(
  deps: Deps,
  { tenantId }: Caller,
  { value }: Leaf,
  readRequest: ReadRequest,
  work: PacedWork,
): MaybeLater<Fate<PendingToken>> {
  if (value === null) return undefined
  const refused = (thrown: unknown): ApiError => {
    // This error concerns the whole request, not one leaf.
    assertAffordable(work.meter)
    if (thrown instanceof ApiError && thrown.kind === 'invalid_request') return thrown
    throw thrown
  }
  return orElse(
    () =>
      isJsonObject(value)
        ? pendingTokenOf(deps, tenantId, readRequest(value), work)
        : pendingTokenOf(deps, tenantId, { type: 'token', data: value }, work, { isBare: true }),
    refused,
  )
}

async function pendingTokensOf(
  deps: Deps,
  caller: Caller,
  leaves: readonly Leaf[],
  readRequest: ReadRequest,
): Promise<readonly Fate<PendingToken>[]> {
  const tokens: Fate<PendingToken>[] = []
  const work = makeWork(deps, caller)
  for (const leaf of leaves) {
    const token = pendingTokenOfLeaf(deps, caller, leaf, readRequest, work)
    tokens.push(token instanceof Promise ? await token : token)
    const turn = work.pause()
    if (turn !== undefined) await turn
  }
  return tokens
}

/** Outcome for each leaf, as it is kept: errors hold no value of a caller. */
const effectOf = (fates: readonly Fate<CreateAnswer>[]): Effect =>
  fates.map(fate => {
    if (!(fate instanceof ApiError)) return itemOf(fate)
    const { kind, message, fields } = fate
    return { kind, message, ...(fields === undefined ? {} : { fields }) }
  })

function noteAllShown(
  caller: Budgeted,
  fates: readonly Fate<CreateAnswer>[],
): readonly Fate<CreateAnswer>[] {
  for (const fate of fates) {
    if (!(fate instanceof ApiError) && fate) noteShown(caller, fate.id, fate.transform)
  }
  return fates
}

/** @returns fates by the index of their leaves */
async function insertAll(
  deps: Deps,
  caller: Caller & Budgeted,
  composed: readonly Fate<PendingToken>[],
  { isWhole }: Pick<InsertOptions, 'isWhole'>,
): Promise<readonly Fate<CreateAnswer>[]> {
  const tokens = composed.flatMap(fate => (fate instanceof ApiError ? [] : (fate ?? [])))
  const inPlace = (outcomes: readonly Outcome[]): readonly Fate<CreateAnswer>[] => {
    const next = outcomes.values()
    return composed.map(fate =>
      fate === undefined || fate instanceof ApiError ? fate : next.next().value,
    )
  }
  const outcomes = await insertTokens(deps, caller, tokens, {
    isWhole,
    effectOf: all => effectOf(inPlace(all)),
  })
  return noteAllShown(caller, inPlace(outcomes))
}

/** The paths of a leaf's faults in the whole body. The path of a bare value is its place alone. */
function fieldsAt(leaf: Leaf | undefined, error: ApiError): [string, readonly string[]][] {
  const fields = error.fields ?? { '': [error.message] }
  return Object.entries(fields).map(([path, expected]) => {
    const inner = path === 'data' && !isJsonObject(leaf?.value) ? '' : path
    return [pathBelow(leaf?.at ?? '', inner) || 'body', expected]
  })
}

/** One error for all that failed, with the kind of the first. */
function joinErrors(failed: readonly (readonly [Leaf | undefined, ApiError])[]): ApiError {
  const kind = failed[0]?.[1].kind ?? 'invalid_request'
  const fields = failed.flatMap(([leaf, error]) => fieldsAt(leaf, error))
  const message = 'Nothing was stored, because not all of it could be.'
  return new ApiError(kind, message, Object.fromEntries(fields))
}

/** @throws ApiError as `joinErrors` */
function assertNoneFailed(leaves: readonly Leaf[], fates: readonly Fate<unknown>[]): void {
  const failed = fates.flatMap((fate, index) =>
    fate instanceof ApiError ? [[leaves[index], fate] as const] : [],
  )
  if (failed.length > 0) throw joinErrors(failed)
}

/** The JSON text of the body with each leaf replaced by its answer. */
export const printWhole = (body: Json, fates: readonly Fate<CreateAnswer>[]): string =>
  printFrame(
    body,
    isRequest,
    fates.map(fate => (fate === undefined || fate instanceof ApiError ? 'null' : fate.json)),
  )

/**
 * All or nothing, in one write.
 * @returns the JSON text of the body with each leaf replaced by its answer
 * @throws ApiError `invalid_request` with all faults, `forbidden`, `conflict`
 */
export async function tokenizeWhole(
  deps: Deps,
  caller: Caller,
  body: Json,
  readRequest: ReadRequest,
  countItems: CountItems,
): Promise<string> {
  const leaves = leavesOf(body)
  countItems(leaves.length)
  const composed = await pendingTokensOf(deps, caller, leaves, readRequest)
  assertNoneFailed(leaves, composed)
  const fates = await insertAll(deps, caller, composed, { isWhole: true })
  assertNoneFailed(leaves, fates)
  return printWhole(body, fates)
}

export interface ItemResult {
  readonly item: Leaf
  readonly outcome: CreateAnswer | ApiError
}

/** One result for each item, in order; null is no item. */
export const resultsOf = (
  leaves: readonly Leaf[],
  fates: readonly Fate<CreateAnswer>[],
): readonly ItemResult[] =>
  leaves.flatMap((item, index) => {
    const outcome = fates[index]
    return outcome === undefined ? [] : [{ item, outcome }]
  })

/**
 * Each item for itself: those that can be stored are, in one write.
 * @returns as `resultsOf`
 */
export async function tokenizePartly(
  deps: Deps,
  caller: Caller,
  body: Json,
  readRequest: ReadRequest,
  countItems: CountItems,
): Promise<readonly ItemResult[]> {
  const leaves = leavesOf(body)
  countItems(leaves.length)
  const composed = await pendingTokensOf(deps, caller, leaves, readRequest)
  const fates = await insertAll(deps, caller, composed, { isWhole: false })
  return resultsOf(leaves, fates)
}

/*
 * Answering again for a body that was tokenized before, by what stands of its tokens now.
 *
 * The body is the same: it has the frame, and the values of items that were refused. One token that
 * is gone makes the whole answer one that is gone. Source: contract section 1.
 */

interface KeptError {
  readonly kind: ErrorKind
  readonly message: string
  readonly fields?: FieldErrors
}

/** Kept outcome for each leaf; `null` for null. */
export type KeptLeaves = readonly (KeptItem | KeptError | null)[]

async function recreateLeaf(
  deps: Deps,
  caller: Caller,
  { value }: Leaf,
  { effect, ordinal }: Past<KeptLeaves[number]>,
  { meter }: PacedWork,
): Promise<Fate<CreateAnswer>> {
  if (effect === null) return undefined
  if ('kind' in effect) return new ApiError(effect.kind, effect.message, effect.fields)
  const answer = await recreateAnswer(deps, caller, { effect, ordinal }, meter)
  return isJsonObject(value) ? answer : { id: answer.id, json: JSON.stringify(answer.id) }
}

async function recreateAll(
  deps: Deps,
  caller: Caller & Budgeted,
  leaves: readonly Leaf[],
  { effect, ordinal }: Past<KeptLeaves>,
): Promise<readonly Fate<CreateAnswer>[]> {
  const outcomes: Fate<CreateAnswer>[] = []
  const work = makeWork(deps, caller)
  const counted = makeTextCount(caller)
  for (const [index, leaf] of leaves.entries()) {
    const past = { effect: effect[index] ?? null, ordinal }
    const outcome = await recreateLeaf(deps, caller, leaf, past, work)
    outcomes.push(outcome)
    const chars = counted.add(outcome instanceof ApiError ? '' : (outcome?.json ?? ''))
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    counted.reserve()
    await work.pause()
  }
  return noteAllShown(caller, outcomes)
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
): Promise<{ readonly leaves: readonly Leaf[]; readonly fates: readonly Fate<CreateAnswer>[] }> {
  const leaves = leavesOf(body)
  countItems(leaves.length)
  return { leaves, fates: await recreateAll(deps, caller, leaves, past) }
}
