/**
 * Visibility: the tokens that a caller may see, or be told of, as bounds of a query.
 * @module
 */
import {
  decideTransform,
  plainTransform,
  type Condition,
  type Grants,
  type Rule,
  shownTransform,
  type LesserTransform,
  type Transform,
  seesAllData,
} from '../../rules/access.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { allOf, anyOf, nothing, without, type Bounds } from './bounds.ts'
import { type Criteria, tokenCriteria } from './criteria.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'

/*
 * Visible tokens: from grants to bounds.
 *
 * The queries find the tokens that the rules can cover; each opened token is then tested with
 * `decideTransform`, which also decides every single read. Source: contract sections 11 and 14.
 */

function ofCondition(criteria: Criteria, { attribute, operator, value }: Condition): Bounds {
  if (attribute === 'id') {
    return operator === 'equals' ? criteria.id(value) : criteria.idStart(value)
  }
  return operator === 'equals' ? criteria.container(value) : criteria.containerStart(value)
}

/** Like `covers` in access.ts: no scope covers nothing, no conditions cover everything. */
function ofRule(criteria: Criteria, { container, conditions }: Rule): Bounds {
  if (container !== undefined) return criteria.covering(container)
  if (conditions === undefined) return nothing
  if (conditions.length === 0) return criteria.every
  return allOf(conditions.map(condition => ofCondition(criteria, condition)))
}

interface RuleBounds {
  readonly transform: Transform
  readonly covered: Bounds
}

/** Bounds of each step in order: rules with that permission, then the plain permission. */
function stepsOf(criteria: Criteria, grants: Grants, permission: TokenPermission): RuleBounds[] {
  const steps = grants.rules
    .filter(rule => rule.permissions.includes(permission))
    .map(rule => ({ transform: rule.transform, covered: ofRule(criteria, rule) }))
  if (!grants.permissions.includes(permission)) return steps
  return [...steps, { transform: plainTransform(permission), covered: criteria.every }]
}

/** Tokens that the grants cover for that permission, under any transform. */
export function visibleTokens(
  criteria: Criteria,
  grants: Grants,
  permission: TokenPermission,
): Bounds {
  if (grants.permissions.includes(permission)) return criteria.every
  const covered = stepsOf(criteria, grants, permission).map(step => step.covered)
  if (covered.includes(criteria.every)) return criteria.every
  const matches: Bounds['matches'] = ({ record }) =>
    decideTransform(grants, permission, record) !== undefined
  return { ...anyOf(covered), matches }
}

/** Visible tokens whose transform is the wanted one. */
function visibleUnder(
  criteria: Criteria,
  grants: Grants,
  permission: TokenPermission,
  steps: readonly RuleBounds[],
  wanted: Transform,
): Bounds {
  if (steps.every(({ transform }) => transform === wanted)) {
    return visibleTokens(criteria, grants, permission)
  }
  let decided = nothing
  for (const { transform, covered } of steps.toReversed()) {
    decided = transform === wanted ? anyOf([covered, decided]) : without(decided, covered)
  }
  const matches: Bounds['matches'] = ({ record }) =>
    decideTransform(grants, permission, record) === wanted
  return { ...decided, matches }
}

/** Visible tokens under each transform that some step has. */
function tokensShownAs(
  criteria: Criteria,
  grants: Grants,
  permission: TokenPermission,
): readonly (readonly [Transform, Bounds])[] {
  const steps = stepsOf(criteria, grants, permission)
  return Array.from(
    new Set(steps.map(({ transform }) => transform)),
    transform => [transform, visibleUnder(criteria, grants, permission, steps, transform)] as const,
  )
}

/**
 * Asks about the visible tokens once for each transform.
 * @param asked  nothing is found that it would not show
 */
export function underEachTransform(
  criteria: Criteria,
  grants: Grants,
  permission: TokenPermission,
  asked: LesserTransform | undefined,
  ask: (transform: Transform) => Bounds,
): Bounds {
  return anyOf(
    tokensShownAs(criteria, grants, permission).map(([transform, shown]) =>
      allOf([ask(shownTransform(transform, asked)), shown]),
    ),
  )
}

/** Matches tokens by a fingerprint that a caller may compare, since they show it. */
export const fingerprintCompared = (
  criteria: Criteria,
  grants: Grants,
  text: string,
  nowMs: number,
): Bounds =>
  seesAllData(grants) ? criteria.fingerprint(text) : criteria.fingerprintShown(text, nowMs)

/** Matches tokens by a fingerprint that the caller is shown. */
export function fingerprintUnder(
  criteria: Criteria,
  grants: Grants,
  transform: Transform,
  text: string,
  nowMs: number,
): Bounds {
  return transform === 'redact' ? nothing : fingerprintCompared(criteria, grants, text, nowMs)
}

/*
 * Reach: the tokens that a caller may be told of when it deduplicates.
 *
 * Such a token is covered by the caller's `token:create`, and readable or created by its own
 * application. decision: "created under the same grants" (contract section 8) means `created_by`,
 * which survives a change of grants; all sessions of a public application are one creator.
 */

export interface VisibleTokens {
  readonly tokens: Bounds
  /** Tokens whose contents may be told. The same object as `tokens` if that is all of them. */
  readonly readable: Bounds
}

/** Drops the parts that match every token; without others, `every` is left. */
function allOfSome(every: Bounds, parts: readonly Bounds[]): Bounds {
  const narrow = parts.filter(part => part !== every)
  return narrow.length === 0 ? every : allOf(narrow)
}

/** The bounds may be inexact for sessions with conditions. */
export function visibleTokensOf(
  { keys, settings }: Pick<Deps, 'keys' | 'settings'>,
  { tenantId, grants, applicationId }: Caller,
): VisibleTokens {
  const criteria = tokenCriteria(keys, tenantId)
  const { every } = criteria
  const readable = visibleTokens(criteria, grants, 'token:read')
  if (settings.tenantWideDeduplication) return { tokens: every, readable }
  const covered = visibleTokens(criteria, grants, 'token:create')
  const known = readable === every ? every : anyOf([readable, criteria.createdBy(applicationId)])
  const tokens = allOfSome(every, [covered, known])
  return { tokens, readable: known === every ? tokens : allOfSome(every, [covered, readable]) }
}
