/**
 * Listing tokens: the filters and the caller's rules become one query over blind terms, so that
 * totals are exact and nothing unreadable is ever opened. Source: contract sections 11 and 14.
 *
 * @module
 */
import type { Keys } from '../crypto/scope.ts'
import type { Deps } from '../deps.ts'
import { decideTransform } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import type { TokenPermission } from '../domain/permissions.ts'
import { invariant } from '../errors.ts'
import type { Query } from '../store/contract.ts'
import { openToken, tokenTerms, tokenUnique } from './record.ts'
import { viewStored } from './view.ts'

export interface TokenFilter {
  readonly ids: readonly string[]
  readonly types: readonly string[]
  readonly containers: readonly string[]
  readonly fingerprints: readonly string[]
  /** All of them must match. */
  readonly metadata: ReadonlyMap<string, string>
  readonly offset: number
  readonly limit: number
}

const anyOf = (queries: readonly Query[]): Query[] =>
  queries.length === 0 ? [] : [{ any: queries }]

/** The tokens that the caller's grants cover for that permission, whatever their transform. */
export function visibleTokens(keys: Keys, caller: Caller, permission: TokenPermission): Query {
  const terms = tokenTerms(keys, caller.tenantId)
  const { permissions, rules } = caller.grants
  if (permissions.includes(permission)) return { term: terms.every() }
  const containers = rules
    .filter(rule => rule.permissions.includes(permission))
    .flatMap(rule => rule.container ?? [])
  return { any: containers.map(container => containerQuery(keys, caller, container)) }
}

/** A container covers itself and all below it; `/` covers all. */
function containerQuery(keys: Keys, caller: Caller, container: string): Query {
  const terms = tokenTerms(keys, caller.tenantId)
  return { term: container === '/' ? terms.every() : terms.container(container) }
}

function filterQuery(keys: Keys, caller: Caller, filter: TokenFilter): Query[] {
  const { tenantId } = caller
  const terms = tokenTerms(keys, tenantId)
  return [
    ...anyOf(filter.ids.map(id => ({ unique: tokenUnique(keys, tenantId, id) }))),
    ...anyOf(filter.types.map(type => ({ term: terms.type(type) }))),
    ...anyOf(filter.containers.map(container => containerQuery(keys, caller, container))),
    ...anyOf(filter.fingerprints.map(text => ({ term: terms.fingerprint(text) }))),
    ...[...filter.metadata].map(([name, value]) => ({ term: terms.metadata(name, value) })),
  ]
}

/** Newest first; `total` counts what the caller may see, exactly. */
export async function listTokens(
  deps: Deps,
  caller: Caller,
  filter: TokenFilter,
): Promise<{ readonly total: number; readonly items: readonly string[] }> {
  const { keys } = deps
  const permission = 'token:read'
  const query: Query = {
    all: [visibleTokens(keys, caller, permission), ...filterQuery(keys, caller, filter)],
  }
  const window = { offset: filter.offset, limit: filter.limit, nowMs: deps.now() }
  const { rows, total } = await deps.store.page(query, window)
  const items = rows.map(row => {
    const token = openToken(keys, caller.tenantId, row)
    const transform = decideTransform(caller.grants, permission, token.record)
    invariant(transform !== undefined, 'a listed token is covered by the grants')
    return viewStored(keys, caller.tenantId, token, transform)
  })
  return { total, items }
}
