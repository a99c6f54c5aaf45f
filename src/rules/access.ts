/**
 * Access: by `decideTransform` a caller has a token revealed, masked, redacted or hidden. Before it
 * stand containers, by which rules cover tokens.
 * @module
 */
import { invalid } from '../lib/errors.ts'
import { containerCharsMax, containerSegmentsMax } from '../limits/limits.ts'
import type { Permission } from './permissions.ts'

/*
 * Containers: paths that group tokens, `/pci/high/`.
 *
 * A normal container is in lower case, starts and ends with `/`, and has only non-empty segments of
 * ASCII letters, digits, `_` and `-`. So a prefix is always a whole-segment prefix. Source:
 * contract section 7.
 */

// No flags: with `i` and `u` the Kelvin sign would count as a letter.
const shape = /^\/(?:[A-Za-z0-9_-]+\/)*$/

const separator = '/'

const segmentsOf = (container: string): readonly string[] => container.split(separator).slice(1, -1)

/**
 * decision: `/` alone is a container, for rules and for tokens. Only a rule on `/` covers a token
 * there, so it is the narrowest place, not the widest.
 * @param at  path under which a fault is reported
 * @returns the container in lower case
 * @throws ApiError `invalid_request`
 */
export const normaliseContainer = (container: string, at: string): string => {
  if (container.length > containerCharsMax) {
    throw invalid(at, `expected at most ${containerCharsMax} characters, got ${container.length}`)
  }
  if (!shape.test(container)) {
    throw invalid(at, 'expected a path as /a/b-1/ of letters, digits, underscores and dashes')
  }
  if (segmentsOf(container).length > containerSegmentsMax) {
    throw invalid(at, `expected at most ${containerSegmentsMax} segments`)
  }
  return container.toLowerCase()
}

/**
 * Normalises the beginning of a container, which may end within a segment: `/pci`. The empty text
 * begins all containers.
 * @param at  path under which a fault is reported
 * @returns the beginning in lower case
 * @throws ApiError `invalid_request` if no container can begin so
 */
export const normaliseContainerStart = (text: string, at: string): string =>
  text.endsWith('/')
    ? normaliseContainer(text, at)
    : normaliseContainer(text + '/', at).slice(0, -1)

/**
 * Both in normal form, where the closing `/` makes a prefix end with a segment.
 * @returns true if `inner` is `outer` or lies below it
 */
export const containerCovers = (outer: string, inner: string): boolean => inner.startsWith(outer)

/**
 * @param container  in normal form
 * @returns every container that covers it, from `/` to itself
 */
export const containerAncestors = (container: string): string[] => {
  const ancestors = [separator]
  for (const segment of segmentsOf(container)) {
    ancestors.push(`${ancestors.at(-1)}${segment}${separator}`)
  }
  return ancestors
}

/*
 * Access to a token: rules first, in ascending priority, plain permissions last.
 *
 * Pure: decides from grants and a token's place, without callers or storage. Source: contract
 * section 11.
 */

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
