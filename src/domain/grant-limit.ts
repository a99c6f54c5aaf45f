/**
 * Whether grants stay within other grants: nothing is seen through the first that the second
 * would not show as plainly.
 *
 * Conservative: where that cannot be proved from the texts of the rules, the answer is no. A rule
 * is taken by its whole area, but for what an earlier rule on a container decides in its place; of
 * its conditions only those on containers narrow it. Sound while a token stands in one container
 * (limits, `containersMax`).
 * Source: contract section 12, `sessions.grants_within_authorizer`.
 * @module
 */
import { plainTransform, transforms, type Grants, type Rule, type Transform } from './access.ts'
import { containerCovers } from './containers.ts'
import type { Permission } from './permissions.ts'

/** Containers that start with a text, or the one that equals it. */
interface Bound {
  readonly text: string
  readonly isExact: boolean
}

/** All bounds hold for each container of the area. */
type Area = readonly Bound[]

const below = (container = '/'): Area => [{ text: container, isExact: false }]

const everywhere: Area = below()

/** Conditions on ids narrow an area further; leaving them out only makes it larger. */
function areaOf({ container, conditions = [] }: Rule): Area {
  if (container !== undefined) return below(container)
  const bounds = conditions
    .filter(({ attribute }) => attribute === 'container')
    .map(({ operator, value }) => ({ text: value, isExact: operator === 'equals' }))
  return [...everywhere, ...bounds]
}

const isInside = (area: Area, container: string): boolean =>
  area.some(({ text }) => containerCovers(container, text))

const isApart = (area: Area, container: string): boolean =>
  area.some(
    ({ text, isExact }) =>
      !containerCovers(container, text) && (isExact || !container.startsWith(text)),
  )

const isAtLeast = (held: Transform, asked: Transform): boolean =>
  transforms.indexOf(held) >= transforms.indexOf(asked)

/** Whether one of these rules decides for all of an area. */
const isDecided = (rules: readonly Rule[], permission: Permission, area: Area): boolean =>
  rules.some(
    ({ permissions, container }) =>
      permissions.includes(permission) && container !== undefined && isInside(area, container),
  )

/** What is asked of the limit: to show as much, in an area but for what earlier rules decide. */
interface Claim {
  readonly permission: Permission
  readonly area: Area
  readonly transform: Transform
  readonly earlier: readonly Rule[]
}

/**
 * Walks the rules of the limit as `decideTransform` does. A rule around the whole area decides
 * for what no rule before it decided; one that may touch the area must show as much on its part.
 */
function reaches(limit: Grants, { permission, area, transform: asked, earlier }: Claim): boolean {
  if (isDecided(earlier, permission, area)) return true
  for (const { permissions, container, transform } of limit.rules) {
    if (!permissions.includes(permission)) continue
    if (container !== undefined && isApart(area, container)) continue
    if (isDecided(earlier, permission, below(container))) continue
    if (!isAtLeast(transform, asked)) return false
    if (container !== undefined && isInside(area, container)) return true
  }
  return limit.permissions.includes(permission) && isAtLeast(plainTransform(permission), asked)
}

/** Whether a claim would show more where a rule that went has decided. */
const takesOver = ({ area, transform }: Claim, { container, transform: shown }: Rule): boolean =>
  !isAtLeast(shown, transform) && (container === undefined || !isApart(area, container))

/**
 * What of grants is provably within a limit, rule by rule and permission by permission. Leaving out
 * the rest shows nothing more, neither than the limit nor than the grants: a later rule that would
 * show more in the place of one that went goes with it.
 */
export function grantsWithin(grants: Grants, limit: Grants): Grants {
  const kept: Rule[] = []
  const gone: Rule[] = []
  const isKept = (permission: Permission, area: Area, transform: Transform): boolean => {
    const claim = { permission, area, transform, earlier: kept }
    const hasGone = (rule: Rule) => rule.permissions.includes(permission) && takesOver(claim, rule)
    return reaches(limit, claim) && !gone.some(hasGone)
  }
  for (const rule of grants.rules) {
    const area = areaOf(rule)
    const { true: held = [], false: lost = [] } = Object.groupBy(rule.permissions, permission =>
      isKept(permission, area, rule.transform) ? 'true' : 'false',
    )
    if (held.length > 0) kept.push({ ...rule, permissions: held })
    if (lost.length > 0) gone.push({ ...rule, permissions: lost })
  }
  const permissions = grants.permissions.filter(permission =>
    isKept(permission, everywhere, plainTransform(permission)),
  )
  return { permissions, rules: kept }
}

const countOf = ({ permissions, rules }: Grants): number =>
  permissions.length + rules.reduce((count, rule) => count + rule.permissions.length, 0)

/** @returns whether each permission and rule of `grants` is provably within `limit` */
export const isWithin = (grants: Grants, limit: Grants): boolean =>
  countOf(grantsWithin(grants, limit)) === countOf(grants)
