/**
 * Whether grants stay within other grants: nothing is seen through the first that the second
 * would not show as plainly.
 *
 * Conservative: where that cannot be proved from the texts of the rules, the answer is no. A rule
 * is taken by its whole area, also where a rule before it decides; of its conditions only those on
 * containers narrow it. Sound while a token stands in one container (limits, `containersMax`).
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

const everywhere: Area = [{ text: '/', isExact: false }]

/** Conditions on ids narrow an area further; leaving them out only makes it larger. */
function areaOf({ container, conditions = [] }: Rule): Area {
  if (container !== undefined) return [{ text: container, isExact: false }]
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

/**
 * Walks the rules of the limit as `decideTransform` does. A rule around the whole area decides
 * for what no rule before it decided; one that may touch the area must show as much on its part.
 */
function reaches(limit: Grants, permission: Permission, area: Area, asked: Transform): boolean {
  for (const { permissions, container, transform } of limit.rules) {
    if (!permissions.includes(permission)) continue
    if (container !== undefined && isApart(area, container)) continue
    if (!isAtLeast(transform, asked)) return false
    if (container !== undefined && isInside(area, container)) return true
  }
  return limit.permissions.includes(permission) && isAtLeast(plainTransform(permission), asked)
}

/** @returns whether each permission and rule of `grants` is provably within `limit` */
export const isWithin = (grants: Grants, limit: Grants): boolean =>
  grants.permissions.every(permission =>
    reaches(limit, permission, everywhere, plainTransform(permission)),
  ) &&
  grants.rules.every(rule =>
    rule.permissions.every(permission => reaches(limit, permission, areaOf(rule), rule.transform)),
  )
