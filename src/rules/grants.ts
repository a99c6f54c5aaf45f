/**
 * Checks the permissions and rules that a request wants to grant, beyond their shape.
 *
 * Applications and sessions scope rules differently, so each hands in its own check of the scope.
 * Every fault is reported, by its path. Source: contract section 11.
 * @module
 */
import {
  type Condition,
  type Grants,
  type Rule,
  type Transform,
  plainTransform,
  rankOf,
} from './access.ts'
import { rulePairsPerTurn } from '../limits/work-limits.ts'
import { normaliseContainer } from './container-paths.ts'
import { addFault, expectedBy, throwFaults, type Faults, ApiError, present } from '../lib/errors.ts'
import { mayHold, offeredPermissions, type CallerType, type Permission } from './permissions.ts'

/** A rule of a request, of the right shape. */
export interface RuleDraft {
  readonly description?: string | null
  readonly priority: number
  readonly container?: string | null
  readonly transform: Transform
  readonly permissions: readonly Permission[]
}

export interface GrantsDraft<R extends RuleDraft> {
  readonly permissions?: readonly Permission[] | null
  readonly rules?: readonly R[] | null
}

/** The tokens that a rule covers. Empty only if a fault was added. */
export interface RuleScope {
  readonly container?: string
  readonly conditions?: readonly Condition[]
}

/** @param path of the rule, `rules[0]` */
type CheckScope<R extends RuleDraft> = (faults: Faults, path: string, rule: R) => RuleScope

/** @returns the result of `check`, or `undefined` if it refused: then its fault was added */
export function collectFault<T>(faults: Faults, path: string, check: () => T): T | undefined {
  try {
    return check()
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    addFault(faults, path, expectedBy(thrown))
    return undefined
  }
}

/** Checks the scope of a rule on a container; both kinds of rules may have one. */
export function checkRuleContainer(faults: Faults, path: string, container: string): RuleScope {
  const at = `${path}.container`
  const normal = collectFault(faults, at, () => normaliseContainer(container, at))
  return normal === undefined ? {} : { container: normal }
}

const holderOf = (type: CallerType): string =>
  type === 'session' ? 'a session' : `a ${type} application`

const holdableExpected = (type: CallerType): string => {
  const names = offeredPermissions.filter(permission => mayHold(type, permission))
  return `expected one of those that ${holderOf(type)} may hold: ${names.join(', ')}`
}

function checkPermissions(
  faults: Faults,
  path: string,
  type: CallerType,
  granted: readonly Permission[],
): Permission[] {
  granted.forEach((permission, index) => {
    if (mayHold(type, permission)) return
    addFault(faults, `${path}[${index}]`, holdableExpected(type))
  })
  return [...new Set(granted)]
}

function checkPriorities(faults: Faults, rules: readonly Rule[]): void {
  const seen = new Set<number>()
  rules.forEach((rule, index) => {
    if (seen.has(rule.priority)) {
      addFault(faults, `rules[${index}].priority`, 'expected a priority that no other rule has')
    }
    seen.add(rule.priority)
  })
}

/**
 * @returns grants whose rules are in ascending priority
 * @throws ApiError `invalid_request` with every fault
 */
export function composeGrants<R extends RuleDraft>(
  type: CallerType,
  draft: GrantsDraft<R>,
  checkScope: CheckScope<R>,
): Grants {
  const faults: Faults = new Map()
  const permissions = checkPermissions(faults, 'permissions', type, draft.permissions ?? [])
  const rules = (draft.rules ?? []).map((rule, index): Rule => {
    const path = `rules[${index}]`
    const { description, priority, transform } = rule
    const scope = checkScope(faults, path, rule)
    const held = checkPermissions(faults, `${path}.permissions`, type, rule.permissions)
    return {
      ...(typeof description === 'string' ? { description } : {}),
      priority,
      ...scope,
      transform,
      permissions: held,
    }
  })
  checkPriorities(faults, rules)
  if (type === 'management' && rules.length > 0) {
    addFault(faults, 'rules', 'expected no rules: management applications take permissions only')
  }
  if (permissions.length === 0 && rules.length === 0) {
    addFault(faults, 'permissions', 'expected at least one permission or one rule')
  }
  throwFaults(faults)
  return { permissions, rules: rules.toSorted((a, b) => a.priority - b.priority) }
}

/*
 * The part of grants that is within a limit: it shows nothing more plainly than the limit would, or
 * than the grants themselves do.
 *
 * Containers fall into classes that no bound of any rule distinguishes. For each class, the least
 * that the limit shows there is known. A rule survives, for one permission, if that is enough in
 * every class where it may decide. A dropped rule uncovers the ones after it, so its rank bounds
 * those too. Conservative: only conditions on containers narrow a rule, and ids may be any. Sound
 * while a token is in one container (limits, `containersMax`). Source: contract section 12,
 * `sessions.grants_within_authorizer`.
 */

/** Containers that start with a text, or the one that equals it. */
interface Bound {
  readonly text: string
  readonly isExact: boolean
}

const everywhere: Bound = { text: '/', isExact: false }

const isInside = (inner: Bound, outer: Bound): boolean =>
  outer.isExact ? inner.isExact && inner.text === outer.text : inner.text.startsWith(outer.text)

/** Intersects two beginnings: one continues the other, or they are disjoint. */
function meet(a: Bound | undefined, b: Bound): Bound | undefined {
  if (a === undefined) return undefined
  if (isInside(a, b)) return a
  return isInside(b, a) ? b : undefined
}

/** A rule, and the containers that it may cover; without a bound it covers none. */
interface Area {
  readonly rule: Rule
  readonly rank: number
  readonly bound: Bound | undefined
  /** True if it covers everything there, whatever the id. */
  readonly isWhole: boolean
}

function areaOf(rule: Rule): Area {
  const { container, conditions } = rule
  const rank = rankOf(rule.transform)
  if (container !== undefined) {
    return { rule, rank, bound: { text: container, isExact: false }, isWhole: true }
  }
  // A rule without a scope covers nothing.
  if (conditions === undefined) return { rule, rank, bound: undefined, isWhole: false }
  const onContainers = conditions.filter(({ attribute }) => attribute === 'container')
  const bound = onContainers.reduce(
    (met: Bound | undefined, { operator, value }) =>
      meet(met, { text: value, isExact: operator === 'equals' }),
    everywhere,
  )
  return { rule, rank, bound, isWhole: onContainers.length === conditions.length }
}

/** Containers that every rule of both sides treats alike, with each side's areas there. */
interface Class {
  readonly granted: ReadonlySet<Area>
  readonly limiting: readonly Area[]
}

function classesOf(granted: readonly Area[], limiting: readonly Area[]): readonly Class[] {
  const bounds = [...granted, ...limiting].flatMap(({ bound }) => (bound ? [bound] : []))
  return [everywhere, ...bounds].map(at => {
    const isThere = ({ bound }: Area) => bound !== undefined && isInside(at, bound)
    return { granted: new Set(granted.filter(isThere)), limiting: limiting.filter(isThere) }
  })
}

const plainRank = ({ permissions }: Grants, permission: Permission): number =>
  rankOf(permissions.includes(permission) ? plainTransform(permission) : undefined)

/** Returns the least that grants show, by their areas in one place. */
function leastOf(grants: Grants, areas: readonly Area[], permission: Permission): number {
  let least = Number.POSITIVE_INFINITY
  for (const { rule, rank, isWhole } of areas) {
    if (!rule.permissions.includes(permission)) continue
    least = Math.min(least, rank)
    if (isWhole) return least
  }
  return Math.min(least, plainRank(grants, permission))
}

interface Sides {
  readonly areas: readonly Area[]
  readonly classes: readonly Class[]
  readonly limit: Grants
}

/** @returns the rules that survive for a permission, and whether it survives plainly */
function standing({ areas, classes, limit }: Sides, grants: Grants, permission: Permission) {
  const places = classes.map(({ granted, limiting }) => ({
    granted,
    ceiling: leastOf(limit, limiting, permission),
    isDecided: false,
  }))
  const stands = (open: typeof places, rank: number): boolean => {
    if (open.every(({ ceiling }) => rank <= ceiling)) return true
    for (const place of open) place.ceiling = Math.min(place.ceiling, rank)
    return false
  }
  const rules = new Set<Rule>()
  for (const area of areas) {
    if (!area.rule.permissions.includes(permission)) continue
    const open = places.filter(({ granted, isDecided }) => !isDecided && granted.has(area))
    if (!stands(open, area.rank)) continue
    rules.add(area.rule)
    if (area.isWhole) for (const place of open) place.isDecided = true
  }
  const open = places.filter(({ isDecided }) => !isDecided)
  return { rules, isPlain: stands(open, plainRank(grants, permission)) }
}

const uniqueOf = ({ permissions, rules }: Grants): readonly Permission[] => [
  ...new Set([...permissions, ...rules.flatMap(rule => rule.permissions)]),
]

/**
 * Returns the permissions, plain and of each rule, that are provably within `limit`, without rules
 * that keep none. Takes time in bounds times rules, of both sides.
 */
export function grantsWithin(grants: Grants, limit: Grants): Grants {
  const areas = grants.rules.map(areaOf)
  const limiting = limit.rules.map(areaOf)
  const sides = { areas, classes: classesOf(areas, limiting), limit }
  const held = new Map(uniqueOf(grants).map(each => [each, standing(sides, grants, each)]))
  const heldOf = (permission: Permission) =>
    present(held.get(permission), 'every permission of the grants is looked at')
  const rules = grants.rules.flatMap(rule => {
    const left = rule.permissions.filter(each => heldOf(each).rules.has(rule))
    return left.length === 0 ? [] : [{ ...rule, permissions: left }]
  })
  return { permissions: grants.permissions.filter(each => heldOf(each).isPlain), rules }
}

/** True if it takes so long to compare them that a turn of long work is due. */
export const isLongToCompare = (grants: Grants, limit: Grants): boolean =>
  grants.rules.length * limit.rules.length > rulePairsPerTurn

const countOf = ({ permissions, rules }: Grants): number =>
  rules.reduce((count, rule) => count + rule.permissions.length, permissions.length)

/** @returns true if each permission and rule of `grants` is provably within `limit` */
export const isWithin = (grants: Grants, limit: Grants): boolean =>
  countOf(grantsWithin(grants, limit)) === countOf(grants)
