/**
 * Access to a token: by `decideTransform` a caller has it revealed, masked, redacted or hidden.
 * Rules come first, in ascending priority, plain permissions last.
 *
 * Pure: decides from grants and a token's place, without callers or storage. Source: contract
 * section 11.
 * @module
 */
import { containerCovers } from './container-paths.ts'
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

/** Has `container` or `conditions`, never both. Smaller priorities decide first. */
export interface Rule {
  readonly description?: string
  readonly priority: number
  readonly container?: string
  readonly conditions?: readonly Condition[]
  readonly transform: Transform
  readonly permissions: readonly Permission[]
}

/** Invariant: rules are in ascending order of priority, without duplicates. */
export interface Grants {
  readonly permissions: readonly Permission[]
  readonly rules: readonly Rule[]
}

/** The place of a token, by which rules cover it. */
export interface RuledPlace {
  readonly id: string
  readonly containers: readonly string[]
}

/** Plain permissions mask; only `token:use` reveals. */
export const plainTransform = (permission: Permission): Transform =>
  permission === 'token:use' ? 'reveal' : 'mask'

const satisfies = (text: string, { operator, value }: Condition): boolean =>
  operator === 'equals' ? text === value : text.startsWith(value)

export function conditionHolds(condition: Condition, place: RuledPlace): boolean {
  if (condition.attribute === 'id') return satisfies(place.id, condition)
  return place.containers.some(container => satisfies(container, condition))
}

/** A rule without container and conditions covers nothing. */
export function covers(rule: Rule, place: RuledPlace): boolean {
  const { container, conditions } = rule
  if (container !== undefined) {
    return place.containers.some(inner => containerCovers(container, inner))
  }
  return conditions !== undefined && conditions.every(condition => conditionHolds(condition, place))
}

/** `undefined` if a plain permission decides, or nothing grants that permission. */
export function decidingRule(
  { rules }: Grants,
  permission: Permission,
  place: RuledPlace,
): Rule | undefined {
  for (const rule of rules) {
    if (rule.permissions.includes(permission) && covers(rule, place)) return rule
  }
  return undefined
}

/** `undefined` if neither a rule nor a plain permission grants that permission on that token. */
export function decideTransform(
  grants: Grants,
  permission: Permission,
  place: RuledPlace,
): Transform | undefined {
  const rule = decidingRule(grants, permission, place)
  if (rule !== undefined) return rule.transform
  return grants.permissions.includes(permission) ? plainTransform(permission) : undefined
}

/**
 * Returns the name of what decides, for the audit log: `rule 0` by its place in the order, the
 * plain permission, or `none`.
 */
export function decidedBy(grants: Grants, permission: Permission, place: RuledPlace): string {
  const rule = decidingRule(grants, permission, place)
  if (rule !== undefined) return `rule ${grants.rules.indexOf(rule)}`
  return grants.permissions.includes(permission) ? permission : 'none'
}

/** True if the permission is held at all: decided before any look-up (contract section 2). */
export const holdsAnywhere = (grants: Grants, permission: Permission): boolean =>
  grants.permissions.includes(permission) ||
  grants.rules.some(rule => rule.permissions.includes(permission))

/** Answers of writes show data, but never more than masked (spec: "`data` already masked"). */
export const atMostMask = (transform: Transform): Transform =>
  transform === 'reveal' ? 'mask' : transform

/** Greater if more is shown; -1 if nothing is, not even the token's existence. */
export const rankOf = (transform: Transform | undefined): number =>
  transform === undefined ? -1 : transforms.indexOf(transform)

/** Returns the one that shows less. */
export const lesserOf = (one: Transform, other: Transform): Transform =>
  rankOf(one) < rankOf(other) ? one : other

/** Transforms by which a caller may ask for less than its grants give, and never for more. */
export const lesserTransforms = ['redact', 'mask'] as const
export type LesserTransform = (typeof lesserTransforms)[number]

/** Returns what is shown of a token to a caller who may have asked for less. */
export const shownTransform = (
  decided: Transform,
  asked: LesserTransform | undefined,
): Transform => (asked === undefined ? decided : lesserOf(decided, asked))

/*
 * Checks that the caller sees everything an answer could reveal, so that it has nothing to guess.
 */

const coversAll = ({ container, conditions }: Rule): boolean =>
  container === '/' || (container === undefined && conditions?.length === 0)

/**
 * True if everything that the grants cover for that permission is revealed. A rule that covers
 * everything makes all later ones irrelevant.
 */
export function revealsAll({ permissions, rules }: Grants, permission: Permission): boolean {
  for (const rule of rules) {
    if (!rule.permissions.includes(permission)) continue
    if (rule.transform !== 'reveal') return false
    if (coversAll(rule)) return true
  }
  return !permissions.includes(permission) || plainTransform(permission) === 'reveal'
}

/** True if every existing token would be revealed, whatever covers it. */
export const revealsEverywhere = (
  { permissions, rules }: Grants,
  permission: Permission,
): boolean => {
  const deciding = rules.filter(rule => rule.permissions.includes(permission))
  const last = deciding.findIndex(coversAll)
  const before = last < 0 ? deciding : deciding.slice(0, last + 1)
  const isRevealed = before.every(rule => rule.transform === 'reveal')
  if (last >= 0) return isRevealed
  return isRevealed && permissions.includes(permission) && plainTransform(permission) === 'reveal'
}

/**
 * True if the caller has nothing to guess: tokens equal to a given one lie wherever it creates, not
 * only in that one's container.
 */
export const seesAllData = (grants: Grants): boolean => revealsEverywhere(grants, 'token:read')
