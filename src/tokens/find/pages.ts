/**
 * Pages and walks over tokens, and the limit of walks that one credential may have open.
 * @module
 */
import { ApiError, invalid } from '../../lib/errors.ts'
import { keptFor } from '../../lib/maps.ts'
import { walkedRowsMax, walksPerCredentialMax } from '../../limits/limits.ts'
import { bulkTurnMsMax, testStepRows } from '../../limits/work-limits.ts'
import type { Store, Query } from '../../store/contract.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { reserveRows, type Budgeted } from '../../records/budgeted.ts'
import { walkRows, type Walk } from '../../records/walk-rows.ts'
import { isExact, type Bounds } from './bounds.ts'
import { pauses } from '../../lib/work.ts'
import { unsealToken, type StoredToken } from '../token-record.ts'

/*
 * Long walks that each credential has open: each holds much memory for long.
 *
 * Kept for each store, in memory alone, and only while a walk is open.
 */

const walksOf = keptFor<Pick<Store, 'page'>, Map<number, number>>(() => new Map())

/**
 * @param credential its ordinal
 * @returns a function to call once, when the walk has ended
 * @throws ApiError `too_many_requests`
 */
function enterWalk(store: Pick<Store, 'page'>, credential: number): () => void {
  const walks = walksOf(store)
  const count = walks.get(credential) ?? 0
  if (count >= walksPerCredentialMax) {
    throw new ApiError(
      'too_many_requests',
      'This credential has too many searches under way: wait until one of them has ended.',
    )
  }
  walks.set(credential, count + 1)
  return () => {
    const left = (walks.get(credential) ?? 1) - 1
    if (left === 0) walks.delete(credential)
    else walks.set(credential, left)
  }
}

/*
 * From bounds to tokens, newest first: pages with an exact total, and walks without one.
 *
 * Exact bounds take one query, and only tokens that are shown are opened. Otherwise the tokens
 * between the bounds are opened and tested (their data only if a mask decides), in steps that let
 * other requests run; then the store counts and pages over the sure matches and those that passed.
 * A token that changes in between is judged as it is when it is shown.
 */

type Reader = Pick<Deps, 'store' | 'keys' | 'elapsedMs' | 'turns'>
type Walker = Pick<Caller, 'tenantId' | 'applicationId' | 'credential'> & Budgeted

/** Yields the matching tokens of a query. A walk of one step does not count as long. */
async function* walkTokens(
  { store, keys, elapsedMs, turns }: Reader,
  walker: Walker,
  query: Query,
  bounds: Bounds,
  walk: Omit<Walk, 'pause' | keyof Budgeted>,
): AsyncGenerator<StoredToken> {
  const { tenantId, credential, budget, rowsTested, isAbandoned } = walker
  // A tenant may have any number of sessions, each with walks of its own.
  const pause = pauses(elapsedMs, bulkTurnMsMax, () => turns.soon(walker))
  const paced = { ...walk, budget, rowsTested, isAbandoned, pause }
  let walked = 0
  let leave: (() => void) | undefined
  try {
    for await (const row of walkRows(store, query, paced)) {
      walked += 1
      if (walked === walk.stepRows + 1) leave = enterWalk(store, credential.ordinal)
      const token = unsealToken(keys, tenantId, row)
      if (isExact(bounds) || bounds.matches(token)) yield token
    }
  } finally {
    leave?.()
  }
}

const questionTooLong = () =>
  invalid('query', `expected a question for which at most ${walkedRowsMax} rows are read`)

const equalsTooMany = () =>
  invalid(
    'deduplicate_token',
    `expected false: to find an equal token, more than ${walkedRowsMax} rows would be read`,
  )

/** Returns a query for the tokens that match now. Exact bounds need no test. */
async function settle(
  reader: Reader,
  walker: Walker,
  bounds: Bounds,
  { nowMs, tooManyRows }: Pick<Walk, 'nowMs' | 'tooManyRows'>,
): Promise<Query> {
  const { upper, lower, doubt } = bounds
  if (isExact(bounds)) return upper
  const ordinals: number[] = []
  const gap = { from: upper, except: lower }
  const between = doubt === undefined ? gap : { all: [doubt, gap] }
  const walk = { nowMs, stepRows: testStepRows, tooManyRows }
  for await (const { row } of walkTokens(reader, walker, between, bounds, walk)) {
    ordinals.push(row.ordinal)
  }
  if (ordinals.length === 0) return lower
  return { all: [upper, { any: [lower, { ordinals }] }] }
}

interface TokenPage {
  readonly total: number
  readonly tokens: readonly StoredToken[]
}

/**
 * @throws ApiError `invalid_request` when too many tokens would have to be tested,
 *   `too_many_requests` when the caller has too many long walks open
 */
export async function readTokenPage(
  reader: Reader,
  walker: Walker,
  bounds: Bounds,
  window: { readonly offset: number; readonly limit: number; readonly nowMs: number },
): Promise<TokenPage> {
  const { nowMs } = window
  const query = await settle(reader, walker, bounds, { nowMs, tooManyRows: questionTooLong })
  const { rows, total } = await reader.store.page(query, window)
  reserveRows(walker, rows)
  const tokens = rows.map(row => unsealToken(reader.keys, walker.tenantId, row))
  // Tokens of the lower bound match for sure.
  return { total, tokens: query === bounds.lower ? tokens : tokens.filter(bounds.matches) }
}

/**
 * Returns the newest tokens, all of them or those below an ordinal.
 * @throws ApiError as `readTokenPage`
 */
export async function readTokensBelow(
  reader: Reader,
  walker: Walker,
  bounds: Bounds,
  window: { readonly before?: number | undefined; readonly limit: number; readonly nowMs: number },
): Promise<readonly StoredToken[]> {
  const { before, limit, nowMs } = window
  const tokens: StoredToken[] = []
  const stepRows = isExact(bounds) ? limit : testStepRows
  const walk = { before, nowMs, stepRows, tooManyRows: questionTooLong }
  for await (const token of walkTokens(reader, walker, bounds.upper, bounds, walk)) {
    tokens.push(token)
    if (tokens.length === limit) break
  }
  return tokens
}

/**
 * Returns the token that was created first of those equal to one that is to be deduplicated.
 * @throws ApiError as `readTokenPage`
 */
export async function readOldestToken(
  reader: Reader,
  walker: Walker,
  bounds: Bounds,
  nowMs: number,
): Promise<StoredToken | undefined> {
  const query = await settle(reader, walker, bounds, { nowMs, tooManyRows: equalsTooMany })
  const window = { offset: 0, limit: 1, nowMs }
  const { rows, total } = await reader.store.page(query, window)
  const last = { ...window, offset: total - 1 }
  const older = total > 1 ? (await reader.store.page(query, last)).rows : rows
  // The oldest may have left between the two queries; then the newest serves.
  const row = older[0] ?? rows[0]
  const token = row && unsealToken(reader.keys, walker.tenantId, row)
  return token === undefined || query === bounds.lower || bounds.matches(token) ? token : undefined
}
