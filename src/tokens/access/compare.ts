/**
 * Compares what two grants show of all stored tokens: exact counts by the index, without reading
 * tokens one by one.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { transforms, type Grants } from '../../rules/access.ts'
import { showingPermissions, type AccessChange, type ShownAs } from '../../rules/access-changes.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { invariant } from '../../lib/errors.ts'
import { allOf, isExact, without, type Bounds } from '../find/bounds.ts'
import { tokenCriteria, type Criteria } from '../find/criteria.ts'
import { tokensShownAs, visibleTokens } from '../find/visibility.ts'
import { unsealToken } from '../token-record.ts'

const shownOrder: readonly ShownAs[] = [...transforms, 'hidden']

/** Tokens by how grants show them; kinds that no rule leads to are left out. */
function partsOf(
  criteria: Criteria,
  grants: Grants,
  permission: TokenPermission,
): ReadonlyMap<ShownAs, Bounds> {
  const parts = new Map<ShownAs, Bounds>()
  for (const [transform, bounds] of tokensShownAs(criteria, grants, permission)) {
    parts.set(transform, bounds)
  }
  const visible = visibleTokens(criteria, grants, permission)
  if (visible !== criteria.every) parts.set('hidden', without(criteria.every, visible))
  return parts
}

/**
 * @param before  grants whose rules go by container, as those of applications do
 * @param samplesMax  ids in all
 */
export async function compareAccess(
  { store, keys, now }: Pick<Deps, 'store' | 'keys' | 'now'>,
  tenantId: string,
  before: Grants,
  after: Grants,
  samplesMax: number,
): Promise<readonly AccessChange[]> {
  const criteria = tokenCriteria(keys, tenantId)
  const nowMs = now()
  const changes: AccessChange[] = []
  let samplesLeft = samplesMax
  for (const permission of showingPermissions) {
    const [old, next] = [before, after].map(each => partsOf(criteria, each, permission))
    for (const from of shownOrder) {
      for (const to of shownOrder) {
        const [left, right] = [old?.get(from), next?.get(to)]
        if (from === to || left === undefined || right === undefined) continue
        const moved = allOf([left, right])
        invariant(isExact(moved), 'rules of applications go by container')
        const window = { offset: 0, limit: samplesLeft, nowMs }
        const { rows, total } = await store.page(moved.upper, window)
        if (total === 0) continue
        const samples = rows.map(row => unsealToken(keys, tenantId, row).record.id)
        samplesLeft -= samples.length
        changes.push({ permission, from, to, count: total, samples })
      }
    }
  }
  return changes
}
