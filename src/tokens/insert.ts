/**
 * Inserting planned tokens, one or many: whatever comes of them comes in one write.
 *
 * Each attempt decides every plan anew, in order: a new row, or an equal token in its place. When a
 * unique was taken meanwhile, expired holders leave with the next attempt, and ids that are held by
 * live tokens are drawn again. Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../deps.ts'
import { atMostMask, decideTransform, type Transform } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import { TextMap } from '../domain/text-map.ts'
import { ApiError, invalid, type ErrorKind } from '../errors.ts'
import { bulkAnswerCharsMax } from '../limits.ts'
import { isExpired } from '../records/deadline.ts'
import { untilWritten, writeAs } from '../records/write.ts'
import type { Change, NewRow } from '../store/contract.ts'
import { dedupUnique, findEqual } from './dedup.ts'
import { pauses } from './pause.ts'
import type { Plan } from './plan.ts'
import { sealToken } from './record.ts'
import type { TokenRecord } from './stored-form.ts'
import { viewStored, viewUnreadable, viewWritten, type Frame, type WrittenData } from './view.ts'

export interface Answer {
  readonly id: string
  /** What stands for the token in the answer. */
  readonly json: string
}

/** What is refused of one plan. Throwing from it leaves the store as it was. */
export type Refuse = (index: number, error: ApiError) => void

interface Named {
  readonly record: TokenRecord
  readonly transform: Transform
}

interface Made extends Named {
  readonly row: NewRow
  readonly written: WrittenData
  readonly answer: Answer
}

interface Entry {
  readonly plan: Plan
  /** How often its id was found taken. */
  collisions: number
  made: Made | undefined
  isRefused: boolean
}

/** What one attempt wants to insert. */
interface Batch {
  readonly entries: Entry[]
  readonly ids: TextMap<true>
  /** By fingerprint; the first of equal ones. */
  readonly equals: Map<string, Made>
}

function nameToken(deps: Deps, caller: Caller, { plan, collisions }: Entry): Named {
  const drawn = plan.drawId(collisions)
  if (drawn === undefined) throw new ApiError('conflict', 'A token with this id exists.')
  const given = {
    ...plan.composed.record,
    id: drawn.id,
    createdBy: caller.applicationId,
    createdAtMs: deps.now(),
  }
  const record: TokenRecord = drawn.isDefault ? { ...given, idIsRandom: true } : given
  const transform = decideTransform(caller.grants, 'token:create', record)
  if (transform === undefined) {
    throw new ApiError('forbidden', 'expected a container that a rule with token:create covers')
  }
  return { record, transform }
}

function makeToken(deps: Deps, caller: Caller, plan: Plan, named: Named): Made {
  const { tenantId } = caller
  const { record, transform } = named
  const { contents, data } = plan.composed
  const written = { data, dataText: contents.dataText }
  const asked = record.deduplicates === true
  const uniques = asked ? [dedupUnique(deps.keys, tenantId, record)] : []
  const frame = asked ? { deduplicated: false } : {}
  const json = plan.isBare
    ? JSON.stringify(record.id)
    : viewWritten(record, tenantId, atMostMask(transform), written, frame)
  const row = sealToken(deps, tenantId, record, contents, 1, uniques)
  return { ...named, row, written, answer: { id: record.id, json } }
}

/** An equal token as it is read, or the little that is said of it to those who may not read it. */
function showEqual(
  caller: Caller,
  record: TokenRecord,
  view: (transform: Transform, frame: Frame) => string,
): Answer {
  const transform = decideTransform(caller.grants, 'token:read', record)
  const frame = { deduplicated: true }
  const json =
    transform === undefined
      ? viewUnreadable(record, caller.tenantId, frame)
      : view(transform, frame)
  return { id: record.id, json }
}

/** Stored tokens come first: they are older than those of this batch. */
async function findAnswer(
  deps: Deps,
  caller: Caller,
  contents: TokenRecord,
  batch: Batch,
): Promise<Answer | undefined> {
  const { tenantId } = caller
  const stored = await findEqual(deps, tenantId, contents)
  if (stored !== undefined) {
    return showEqual(caller, stored.record, (transform, frame) =>
      viewStored(tenantId, stored, transform, frame),
    )
  }
  const twin = batch.equals.get(contents.fingerprint)
  if (twin === undefined) return undefined
  return showEqual(caller, twin.record, (transform, frame) =>
    viewWritten(twin.record, tenantId, transform, twin.written, frame),
  )
}

/** Named as no other one of the batch is. */
function nameInBatch(deps: Deps, caller: Caller, entry: Entry, { ids }: Batch): Named {
  let named: Named = entry.made ?? nameToken(deps, caller, entry)
  while (ids.has(named.record.id)) {
    entry.collisions += 1
    entry.made = undefined
    named = nameToken(deps, caller, entry)
  }
  return named
}

const refusals: readonly ErrorKind[] = ['invalid_request', 'forbidden', 'conflict']

/** `undefined` for what is refused, and for every other error as it is. */
function nameOrRefuse(
  refuse: (error: ApiError) => void,
  entry: Entry,
  name: () => Named,
): Named | undefined {
  if (entry.isRefused) return undefined
  try {
    return name()
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || !refusals.includes(thrown.kind)) throw thrown
    entry.isRefused = true
    refuse(thrown)
    return undefined
  }
}

function addToBatch(
  deps: Deps,
  caller: Caller,
  entry: Entry,
  named: Named,
  { entries, ids, equals }: Batch,
): Answer {
  const { id, fingerprint } = named.record
  entry.made ??= makeToken(deps, caller, entry.plan, named)
  entries.push(entry)
  ids.set(id, true)
  if (!equals.has(fingerprint)) equals.set(fingerprint, entry.made)
  return entry.made.answer
}

async function decideAll(
  deps: Deps,
  caller: Caller,
  entries: readonly Entry[],
  refuse: Refuse,
): Promise<{ readonly batch: Batch; readonly answers: readonly (Answer | undefined)[] }> {
  const batch: Batch = { entries: [], ids: new TextMap(), equals: new Map() }
  const answers: (Answer | undefined)[] = []
  const pause = pauses(deps.elapsedMs)
  let chars = 0
  for (const [index, entry] of entries.entries()) {
    const named = nameOrRefuse(
      error => refuse(index, error),
      entry,
      () => nameInBatch(deps, caller, entry, batch),
    )
    const equal =
      named?.record.deduplicates && (await findAnswer(deps, caller, named.record, batch))
    const answer = named && (equal || addToBatch(deps, caller, entry, named, batch))
    answers.push(answer)
    chars += answer?.json.length ?? 0
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    const turn = pause()
    if (turn !== undefined) await turn
  }
  return { batch, answers }
}

/** What stood in the way of a write: what of it is expired is to leave, other ids are drawn. */
async function clearWay(deps: Deps, entries: readonly Entry[]): Promise<readonly Change[]> {
  const leaving = new Map<number, Change>()
  for (const entry of entries) {
    for (const [index, unique] of (entry.made?.row.uniques ?? []).entries()) {
      const holder = await deps.store.find(unique)
      if (holder === undefined) continue
      if (isExpired(holder, deps.settled())) {
        leaving.set(holder.ordinal, { remove: holder.ordinal, ifVersion: holder.version })
      } else if (index === 0) {
        entry.collisions += 1
        entry.made = undefined
      }
    }
  }
  return [...leaving.values()]
}

/**
 * @param refuse is told of a plan that cannot be inserted: `forbidden` for its container,
 *   `conflict` for its id, `invalid_request` for an id that could not be drawn
 * @returns one answer for each plan, `undefined` where it was refused
 */
export async function insertTokens(
  deps: Deps,
  caller: Caller,
  plans: readonly Plan[],
  refuse: Refuse,
): Promise<readonly (Answer | undefined)[]> {
  const entries = plans.map((plan): Entry => ({
    plan,
    collisions: 0,
    made: undefined,
    isRefused: false,
  }))
  let leaving: readonly Change[] = []
  return untilWritten(async () => {
    const { batch, answers } = await decideAll(deps, caller, entries, refuse)
    const inserts = batch.entries.flatMap(({ made }) => (made ? [{ insert: made.row }] : []))
    if (inserts.length === 0) return { result: answers }
    const landed = await writeAs(deps.store, caller, [...leaving, ...inserts])
    if (landed) return { result: answers }
    leaving = await clearWay(deps, batch.entries)
    return undefined
  })
}
