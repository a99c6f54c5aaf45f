/**
 * Compares what two grants show of all stored tokens: exact counts by the index, without reading
 * tokens one by one.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { invariant } from '../../lib/errors.ts'
import { reserveRows, type Budgeted } from '../../records/budgeted.ts'
import {
  showingPermissions,
  type ShownChange,
  type GrantsPair,
} from '../../rules/access-changes.ts'
import type { Caller } from '../../rules/caller.ts'
import type { RowPage } from '../../store/contract.ts'
import { isExact, type Bounds } from '../find/bounds.ts'
import { tokenCriteria } from '../find/criteria.ts'
import { unsealToken } from '../token-record.ts'
import { regionsOf, shownIn, tokensIn, type Region } from './regions.ts'

interface Moved extends Pick<ShownChange, 'permission' | 'from' | 'to'> {
  readonly regions: Region[]
  /** Equal for those of the same regions. */
  key: string
}

/** The changes that there can be, each with the regions in which it happens. */
function movesOf(pair: GrantsPair): readonly Moved[] {
  const moves = new Map<string, Moved>()
  const regions = regionsOf(pair)
  for (const permission of showingPermissions) {
    for (const [at, region] of regions.entries()) {
      const from = shownIn(pair.before, permission, region)
      const to = shownIn(pair.after, permission, region)
      if (from === to) continue
      const name = `${permission} ${from} ${to}`
      const move = moves.get(name) ?? { permission, from, to, regions: [], key: '' }
      move.regions.push(region)
      move.key += ` ${at}`
      moves.set(name, move)
    }
  }
  return [...moves.values()]
}

type Reader = Pick<Deps, 'store' | 'keys' | 'now' | 'turns'>
type Asker = Pick<Caller, 'tenantId' | 'applicationId' | 'credential'>

const exactQuery = (bounds: Bounds) => {
  invariant(isExact(bounds), 'containers are looked up by terms')
  return bounds.upper
}

/** Samples are shared out among the changes: each has one, as far as they go. */
const shareOf = (samples: number, changes: number): number =>
  Math.min(samples, Math.max(1, Math.floor(samples / changes)))

/**
 * Each question is a turn of long work: hundreds of simulations at once keep nobody waiting for
 * more than one question.
 * @param charge  takes the number of questions to the store before the first is asked, at most 36
 * @param samplesMax  ids in all
 * @throws ApiError `overloaded` if the sampled rows need more memory than is free; as `charge`
 */
export async function compareAccess(
  { store, keys, now, turns }: Reader,
  caller: Asker & Budgeted,
  pair: GrantsPair,
  samplesMax: number,
  charge: (questions: number) => void,
): Promise<readonly ShownChange[]> {
  const { tenantId } = caller
  await turns.next(caller)
  const moves = movesOf(pair)
  const answers = new Map<string, RowPage | undefined>(moves.map(({ key }) => [key, undefined]))
  charge(answers.size)
  const criteria = tokenCriteria(keys, tenantId)
  const window = { offset: 0, limit: shareOf(samplesMax, moves.length), nowMs: now() }
  const changes: ShownChange[] = []
  let samplesLeft = samplesMax
  for (const { key, regions, permission, from, to } of moves) {
    let page = answers.get(key)
    if (page === undefined) {
      await turns.next(caller)
      page = await store.page(exactQuery(tokensIn(criteria, regions)), window)
      answers.set(key, page)
      reserveRows(caller, page.rows)
    }
    const sampled = page.rows.slice(0, samplesLeft)
    samplesLeft -= sampled.length
    const samples = sampled.map(row => unsealToken(keys, tenantId, row).record.id)
    if (page.total > 0) changes.push({ permission, from, to, count: page.total, samples })
  }
  return changes
}

/** Returns how many tokens are revealed after and were not before, by whatever permission. */
export async function countNewlyRevealed(
  { store, keys, now, turns }: Reader,
  caller: Asker,
  pair: GrantsPair,
): Promise<number> {
  await turns.next(caller)
  const reveals = (grants: GrantsPair['before'], region: Region): boolean =>
    showingPermissions.some(permission => shownIn(grants, permission, region) === 'reveal')
  const regions = regionsOf(pair).filter(
    region => reveals(pair.after, region) && !reveals(pair.before, region),
  )
  if (regions.length === 0) return 0
  const query = exactQuery(tokensIn(tokenCriteria(keys, caller.tenantId), regions))
  return (await store.page(query, { offset: 0, limit: 0, nowMs: now() })).total
}
