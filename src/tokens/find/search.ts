/**
 * Searching tokens: turns a query text and the caller's rules into one question over blind terms.
 *
 * No oracle: only tokens that the caller may find at all can match. If the deciding rule redacts,
 * or masks a token whose mask shows nothing, then `data` matches nothing, as if the token had no
 * search indexes. So `NOT data:x` only tells that such a token exists. `fingerprint` matches
 * nothing unless it is shown (`showsFingerprint`).
 * Source: contract section 14, hardening T21.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { LesserTransform, Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import {
  instantFields,
  parseSearch,
  type Clause,
  type SearchTree,
} from '../../language/search-query.ts'
import { invalid } from '../../lib/errors.ts'
import { searchNodesMax } from '../../limits/limits.ts'
import { noteSearched, type Budgeted } from '../../records/budgeted.ts'
import { allOf, anyOf, nothing, sizeOf, without, type Bounds } from './bounds.ts'
import { tokenCriteria, type Criteria } from './criteria.ts'
import { payerOf, spendClauses } from './guesses.ts'
import { listPart, type FoundTokens, type ListPart } from './listing.ts'
import { fingerprintUnder, underEachTransform, visibleTokens } from './visibility.ts'

const permission = 'token:search'
const path = 'query'

type CompileClause = (clause: Clause, transform: Transform) => Bounds

/** Redact matches nothing by hidden values; mask matches data only if some is shown. */
function clauseBounds(
  criteria: Criteria,
  { grants }: Caller,
  clause: Clause,
  transform: Transform,
  nowMs: number,
): Bounds {
  switch (clause.field) {
    case 'id':
      return criteria.id(clause.value)
    case 'type':
      return criteria.type(clause.value)
    case 'data':
      if (transform === 'redact') return nothing
      return transform === 'reveal'
        ? criteria.search(clause.value)
        : criteria.searchMasked(clause.value)
    case 'fingerprint':
      return fingerprintUnder(criteria, grants, transform, clause.value, nowMs)
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

/** Counts clauses as they are made, so that no text makes more work than allowed. */
function countedClauses(criteria: Criteria, caller: Caller, nowMs: number): CompileClause {
  let nodes = 0
  return (clause, transform) => {
    const bounds = clauseBounds(criteria, caller, clause, transform, nowMs)
    nodes += sizeOf(bounds)
    if (nodes > searchNodesMax) throw invalid(path, 'expected fewer or shorter ranges of time')
    return bounds
  }
}

function treeBounds(every: Bounds, tree: SearchTree, compile: (clause: Clause) => Bounds): Bounds {
  if ('all' in tree) return allOf(tree.all.map(part => treeBounds(every, part, compile)))
  if ('any' in tree) return anyOf(tree.any.map(part => treeBounds(every, part, compile)))
  if ('not' in tree) return without(every, treeBounds(every, tree.not, compile))
  return compile(tree)
}

/** Returns the names of the fields, each as often as the text has it. */
function fieldsIn(tree: SearchTree): readonly string[] {
  if ('all' in tree) return tree.all.flatMap(fieldsIn)
  if ('any' in tree) return tree.any.flatMap(fieldsIn)
  return 'not' in tree ? fieldsIn(tree.not) : [tree.field]
}

/** Returns how many clauses ask about hidden values: data or fingerprint. */
function guessesIn(tree: SearchTree): number {
  const sumOf = (parts: readonly SearchTree[]) =>
    parts.reduce((sum, part) => sum + guessesIn(part), 0)
  if ('all' in tree) return sumOf(tree.all)
  if ('any' in tree) return sumOf(tree.any)
  if ('not' in tree) return guessesIn(tree.not)
  return tree.field === 'data' || tree.field === 'fingerprint' ? 1 : 0
}

/** A search for contents is a separate question under each transform of the caller. */
function searchBounds(
  criteria: Criteria,
  caller: Caller,
  tree: SearchTree,
  asked: LesserTransform | undefined,
  nowMs: number,
): Bounds {
  const { grants } = caller
  const compile = countedClauses(criteria, caller, nowMs)
  const found = (transform: Transform) =>
    treeBounds(criteria.every, tree, clause => compile(clause, transform))
  if (guessesIn(tree) === 0) {
    return allOf([found('reveal'), visibleTokens(criteria, grants, permission)])
  }
  return underEachTransform(criteria, grants, permission, asked, found)
}

/** `asked` is the transform that the caller has asked for at most. */
export interface SearchQuestion {
  readonly query: string
  readonly asked?: LesserTransform | undefined
}

/**
 * `*` alone finds all tokens that the caller may find, as a list without filters does.
 * @throws ApiError `invalid_request` for a text outside of the grammar, with the position, and for
 *   a cursor that is not of this search; `too_many_requests` if no guesses are left
 */
export async function searchTokens(
  deps: Deps,
  caller: Caller & Budgeted,
  { query, asked }: SearchQuestion,
  part: ListPart,
): Promise<FoundTokens> {
  const tree = parseSearch(query, path)
  const fields = new Set(tree === undefined ? ['*'] : fieldsIn(tree))
  noteSearched(caller, [...fields].toSorted())
  // The cursor binds a later stretch to the question of the first.
  const isFirst = 'page' in part || part.start === ''
  const guesses = tree === undefined ? 0 : guessesIn(tree)
  if (isFirst) spendClauses(deps, caller, permission, guesses, path)
  // Ranges have hundreds of terms, which take milliseconds to make.
  if (instantFields.some(field => fields.has(field))) {
    await deps.turns.next(caller)
  }
  const criteria = tokenCriteria(deps.keys, caller.tenantId)
  const bounds =
    tree === undefined
      ? visibleTokens(criteria, caller.grants, permission)
      : searchBounds(criteria, caller, tree, asked, deps.now())
  const less = asked === undefined ? [] : [asked]
  const text = JSON.stringify(['search', query, ...less, ...payerOf(caller, guesses)])
  return listPart(deps, caller, { permission, bounds, asked, text, sizeAt: 'size' }, part)
}
