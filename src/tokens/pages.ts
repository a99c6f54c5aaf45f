/**
 * From bounds to tokens, newest first: pages with an exact total, and walks without one.
 *
 * Exact bounds are one look at the store, and only tokens that are shown are opened. Of others the
 * tokens between the bounds are opened and tested, never their data, in steps that let other
 * requests in; then the store counts and pages over what surely matches and what passed.
 * A token that changes during the steps is judged as it is when it is shown.
 * @module
 */
import type { Deps } from '../deps.ts'
import { testStepRows } from '../limits.ts'
import { walkRows } from '../records/walk-rows.ts'
import type { Query } from '../store/contract.ts'
import { isExact, type Bounds } from './bounds.ts'
import { openToken, type StoredToken } from './record.ts'

type Reader = Pick<Deps, 'store' | 'keys'>

/** The query whose rows match, as tested now: for exact bounds there is nothing to test. */
async function settle(
  reader: Reader,
  tenantId: string,
  bounds: Bounds,
  nowMs: number,
): Promise<Query> {
  const { upper, lower, matches } = bounds
  if (isExact(bounds)) return upper
  const ordinals: number[] = []
  const between = { from: upper, except: lower }
  for await (const row of walkRows(reader.store, between, { nowMs, stepRows: testStepRows })) {
    if (matches(openToken(reader.keys, tenantId, row))) ordinals.push(row.ordinal)
  }
  return { all: [upper, { any: [lower, { ordinals }] }] }
}

export interface TokenPage {
  readonly total: number
  readonly tokens: readonly StoredToken[]
}

/** @throws ApiError `invalid_request` when more tokens than allowed would have to be tested */
export async function readTokenPage(
  reader: Reader,
  tenantId: string,
  bounds: Bounds,
  window: { readonly offset: number; readonly limit: number; readonly nowMs: number },
): Promise<TokenPage> {
  const query = await settle(reader, tenantId, bounds, window.nowMs)
  const { rows, total } = await reader.store.page(query, window)
  const tokens = rows.map(row => openToken(reader.keys, tenantId, row))
  return { total, tokens: isExact(bounds) ? tokens : tokens.filter(bounds.matches) }
}

/**
 * The newest tokens below an ordinal, or of all.
 * @throws ApiError `invalid_request`, as `readTokenPage`
 */
export async function readTokensBelow(
  reader: Reader,
  tenantId: string,
  bounds: Bounds,
  window: { readonly before?: number | undefined; readonly limit: number; readonly nowMs: number },
): Promise<readonly StoredToken[]> {
  const { before, limit, nowMs } = window
  const tokens: StoredToken[] = []
  const walk = { before, nowMs, stepRows: isExact(bounds) ? limit : testStepRows }
  for await (const row of walkRows(reader.store, bounds.upper, walk)) {
    const token = openToken(reader.keys, tenantId, row)
    if (isExact(bounds) || bounds.matches(token)) tokens.push(token)
    if (tokens.length === limit) break
  }
  return tokens
}
