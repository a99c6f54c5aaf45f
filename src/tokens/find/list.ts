/**
 * Listing tokens: the filters and the caller's rules become one question over blind terms, so that
 * totals are exact and nothing unreadable is ever opened. Source: contract sections 11 and 14.
 *
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import type { ReadonlyTextMap } from '../../text/map.ts'
import { allOf, anyOf, type Bounds } from './bounds.ts'
import { tokenCriteria, type Criteria } from './criteria.ts'
import { spendClauses } from './guesses.ts'
import { listPart, type Listed, type ListPart } from './listing.ts'
import { fingerprintUnder, underEachTransform, visibleTokens } from './visibility.ts'

/** A filter without values lets every token pass. */
export interface TokenFilter {
  readonly ids: readonly string[]
  readonly types: readonly string[]
  readonly containers: readonly string[]
  readonly fingerprints: readonly string[]
  /** All of them must match. */
  readonly metadata: ReadonlyTextMap<string>
}

const anyOfSome = <T>(values: readonly T[], criterion: (value: T) => Bounds): Bounds[] =>
  values.length === 0 ? [] : [anyOf(values.map(criterion))]

const filterBounds = (criteria: Criteria, filter: TokenFilter): Bounds[] => [
  ...anyOfSome(filter.ids, criteria.id),
  ...anyOfSome(filter.types, criteria.type),
  ...anyOfSome(filter.containers, criteria.covering),
  ...[...filter.metadata].map(([name, value]) => criteria.metadata(name, value)),
]

const textOf = ({ ids, types, containers, fingerprints, metadata }: TokenFilter): string =>
  JSON.stringify(['list', ids, types, containers, fingerprints, [...metadata]])

/**
 * @throws ApiError `invalid_request` for a cursor that is not of this list, `too_many_requests`
 *   where no guesses are left
 */
export async function listTokens(
  deps: Deps,
  caller: Caller,
  filter: TokenFilter,
  part: ListPart,
): Promise<Listed> {
  const permission = 'token:read'
  // As of a search, a stretch after the first is bound to what that one asked.
  const isFirst = 'page' in part || part.start === ''
  const { fingerprints } = filter
  if (isFirst) spendClauses(deps, caller, permission, fingerprints.length, 'query.fingerprint')
  const criteria = tokenCriteria(deps.keys, caller.tenantId)
  const { grants } = caller
  // Where fingerprints are not shown, none is tried by a filter either.
  const visible =
    fingerprints.length > 0
      ? underEachTransform(criteria, grants, permission, transform =>
          anyOf(fingerprints.map(text => fingerprintUnder(criteria, grants, transform, text))),
        )
      : visibleTokens(criteria, grants, permission)
  // Filters first: where they match nothing, the rules are not looked at.
  const bounds = allOf([...filterBounds(criteria, filter), visible])
  return listPart(
    deps,
    caller,
    { permission, bounds, text: textOf(filter), sizeAt: 'query.size' },
    part,
  )
}
