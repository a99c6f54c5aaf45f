/**
 * Inserting planned tokens, one or many: whatever comes of them comes in one write.
 *
 * Each attempt decides every plan anew. When a unique was taken meanwhile, expired holders leave
 * with the next attempt, and ids that are held by live tokens are drawn again.
 * Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { isExpired } from '../../records/sealed-row.ts'
import { untilWritten, writeAs, type Effect } from '../../records/write.ts'
import type { Change } from '../../store/contract.ts'
import { decideAll, entryOf, type Answer, type Entry, type Refuse } from './batch.ts'
import { spendCreates, spendFingerprints } from '../find/guesses.ts'
import type { Plan } from './plan.ts'

/** What the answers come to, as it is kept for whoever asks again. */
export type Tell = (answers: readonly (Answer | undefined)[]) => Effect

/**
 * Whose ids stood in the way of a write: who of them is expired is to leave, other ids are drawn.
 * Who holds a seat is looked for anew with each attempt.
 */
async function clearWay(
  deps: Deps,
  entries: readonly Entry[],
): Promise<ReadonlyMap<number, Change>> {
  const leaving = new Map<number, Change>()
  for (const entry of entries) {
    const [id] = entry.made?.row.uniques ?? []
    const holder = id && (await deps.store.find(id))
    if (holder === undefined) continue
    if (isExpired(holder, deps.settled())) {
      leaving.set(holder.ordinal, { remove: holder.ordinal, ifVersion: holder.version })
    } else {
      entry.collisions += 1
      entry.named = undefined
      entry.made = undefined
    }
  }
  return leaving
}

/**
 * @param refuse is told of a plan that cannot be inserted: `forbidden` for its container,
 *   `conflict` for its id, `invalid_request` for an id that could not be drawn
 * @param tell is asked once for each write, when all that is refused was refused
 * @returns one answer for each plan, `undefined` where it was refused
 * @throws ApiError `too_many_requests` where the caller has no guesses left
 */
export async function insertTokens(
  deps: Deps,
  caller: Caller,
  plans: readonly Plan[],
  refuse: Refuse,
  tell: Tell = () => null,
): Promise<readonly (Answer | undefined)[]> {
  const comparable = spendFingerprints(deps, caller, plans.length)
  const entries = plans.map((plan, index) => entryOf(plan, index >= comparable))
  const counted = spendCreates(deps, caller, plans, refuse)
  let leaving: ReadonlyMap<number, Change> = new Map()
  return untilWritten(async () => {
    const { batch, answers } = await decideAll(deps, caller, entries, counted)
    const inserts = batch.entries.flatMap(({ made }) => (made ? [{ insert: made.row }] : []))
    const isNew = inserts.length > 0
    if (isNew && batch.isLate) return undefined
    const others = new Map([...batch.changes, ...leaving]).values()
    const changes = isNew ? [...others, ...inserts] : []
    const landed = await writeAs(deps.store, caller, changes, () => tell(answers))
    if (landed) return { result: answers }
    leaving = await clearWay(deps, batch.entries)
    return undefined
  })
}
