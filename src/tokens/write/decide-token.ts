/**
 * Decides one planned token: a new row, an equal token in its place, or a refusal.
 *
 * decision: a hit of deduplication comes before the conflict of a taken id (contract section 8).
 * Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { atMostMask, decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import { assertAffordable } from '../../language/expression/run.ts'
import { ApiError, type ErrorKind } from '../../lib/errors.ts'
import { orElse, type MaybeLater } from '../../lib/waiting.ts'
import type { PacedWork, StepMeter } from '../../lib/work.ts'
import { isExpired } from '../../records/deadline.ts'
import type { Change, NewRow } from '../../store/contract.ts'
import { decideSeat, findEqual, type SeatChange } from './dedup.ts'
import { forgetCodeKeys } from '../code-key.ts'
import { standsFor, withCode, type SealedCode } from '../code.ts'
import { assertShowsLittle } from './mask-rights.ts'
import type { Composed } from './compose.ts'
import type { VisibleTokens } from '../find/visibility.ts'
import { sealToken, verdictParts, type TokenRecord } from '../token-record.ts'
import { hasDefaultMask } from '../stored-form.ts'
import {
  isFingerprintHidden,
  viewStored,
  viewUnreadable,
  viewWritten,
  type Extras,
  type WrittenData,
} from '../read/view.ts'

export interface DrawnId {
  readonly id: string
  /** A default UUID: nobody chose it. */
  readonly isDefault: boolean
}

/**
 * The id for an attempt, counted from 0: each one after a collision. `undefined` when there is no
 * other id to offer.
 */
export type IdSource = (attempt: number) => DrawnId | undefined

/** A token that is checked and complete but for its id. */
export interface TokenPlan {
  readonly composed: Composed
  /** As it is sealed, whatever id is drawn. */
  readonly code: SealedCode | undefined
  readonly drawId: IdSource
  /** The answer is the id, not the token: for values that came without a request around them. */
  readonly isBare: boolean
  /** True if the request names the id, or an expression that gives it. */
  readonly choosesId: boolean
  /** Shared by all tokens of one request. */
  readonly work: PacedWork
}

export interface CreateAnswer {
  readonly id: string
  /** The token as the answer has it. */
  readonly json: string
  /** Transform of the answer; absent if it shows the id alone. */
  readonly transform?: Transform
  /** Present where deduplication was asked for. */
  readonly deduplicated?: boolean
  /** Version of the equal token's row; absent: 1, as for a new one. */
  readonly version?: number
}

interface IdentifiedToken {
  readonly record: TokenRecord
  readonly transform: Transform
}

/** A new row with its answer. */
export interface PreparedToken extends IdentifiedToken {
  readonly row: NewRow
  readonly written: WrittenData
  readonly answer: CreateAnswer
}

/** A plan on its way into the store, which may take several attempts. */
export interface PendingToken {
  readonly plan: TokenPlan
  /** Until when, as in the record. */
  readonly hidesFingerprint: number | undefined
  /** Under the first id that was drawn, taken or not: an equal token is looked for by it. */
  first?: IdentifiedToken | undefined
  /** Under the id that was drawn last. */
  named?: IdentifiedToken | undefined
  /** Times that its id was found taken. */
  collisions: number
  made?: PreparedToken | undefined
}

export const candidateOf = (
  plan: TokenPlan,
  hidesFingerprint: number | undefined,
): PendingToken => ({
  plan,
  hidesFingerprint,
  collisions: 0,
})

export type Decision =
  | {
      readonly kind: 'new'
      readonly made: PreparedToken
      /** Conditions on other rows. */
      readonly changes: readonly SeatChange[]
      /** An equal token came up after it had been looked for: to be decided anew. */
      readonly isLate: boolean
    }
  | { readonly kind: 'equal'; readonly answer: CreateAnswer }
  | { readonly kind: 'refused'; readonly error: ApiError }

/** Tokens of the same write that are decided already. */
export interface EarlierTokens {
  /** True if one of them chose that id. */
  readonly hasId: (id: string) => boolean
  /** The first of that fingerprint. */
  readonly equalOf: (fingerprint: string) => PreparedToken | undefined
  /** Tokens that the caller may see; computed on first use. */
  readonly reach: () => VisibleTokens
}

function nameToken(
  deps: Deps,
  caller: Caller,
  candidate: PendingToken,
  draw: number,
): IdentifiedToken {
  const { plan, hidesFingerprint } = candidate
  const drawn = plan.drawId(draw)
  if (drawn === undefined)
    throw new ApiError(
      'conflict',
      'A token with this id exists: choose another id, or update that token.',
    )
  // Assigned one by one, as in `stored-form.ts`.
  const record: { -readonly [K in keyof TokenRecord]: TokenRecord[K] } = {
    ...plan.composed.record,
    id: drawn.id,
    createdBy: caller.applicationId,
    createdAtMs: deps.now(),
  }
  if (drawn.isDefault) record.idIsRandom = true
  if (hidesFingerprint !== undefined) record.hidesFingerprint = hidesFingerprint
  if (plan.code !== undefined) record.code = plan.code.kept
  const transform = decideTransform(caller.grants, 'token:create', record)
  if (transform === undefined) {
    throw new ApiError('forbidden', 'expected a container that a rule with token:create covers')
  }
  // A caller who is shown all may give it any mask.
  if (deps.settings.strictMasks && transform !== 'reveal' && !hasDefaultMask(record)) {
    assertShowsLittle(plan.composed, plan.work.meter)
  }
  return { record, transform }
}

function makeToken(
  deps: Deps,
  { tenantId }: Caller,
  plan: TokenPlan,
  { record, transform }: IdentifiedToken,
  uniques: readonly Uint8Array[] = [],
): PreparedToken {
  const { contents, written } = plan.composed
  const frame = record.deduplicates === true ? { deduplicated: false } : {}
  const { isBare } = plan
  const shown = atMostMask(transform)
  const json = isBare
    ? JSON.stringify(record.id)
    : viewWritten(record, tenantId, shown, written, frame, plan.work.meter)
  const row = sealToken(deps, tenantId, record, contents, 1, uniques)
  const answer = { id: record.id, json, ...(isBare ? {} : { transform: shown }), ...frame }
  return { record, transform, row, written, answer }
}

/**
 * An equal token as it is read, but never beyond mask, since this request may not have sent all of
 * it; or the little that is said of it to those who may not read it (contract section 8).
 */
export function showEqual(
  { grants }: Caller,
  record: TokenRecord,
  nowMs: number,
  view: (transform: Transform, frame: Extras) => string,
): CreateAnswer {
  const showsHiddenFingerprint = !isFingerprintHidden(record, nowMs)
  const frame = { deduplicated: true }
  const transform = decideTransform(grants, 'token:read', record)
  if (transform !== undefined) {
    const shown = atMostMask(transform)
    const json = view(shown, { ...frame, showsHiddenFingerprint })
    return { id: record.id, json, transform: shown, ...frame }
  }
  const own = decideTransform(grants, 'token:create', record) ?? 'mask'
  return {
    id: record.id,
    json: viewUnreadable(record, atMostMask(own), { showsHiddenFingerprint }),
    transform: 'redact',
    ...frame,
  }
}

/** Stored tokens come first: they are older than those of the same write. */
async function findAnswer(
  deps: Deps,
  caller: Caller,
  earlier: EarlierTokens,
  { record: contents }: IdentifiedToken,
  meter: StepMeter,
): Promise<CreateAnswer | undefined> {
  const { tenantId } = caller
  const equal = await findEqual(deps, caller, earlier.reach().tokens, contents)
  if (equal !== undefined) {
    const stored = await withCode(deps, tenantId, equal)
    const { record, row } = stored
    const answer = showEqual(caller, record, deps.now(), (transform, frame) =>
      viewStored(tenantId, stored, transform, frame, meter),
    )
    return { ...answer, version: row.version }
  }
  // It is in reach: the caller creates it where it may.
  const twin = earlier.equalOf(contents.fingerprint)
  if (twin === undefined) return undefined
  return showEqual(caller, twin.record, deps.now(), (transform, frame) =>
    viewWritten(twin.record, tenantId, transform, twin.written, frame, meter),
  )
}

/** Named as nothing earlier is. */
function nameApart(
  deps: Deps,
  caller: Caller,
  candidate: PendingToken,
  earlier: EarlierTokens,
): IdentifiedToken {
  const name = () => nameToken(deps, caller, candidate, candidate.collisions)
  let named = candidate.named ?? name()
  while (named.record.idIsRandom !== true && earlier.hasId(named.record.id)) {
    candidate.collisions += 1
    candidate.made = undefined
    named = name()
  }
  candidate.named = named
  return named
}

async function decideByContent(
  deps: Deps,
  caller: Caller,
  candidate: PendingToken,
  first: IdentifiedToken,
  earlier: EarlierTokens,
): Promise<Decision> {
  const { plan } = candidate
  const answer = await findAnswer(deps, caller, earlier, first, plan.work.meter)
  if (answer !== undefined) return { kind: 'equal', answer }
  const named = nameApart(deps, caller, candidate, earlier)
  const seat = await decideSeat(deps, caller, earlier.reach(), named.record)
  const made = makeToken(deps, caller, plan, named, seat.uniques)
  candidate.made = made
  const changes = [...seat.changes, ...standsFor(deps, plan.code)]
  return { kind: 'new', made, changes, isLate: seat.hasEqual }
}

/** At once where nothing is to be looked for. @throws ApiError as `refusals` */
function decideNew(
  deps: Deps,
  caller: Caller,
  candidate: PendingToken,
  earlier: EarlierTokens,
): MaybeLater<Decision> {
  candidate.first ??= candidate.named = nameToken(deps, caller, candidate, 0)
  if (candidate.first.record.deduplicates === true) {
    return decideByContent(deps, caller, candidate, candidate.first, earlier)
  }
  const named = nameApart(deps, caller, candidate, earlier)
  const made = (candidate.made ??= makeToken(deps, caller, candidate.plan, named))
  return { kind: 'new', made, changes: standsFor(deps, candidate.plan.code), isLate: false }
}

/** Errors that concern one token; every other error ends the whole request. */
const refusals: readonly ErrorKind[] = ['invalid_request', 'forbidden', 'conflict']

/**
 * Decides by what is stored now and by what is earlier in the same write.
 *
 * Refused are a container that no rule covers, an id that is taken or could not be drawn, and a
 * mask that may not be set.
 */
export function decide(
  deps: Deps,
  caller: Caller,
  candidate: PendingToken,
  earlier: EarlierTokens,
): MaybeLater<Decision> {
  const refused = (thrown: unknown): Decision => {
    assertAffordable(candidate.plan.work.meter)
    if (!(thrown instanceof ApiError) || !refusals.includes(thrown.kind)) throw thrown
    return { kind: 'refused', error: thrown }
  }
  return orElse(() => decideNew(deps, caller, candidate, earlier), refused)
}

/** Conditions on other rows, and removals of some: one change for each row. */
export function changesOfOthers(
  seats: readonly SeatChange[],
  leaving: ReadonlyMap<number, Change>,
): readonly Change[] {
  if (seats.length < 2 && leaving.size === 0) return seats
  const byOrdinal = new Map<number, Change>()
  for (const change of seats) {
    byOrdinal.set('remove' in change ? change.remove : change.require, change)
  }
  return [...new Map([...byOrdinal, ...leaving]).values()]
}

/**
 * After a write that did not land: whose ids stood in its way. Who of them is expired is to leave,
 * other ids are drawn. Who holds a seat is looked for anew with each attempt.
 */
export async function clearWay(
  deps: Deps,
  { tenantId }: Caller,
  candidates: readonly PendingToken[],
): Promise<ReadonlyMap<number, Change>> {
  const leaving = new Map<number, Change>()
  forgetCodeKeys(deps, tenantId)
  for (const candidate of candidates) {
    const [id] = candidate.made?.row.uniques ?? []
    const holder = id && (await deps.store.glance(id, verdictParts))
    if (holder === undefined) continue
    if (isExpired(holder, deps.settled())) {
      leaving.set(holder.ordinal, { remove: holder.ordinal, ifVersion: holder.version })
    } else {
      candidate.collisions += 1
      candidate.named = undefined
      candidate.made = undefined
    }
  }
  return leaving
}
