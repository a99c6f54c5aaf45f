/**
 * Searching tokens: a query text and the caller's rules become one question over blind terms.
 *
 * No oracle: only tokens that the caller may find at all can match, and where the rule that decides
 * redacts, `data` matches nothing, as if the token had no search indexes; so `NOT data:x` says of
 * such a token nothing but that it is there. Source: contract section 14, hardening T21.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import { parseSearch, type Clause, type SearchTree } from '../domain/search-query.ts'
import { invalid } from '../errors.ts'
import { searchNodesMax } from '../limits.ts'
import { allOf, anyOf, nothing, sizeOf, without, type Bounds } from './bounds.ts'
import { tokenCriteria, type Criteria } from './criteria.ts'
import { spendClauses } from './guesses.ts'
import { listPart, type Listed, type ListPart } from './listing.ts'
import { dataVisibility, visibleTokens } from './visibility.ts'

const permission = 'token:search'
const path = 'query'

type CompileClause = (clause: Clause) => Bounds

function clauseBounds(criteria: Criteria, clause: Clause): Bounds {
  switch (clause.field) {
    case 'id':
      return criteria.id(clause.value)
    case 'type':
      return criteria.type(clause.value)
    case 'data':
      return criteria.search(clause.value)
    case 'fingerprint':
      return criteria.fingerprint(clause.value)
    case 'container':
      return clause.isStart
        ? criteria.containerStart(clause.value)
        : criteria.container(clause.value)
    case 'metadata':
      return criteria.metadata(clause.key, clause.value)
    case 'created_by':
      return criteria.createdBy(clause.value)
    case 'modified_by':
      return criteria.modifiedBy(clause.value)
    case 'created_at':
      return criteria.createdWithin(clause.fromMs, clause.beforeMs)
    case 'modified_at':
      return criteria.modifiedWithin(clause.fromMs, clause.beforeMs)
  }
}

/** Counted while it is made, so that no text makes more work than it may. */
function countedClauses(criteria: Criteria): CompileClause {
  let nodes = 0
  return clause => {
    const bounds = clauseBounds(criteria, clause)
    nodes += sizeOf(bounds)
    if (nodes > searchNodesMax) throw invalid(path, 'expected fewer or shorter ranges of time')
    return bounds
  }
}

function treeBounds(every: Bounds, tree: SearchTree, compile: CompileClause): Bounds {
  if ('all' in tree) return allOf(tree.all.map(part => treeBounds(every, part, compile)))
  if ('any' in tree) return anyOf(tree.any.map(part => treeBounds(every, part, compile)))
  if ('not' in tree) return without(every, treeBounds(every, tree.not, compile))
  return compile(tree)
}

function asksForData(tree: SearchTree): boolean {
  if ('all' in tree) return tree.all.some(asksForData)
  if ('any' in tree) return tree.any.some(asksForData)
  return 'not' in tree ? asksForData(tree.not) : tree.field === 'data'
}

function guessesIn(tree: SearchTree): number {
  const sumOf = (parts: readonly SearchTree[]) =>
    parts.reduce((sum, part) => sum + guessesIn(part), 0)
  if ('all' in tree) return sumOf(tree.all)
  if ('any' in tree) return sumOf(tree.any)
  if ('not' in tree) return guessesIn(tree.not)
  return tree.field === 'data' || tree.field === 'fingerprint' ? 1 : 0
}

function searchBounds(criteria: Criteria, caller: Caller, tree: SearchTree): Bounds {
  const { grants } = caller
  const compile = countedClauses(criteria)
  const found = treeBounds(criteria.every, tree, compile)
  const byData = asksForData(tree) ? dataVisibility(criteria, grants, permission) : undefined
  if (byData === undefined) return allOf([found, visibleTokens(criteria, grants, permission)])
  const blind = treeBounds(criteria.every, tree, clause =>
    clause.field === 'data' ? nothing : compile(clause),
  )
  return anyOf([allOf([found, byData.shown]), allOf([blind, byData.redacted])])
}

/**
 * decision: a blank query finds all that the caller may find, as a list without filters.
 * @throws ApiError `invalid_request` for a text outside of the grammar, with the position, and for
 *   a cursor that is not of this search; `too_many_requests` where no guesses are left
 */
export async function searchTokens(
  deps: Deps,
  caller: Caller,
  query: string,
  part: ListPart,
): Promise<Listed> {
  const tree = parseSearch(query, path)
  // A stretch after the first asks what its first one asked: its cursor is bound to that.
  const isFirst = 'page' in part || part.start === ''
  if (tree !== undefined && isFirst) {
    spendClauses(deps, caller, permission, guessesIn(tree), path)
  }
  const criteria = tokenCriteria(deps.keys, caller.tenantId)
  const bounds =
    tree === undefined
      ? visibleTokens(criteria, caller.grants, permission)
      : searchBounds(criteria, caller, tree)
  return listPart(
    deps,
    caller,
    { permission, bounds, text: JSON.stringify(['search', query]), sizeAt: 'size' },
    part,
  )
}
