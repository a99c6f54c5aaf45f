/**
 * Who may see what of a token: rules first, in ascending priority, plain permissions last.
 *
 * Pure: decides over grants and a token's place, knows nothing of callers or storage.
 * Source: contract section 11.
 * @module
 */
import { containerCovers } from './containers.ts'
import type { Permission } from './permissions.ts'

export const transforms = ['redact', 'mask', 'reveal'] as const
export type Transform = (typeof transforms)[number]

export const conditionAttributes = ['id', 'container'] as const
export const conditionOperators = ['starts_with', 'equals'] as const

export interface Condition {
  readonly attribute: (typeof conditionAttributes)[number]
  readonly operator: (typeof conditionOperators)[number]
  readonly value: string
}

/** `container` or `conditions`, never both. Smaller priorities decide first. */
export interface Rule {
  readonly description?: string
  readonly priority: number
  readonly container?: string
  readonly conditions?: readonly Condition[]
  readonly transform: Transform
  readonly permissions: readonly Permission[]
}

/** Invariant: rules stand in ascending priority, and no two share one. */
export interface Grants {
  readonly permissions: readonly Permission[]
  readonly rules: readonly Rule[]
}

/** The place of a token, by which rules cover it. */
export interface Place {
  readonly id: string
  readonly containers: readonly string[]
}

/** Plain permissions mask; only `token:use` reveals. */
export const plainTransform = (permission: Permission): Transform =>
  permission === 'token:use' ? 'reveal' : 'mask'

const satisfies = (text: string, { operator, value }: Condition): boolean =>
  operator === 'equals' ? text === value : text.startsWith(value)

function holds(condition: Condition, place: Place): boolean {
  if (condition.attribute === 'id') return satisfies(place.id, condition)
  return place.containers.some(container => satisfies(container, condition))
}

/** A rule without container and conditions covers nothing. */
export function covers(rule: Rule, place: Place): boolean {
  const { container, conditions } = rule
  if (container !== undefined) {
    return place.containers.some(inner => containerCovers(container, inner))
  }
  return conditions !== undefined && conditions.every(condition => holds(condition, place))
}

/** `undefined` when neither a rule nor a plain permission gives that permission on that token. */
export function decideTransform(
  grants: Grants,
  permission: Permission,
  place: Place,
): Transform | undefined {
  for (const rule of grants.rules) {
    if (rule.permissions.includes(permission) && covers(rule, place)) return rule.transform
  }
  return grants.permissions.includes(permission) ? plainTransform(permission) : undefined
}

/** Whether the permission is held at all: decided before any look-up (contract section 2). */
export const holdsAnywhere = (grants: Grants, permission: Permission): boolean =>
  grants.permissions.includes(permission) ||
  grants.rules.some(rule => rule.permissions.includes(permission))

/** Answers of writes show data, but never more than masked (spec: "`data` already masked"). */
export const atMostMask = (transform: Transform): Transform =>
  transform === 'reveal' ? 'mask' : transform

/** Greater where more is shown; -1 where nothing is, not even that there is a token. */
export const rankOf = (transform: Transform | undefined): number =>
  transform === undefined ? -1 : transforms.indexOf(transform)

/** The one that shows less. */
export const lesserOf = (one: Transform, other: Transform): Transform =>
  rankOf(one) < rankOf(other) ? one : other
