/**
 * One attempt to insert planned tokens: each plan is decided in order, by what is stored and by
 * those before it. A new row comes of it, or an equal token in its place, or a refusal.
 *
 * Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { atMostMask, decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import { assertAffordable } from '../../language/expression/run.ts'
import { TextMap } from '../../text/map.ts'
import { ApiError, invalid, type ErrorKind } from '../../errors.ts'
import { bulkAnswerCharsMax } from '../../limits.ts'
import { orElse, type MaybeLater } from '../../maybe-later.ts'
import type { Housed } from '../../records/write.ts'
import type { Change, NewRow } from '../../store/contract.ts'
import { decideHolding, findEqual } from './dedup.ts'
import { assertMayMask } from './mask-rights.ts'
import type { Plan } from './plan.ts'
import { reachOf, type Reach } from '../find/visibility.ts'
import { sealToken } from '../record/record.ts'
import type { TokenRecord } from '../record/stored-form.ts'
import {
  viewStored,
  viewUnreadable,
  viewWritten,
  type Frame,
  type WrittenData,
} from '../read/view.ts'
import type { Work } from '../read/work.ts'

export interface Answer {
  readonly id: string
  /** What stands for the token in the answer. */
  readonly json: string
  /** Present where deduplication was asked for. */
  readonly deduplicated?: boolean
  /** Of the row of an equal token; absent: 1, as of a new one. */
  readonly version?: number
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

export interface Entry {
  readonly plan: Plan
  readonly hidesFingerprint: boolean
  /** Under the first id that was drawn, taken or not: an equal token is looked for by it. */
  first: Named | undefined
  /** Under the id that was drawn last. */
  named: Named | undefined
  /** How often its id was found taken. */
  collisions: number
  made: Made | undefined
  isRefused: boolean
}

export const entryOf = (plan: Plan, hidesFingerprint: boolean): Entry => ({
  plan,
  hidesFingerprint,
  first: undefined,
  named: undefined,
  collisions: 0,
  made: undefined,
  isRefused: false,
})

/** What one attempt wants to insert. */
export interface Batch {
  readonly entries: Entry[]
  /** Those that somebody chose; others are no two alike. */
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

function nameToken(deps: Deps, caller: Caller, entry: Entry, draw: number): Named {
  const { plan, hidesFingerprint } = entry
  const drawn = plan.drawId(draw)
  if (drawn === undefined) throw new ApiError('conflict', 'A token with this id exists.')
  // Assigned one by one, as in `parseStored`.
  const record: { -readonly [K in keyof TokenRecord]: TokenRecord[K] } = {
    ...plan.composed.record,
    id: drawn.id,
    createdBy: caller.applicationId,
    createdAtMs: deps.now(),
  }
  if (drawn.isDefault) record.idIsRandom = true
  if (hidesFingerprint) record.hidesFingerprint = true
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
  uniques: readonly Uint8Array[] = [],
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
  const own = decideTransform(grants, 'token:create', record) ?? 'mask'
  return { id: record.id, json: viewUnreadable(record, atMostMask(own)), ...frame }
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
    const { record, row } = stored
    const answer = showEqual(caller, record, (transform, frame) =>
      viewStored(tenantId, stored, transform, frame, meter),
    )
    return { ...answer, version: row.version }
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
  let named = entry.named ?? name()
  while (named.record.idIsRandom !== true && ids.has(named.record.id)) {
    entry.collisions += 1
    entry.made = undefined
    named = name()
  }
  entry.named = named
  return named
}

const refusals: readonly ErrorKind[] = ['invalid_request', 'forbidden', 'conflict']

function addToBatch(entry: Entry, made: Made, { entries, ids, equals }: Batch): Answer {
  const { id, idIsRandom, fingerprint } = made.record
  entry.made = made
  entries.push(entry)
  if (idIsRandom !== true) ids.set(id, true)
  if (!equals.has(fingerprint)) equals.set(fingerprint, made)
  return made.answer
}

async function decideByContent(
  deps: Deps,
  caller: Caller,
  entry: Entry,
  { record }: Named,
  batch: Batch,
): Promise<Answer> {
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
  return addToBatch(entry, makeToken(deps, caller, entry.plan, named, holding.uniques), batch)
}

/** At once where nothing is to be looked for. @throws ApiError as `refusals` */
function decideEntry(deps: Deps, caller: Caller, entry: Entry, batch: Batch): MaybeLater<Answer> {
  entry.first ??= entry.named = nameToken(deps, caller, entry, 0)
  if (entry.first.record.deduplicates === true) {
    return decideByContent(deps, caller, entry, entry.first, batch)
  }
  const named = nameInBatch(deps, caller, entry, batch)
  const made = entry.made ?? makeToken(deps, caller, entry.plan, named)
  return addToBatch(entry, made, batch)
}

/** `undefined` for what is refused; every other error stays one. */
function decideOrRefuse(
  deps: Deps,
  caller: Caller,
  entry: Entry,
  batch: Batch,
  refuse: (error: ApiError) => void,
): MaybeLater<Answer | undefined> {
  if (entry.isRefused) return undefined
  const refused = (thrown: unknown): undefined => {
    assertAffordable(entry.plan.work.meter)
    if (!(thrown instanceof ApiError) || !refusals.includes(thrown.kind)) throw thrown
    entry.isRefused = true
    refuse(thrown)
  }
  return orElse(() => decideEntry(deps, caller, entry, batch), refused)
}

/**
 * Decides all entries anew, in order.
 * @throws ApiError `invalid_request` for an answer that would be too long
 */
export async function decideAll(
  deps: Deps,
  caller: Caller & Housed,
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
    const refuseIt = (error: ApiError) => refuse(index, error)
    const decided = decideOrRefuse(deps, caller, entry, batch, refuseIt)
    const answer = decided instanceof Promise ? await decided : decided
    answers.push(answer)
    chars += answer?.json.length ?? 0
    if (chars > bulkAnswerCharsMax) {
      throw invalid('body', `expected an answer of at most ${bulkAnswerCharsMax} characters`)
    }
    caller.room?.needs(chars)
    const turn = entry.plan.work.pause()
    if (turn !== undefined) await turn
  }
  return { batch, answers }
}
