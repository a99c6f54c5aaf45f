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
import { assertAffordable } from '../domain/expression/run.ts'
import { TextMap } from '../domain/text-map.ts'
import { ApiError, invalid, type ErrorKind } from '../errors.ts'
import { bulkAnswerCharsMax } from '../limits.ts'
import { isExpired } from '../records/deadline.ts'
import { untilWritten, writeAs, type Effect } from '../records/write.ts'
import type { Change, NewRow } from '../store/contract.ts'
import { decideHolding, findEqual, type Holding } from './dedup.ts'
import { spendCreates } from './guesses.ts'
import { assertMayMask } from './mask-rights.ts'
import type { Plan } from './plan.ts'
import { reachOf, type Reach } from './reach.ts'
import { sealToken } from './record.ts'
import type { TokenRecord } from './stored-form.ts'
import { viewStored, viewUnreadable, viewWritten, type Frame, type WrittenData } from './view.ts'
import type { Work } from './work.ts'

export interface Answer {
  readonly id: string
  /** What stands for the token in the answer. */
  readonly json: string
  /** Present where deduplication was asked for. */
  readonly deduplicated?: boolean
}

/** What is refused of one plan. Throwing from it leaves the store as it was. */
export type Refuse = (index: number, error: ApiError) => void

/** What the answers come to, as it is kept for whoever asks again. */
export type Tell = (answers: readonly (Answer | undefined)[]) => Effect

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
  /** Under the first id that was drawn, taken or not: an equal token is looked for by it. */
  first: Named | undefined
  /** Under the id that was drawn last. */
  named: Named | undefined
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
  /** What must hold for deduplication, by ordinal. */
  readonly changes: Map<number, Change>
  /** Made once it is needed. */
  reach: Reach | undefined
  /** An equal token came up after it had been looked for. */
  isLate: boolean
}

function nameToken(deps: Deps, caller: Caller, { plan }: Entry, draw: number): Named {
  const drawn = plan.drawId(draw)
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
  assertMayMask(deps.settings, transform, plan.composed, plan.work.meter)
  return { record, transform }
}

function makeToken(
  deps: Deps,
  { tenantId }: Caller,
  plan: Plan,
  { record, transform }: Named,
  { uniques }: Pick<Holding, 'uniques'>,
): Made {
  const { contents, data } = plan.composed
  const written = { data, dataText: contents.dataText }
  const frame = record.deduplicates === true ? { deduplicated: false } : {}
  const json = plan.isBare
    ? JSON.stringify(record.id)
    : viewWritten(record, tenantId, atMostMask(transform), written, frame, plan.work.meter)
  const row = sealToken(deps, tenantId, record, contents, 1, uniques)
  return { record, transform, row, written, answer: { id: record.id, json, ...frame } }
}

/**
 * An equal token as it is read, but never beyond mask, since this request may not have sent all of
 * it; or the little that is said of it to those who may not read it (contract section 8).
 */
export function showEqual(
  { grants }: Caller,
  record: TokenRecord,
  view: (transform: Transform, frame: Frame) => string,
): Answer {
  const frame = { deduplicated: true }
  const transform = decideTransform(grants, 'token:read', record)
  if (transform !== undefined) {
    return { id: record.id, json: view(atMostMask(transform), frame), ...frame }
  }
  const isRedacted = decideTransform(grants, 'token:create', record) === 'redact'
  return { id: record.id, json: viewUnreadable(record, isRedacted), ...frame }
}

/** Stored tokens come first: they are older than those of this batch. */
async function findAnswer(
  deps: Deps,
  caller: Caller,
  reach: Reach,
  contents: TokenRecord,
  { equals }: Batch,
  { meter }: Work,
): Promise<Answer | undefined> {
  const { tenantId } = caller
  const stored = await findEqual(deps, caller, reach.tokens, contents)
  if (stored !== undefined) {
    return showEqual(caller, stored.record, (transform, frame) =>
      viewStored(tenantId, stored, transform, frame, meter),
    )
  }
  // It is in reach: the caller creates it where it may.
  const twin = equals.get(contents.fingerprint)
  if (twin === undefined) return undefined
  return showEqual(caller, twin.record, (transform, frame) =>
    viewWritten(twin.record, tenantId, transform, twin.written, frame, meter),
  )
}

/** Named as no other one of the batch is. */
function nameInBatch(deps: Deps, caller: Caller, entry: Entry, { ids }: Batch): Named {
  const name = () => nameToken(deps, caller, entry, entry.collisions)
  let named = entry.named ?? (entry.collisions === 0 ? entry.first : undefined) ?? name()
  while (ids.has(named.record.id)) {
    entry.collisions += 1
    entry.made = undefined
    named = name()
  }
  entry.named = named
  return named
}

const refusals: readonly ErrorKind[] = ['invalid_request', 'forbidden', 'conflict']

/** `undefined` for what is refused, and for every other error as it is. */
async function answerOrRefuse(
  refuse: (error: ApiError) => void,
  entry: Entry,
  decide: () => Promise<Answer>,
): Promise<Answer | undefined> {
  if (entry.isRefused) return undefined
  try {
    return await decide()
  } catch (thrown) {
    assertAffordable(entry.plan.work.meter)
    if (!(thrown instanceof ApiError) || !refusals.includes(thrown.kind)) throw thrown
    entry.isRefused = true
    refuse(thrown)
    return undefined
  }
}

function addToBatch(entry: Entry, made: Made, { entries, ids, equals }: Batch): Answer {
  const { id, fingerprint } = made.record
  entry.made = made
  entries.push(entry)
  ids.set(id, true)
  if (!equals.has(fingerprint)) equals.set(fingerprint, made)
  return made.answer
}

/** @throws ApiError `forbidden`, `conflict`, `invalid_request` */
async function decideEntry(
  deps: Deps,
  caller: Caller,
  entry: Entry,
  batch: Batch,
): Promise<Answer> {
  const { record } = (entry.first ??= nameToken(deps, caller, entry, 0))
  if (record.deduplicates !== true) {
    const named = nameInBatch(deps, caller, entry, batch)
    const plain = () => makeToken(deps, caller, entry.plan, named, { uniques: [] })
    return addToBatch(entry, entry.made ?? plain(), batch)
  }
  const reach = (batch.reach ??= reachOf(deps, caller))
  // A hit comes before the conflict of a taken id (contract section 17).
  const equal = await findAnswer(deps, caller, reach, record, batch, entry.plan.work)
  if (equal !== undefined) return equal
  const named = nameInBatch(deps, caller, entry, batch)
  const holding = await decideHolding(deps, caller, reach, named.record)
  batch.isLate ||= holding.hasEqual
  for (const change of holding.changes) {
    batch.changes.set('remove' in change ? change.remove : change.require, change)
  }
  return addToBatch(entry, makeToken(deps, caller, entry.plan, named, holding), batch)
}

async function decideAll(
  deps: Deps,
  caller: Caller,
  entries: readonly Entry[],
  refuse: Refuse,
): Promise<{ readonly batch: Batch; readonly answers: readonly (Answer | undefined)[] }> {
  const batch: Batch = {
    entries: [],
    ids: new TextMap(),
    equals: new Map(),
    changes: new Map(),
    reach: undefined,
    isLate: false,
  }
  const answers: (Answer | undefined)[] = []
  let chars = 0
  for (const [index, entry] of entries.entries()) {
    const answer = await answerOrRefuse(
      error => refuse(index, error),
      entry,
      () => decideEntry(deps, caller, entry, batch),
    )
    answers.push(answer)
    chars += answer?.json.length ?? 0
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    const turn = entry.plan.work.pause()
    if (turn !== undefined) await turn
  }
  return { batch, answers }
}

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
  const entries = plans.map((plan): Entry => ({
    plan,
    first: undefined,
    named: undefined,
    collisions: 0,
    made: undefined,
    isRefused: false,
  }))
  const counted = spendCreates(deps, caller, plans, refuse)
  let leaving: ReadonlyMap<number, Change> = new Map()
  return untilWritten(async () => {
    const { batch, answers } = await decideAll(deps, caller, entries, counted)
    const inserts = batch.entries.flatMap(({ made }) => (made ? [{ insert: made.row }] : []))
    const isNew = inserts.length > 0
    if (isNew && batch.isLate) return undefined
    const others = new Map([...batch.changes, ...leaving]).values()
    const changes = isNew ? [...others, ...inserts] : []
    const landed = await writeAs(deps.store, caller, changes, tell(answers))
    if (landed) return { result: answers }
    leaving = await clearWay(deps, batch.entries)
    return undefined
  })
}
