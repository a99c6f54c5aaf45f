/**
 * Regions: the parts into which the containers of rules divide all tokens. Each is a container
 * without those of the others below it, so that rules decide alike over all tokens of a region.
 *
 * So a change of grants is found by one decision for each region, that of `decideTransform`, and
 * only tokens of regions that change are counted.
 * @module
 */
import { invariant } from '../../lib/errors.ts'
import { decideTransform, type Grants } from '../../rules/access.ts'
import { containerCovers } from '../../rules/container-paths.ts'
import type { GrantsPair, ShownOrHidden } from '../../rules/access-changes.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { anyOf, without, type Bounds } from '../find/bounds.ts'
import type { Criteria } from '../find/criteria.ts'

export interface Region {
  readonly container: string
  /** Containers below it that are regions themselves, without any below those. */
  readonly below: readonly string[]
}

const containersOf = ({ rules }: Grants): readonly string[] =>
  rules.map(({ container }) => {
    invariant(container !== undefined, 'rules of applications go by container')
    return container
  })

/** Returns the regions of both grants together. The first lies in no container of theirs. */
export function regionsOf({ before, after }: GrantsPair): readonly Region[] {
  const containers = new Set(['/', ...containersOf(before), ...containersOf(after)])
  const below = new Map<string, string[]>()
  for (const container of containers) below.set(container, [])
  for (const inner of containers) {
    let nearest: string | undefined
    for (const outer of containers) {
      if (outer === inner || !containerCovers(outer, inner)) continue
      if (nearest === undefined || outer.length > nearest.length) nearest = outer
    }
    if (nearest !== undefined) below.get(nearest)?.push(inner)
  }
  return Array.from(below, ([container, inner]) => ({ container, below: inner }))
}

export const shownIn = (
  grants: Grants,
  permission: TokenPermission,
  { container }: Region,
): ShownOrHidden =>
  decideTransform(grants, permission, { id: '', containers: [container] }) ?? 'hidden'

/** Returns the tokens of some regions, at least one. */
export const tokensIn = (criteria: Criteria, regions: readonly Region[]): Bounds =>
  anyOf(
    regions.map(({ container, below }) => {
      const whole = criteria.covering(container)
      return below.length === 0 ? whole : without(whole, anyOf(below.map(criteria.covering)))
    }),
  )
