/**
 * Compares what two grants show of all stored tokens: exact counts by the index, without reading
 * tokens one by one.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { invariant } from '../../lib/errors.ts'
import { pauses } from '../../lib/work.ts'
import { reserveRows, type Budgeted } from '../../records/budgeted.ts'
import { plainTransform, transforms, type Grants } from '../../rules/access.ts'
import {
  showingPermissions,
  type AccessChange,
  type GrantsPair,
  type ShownAs,
} from '../../rules/access-changes.ts'
import type { Caller } from '../../rules/caller.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { allOf, anyOf, isExact, nothing, without, type Bounds } from '../find/bounds.ts'
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
  const parts = new Map<ShownAs, Bounds>(tokensShownAs(criteria, grants, permission))
  const visible = visibleTokens(criteria, grants, permission)
  if (visible !== criteria.every) parts.set('hidden', without(criteria.every, visible))
  return parts
}

/** Returns a text that is equal for grants that decide alike by that permission. */
const deciding = ({ permissions, rules }: Grants, permission: TokenPermission): string =>
  JSON.stringify([
    rules
      .filter(rule => rule.permissions.includes(permission))
      .map(({ container, transform }) => [container, transform]),
    permissions.includes(permission) && plainTransform(permission),
  ])

interface Moved extends Pick<AccessChange, 'permission' | 'from' | 'to'> {
  readonly tokens: Bounds
}

/** The kinds of change that can be, each with its tokens: none, or as many as there are. */
function possibleMoves(criteria: Criteria, { before, after }: GrantsPair): readonly Moved[] {
  const moves: Moved[] = []
  for (const permission of showingPermissions) {
    if (deciding(before, permission) === deciding(after, permission)) continue
    const [old, next] = [before, after].map(each => partsOf(criteria, each, permission))
    for (const from of shownOrder) {
      for (const to of shownOrder) {
        const [left, right] = [old?.get(from), next?.get(to)]
        if (from === to || left === undefined || right === undefined) continue
        moves.push({ permission, from, to, tokens: allOf([left, right]) })
      }
    }
  }
  return moves
}

type Reader = Pick<Deps, 'store' | 'keys' | 'now' | 'elapsedMs'>

const exactQuery = (bounds: Bounds) => {
  invariant(isExact(bounds), 'rules of applications go by container')
  return bounds.upper
}

/**
 * @param charge  takes the number of questions to the store before the first is asked, at most 36
 * @param samplesMax  ids in all
 * @throws ApiError `overloaded` if the sampled rows need more memory than is free; as `charge`
 */
export async function compareAccess(
  { store, keys, now, elapsedMs }: Reader,
  caller: Pick<Caller, 'tenantId'> & Budgeted,
  pair: GrantsPair,
  samplesMax: number,
  charge: (questions: number) => void,
): Promise<readonly AccessChange[]> {
  const { tenantId } = caller
  const moves = possibleMoves(tokenCriteria(keys, tenantId), pair)
  charge(moves.length)
  const nowMs = now()
  const pause = pauses(elapsedMs)
  const changes: AccessChange[] = []
  let samplesLeft = samplesMax
  for (const { tokens, ...kind } of moves) {
    const window = { offset: 0, limit: samplesLeft, nowMs }
    const { rows, total } = await store.page(exactQuery(tokens), window)
    reserveRows(caller, rows)
    const samples = rows.map(row => unsealToken(keys, tenantId, row).record.id)
    samplesLeft -= samples.length
    if (total > 0) changes.push({ ...kind, count: total, samples })
    await pause()
  }
  return changes
}

/** Tokens that some permission reveals. */
const revealed = (criteria: Criteria, grants: Grants): Bounds =>
  anyOf([
    nothing,
    ...showingPermissions.flatMap(permission =>
      tokensShownAs(criteria, grants, permission)
        .filter(([transform]) => transform === 'reveal')
        .map(([, tokens]) => tokens),
    ),
  ])

/** Returns how many tokens are revealed after and were not before, by whatever permission. */
export async function countNewlyRevealed(
  { store, keys, now }: Pick<Deps, 'store' | 'keys' | 'now'>,
  tenantId: string,
  { before, after }: GrantsPair,
): Promise<number> {
  const criteria = tokenCriteria(keys, tenantId)
  const tokens = without(revealed(criteria, after), revealed(criteria, before))
  const window = { offset: 0, limit: 0, nowMs: now() }
  return (await store.page(exactQuery(tokens), window)).total
}
