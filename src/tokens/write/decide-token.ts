/**
 * Decides one new token: a row of its own, an equal token in its place, or a refusal.
 *
 * decision: a hit of deduplication comes before the conflict of a taken id (contract section 8).
 * Source: contract sections 7, 8 and 15.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { atMostMask, decidedBy, decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import { assertAffordable } from '../../language/expression/run.ts'
import { ApiError, type ErrorKind } from '../../lib/errors.ts'
import { orElse, type MaybeLater } from '../../lib/waiting.ts'
import { isExpired } from '../../records/expiry.ts'
import { unchanged, type Requirement } from '../../records/read-row.ts'
import { noteRule, type Budgeted } from '../../records/budgeted.ts'
import { allOf, atOrdinal, type Bounds } from '../find/bounds.ts'
import type { Batch } from './batch.ts'
import { decideSeat, findEqual } from './dedup.ts'
import { removeExpired } from '../expired-token.ts'
import { forgetCodeKeys } from '../code-key.ts'
import { standsFor, withCode } from '../code.ts'
import { assertShowsLittle } from './mask-rights.ts'
import type { CreateAnswer } from './create-answer.ts'
import type { IdentifiedToken, PendingToken, SealedToken } from './pending-token.ts'
import { sealToken, verdictParts, type StoredToken, type TokenRecord } from '../token-record.ts'
import { hasDefaultMask } from '../stored-form.ts'
import {
  isFingerprintHidden,
  viewStored,
  viewUnreadable,
  viewWritten,
  type Extras,
} from '../read/view.ts'

export type Decision =
  | {
      readonly kind: 'new'
      readonly sealed: SealedToken
      /** Conditions on other rows. */
      readonly changes: readonly Requirement[]
      /** True if an equal token came up after it was looked for: then all is decided anew. */
      readonly isLate: boolean
    }
  | { readonly kind: 'equal'; readonly answer: CreateAnswer }
  | { readonly kind: 'refused'; readonly error: ApiError }

function identify(deps: Deps, caller: Caller & Budgeted, token: PendingToken): IdentifiedToken {
  const { composed, code, fingerprintHiddenUntilMs } = token
  const drawn = token.drawId(token.collisions)
  if (drawn === undefined)
    throw new ApiError(
      'conflict',
      'A token with this id exists: choose another id, or update that token.',
    )
  // Assigned one by one, as in `stored-form.ts`.
  const record: { -readonly [K in keyof TokenRecord]: TokenRecord[K] } = {
    ...composed.record,
    id: drawn.id,
    createdBy: caller.applicationId,
    createdAtMs: deps.now(),
  }
  if (drawn.isDefault) record.idIsRandom = true
  if (fingerprintHiddenUntilMs !== undefined)
    record.fingerprintHiddenUntilMs = fingerprintHiddenUntilMs
  if (code !== undefined) record.code = code.kept
  const transform = decideTransform(caller.grants, 'token:create', record)
  noteRule(caller, decidedBy(caller.grants, 'token:create', record))
  if (transform === undefined) {
    throw new ApiError('forbidden', 'expected a container that a rule with token:create covers')
  }
  // A caller to whom the token is revealed may give it any mask.
  if (deps.settings.strictMasks && transform !== 'reveal' && !hasDefaultMask(record)) {
    assertShowsLittle(composed, token.work.meter)
  }
  return { record, transform }
}

function seal(
  deps: Deps,
  { tenantId }: Caller,
  { composed: { contents, written }, isBare, work }: PendingToken,
  { record, transform }: IdentifiedToken,
  uniques: readonly Uint8Array[] = [],
): SealedToken {
  const extras = record.deduplicates === true ? { deduplicated: false } : {}
  const shown = atMostMask(transform)
  const json = isBare
    ? JSON.stringify(record.id)
    : viewWritten(record, tenantId, shown, written, extras, work.meter)
  const row = sealToken(deps, tenantId, record, contents, 1, uniques)
  const answer = { id: record.id, json, ...(isBare ? {} : { transform: shown }), ...extras }
  return { record, transform, row, written, answer }
}

/**
 * Answers with an equal token as the caller may read it, but at most masked, since this request may
 * not have sent all of it. Callers who may not read it get little more than its id (contract
 * section 8).
 */
export function showEqual(
  { grants }: Caller,
  record: TokenRecord,
  nowMs: number,
  view: (transform: Transform, extras: Extras) => string,
): CreateAnswer {
  const showsHiddenFingerprint = !isFingerprintHidden(record, nowMs)
  const extras = { deduplicated: true }
  const transform = decideTransform(grants, 'token:read', record)
  if (transform !== undefined) {
    const shown = atMostMask(transform)
    const json = view(shown, { ...extras, showsHiddenFingerprint })
    return { id: record.id, json, transform: shown, ...extras }
  }
  const own = decideTransform(grants, 'token:create', record) ?? 'mask'
  return {
    id: record.id,
    json: viewUnreadable(record, atMostMask(own), { showsHiddenFingerprint }),
    transform: 'redact',
    ...extras,
  }
}

/** @throws ApiError as `findEqual` */
async function findStored(
  deps: Deps,
  caller: Caller & Budgeted,
  contents: Pick<TokenRecord, 'type' | 'fingerprint'>,
  batch: Batch,
): Promise<StoredToken | undefined> {
  const { tokens } = batch.reach()
  const { fingerprint } = contents
  const known = batch.stored.get(fingerprint)
  if (known === null) return undefined
  const find = (within: Bounds) => findEqual(deps, caller, within, contents)
  const again = known === undefined ? undefined : await find(allOf([tokens, atOrdinal(known)]))
  // It may have left since, or may not be equal any more.
  const equal = again ?? (await find(tokens))
  batch.stored.set(fingerprint, equal?.row.ordinal ?? null)
  return equal
}

/** Stored tokens come first: they are older than those of the same write. */
async function findAnswer(
  deps: Deps,
  caller: Caller & Budgeted,
  { composed, work: { meter } }: PendingToken,
  batch: Batch,
): Promise<CreateAnswer | undefined> {
  const { tenantId } = caller
  const equal = await findStored(deps, caller, composed.record, batch)
  if (equal !== undefined) {
    const stored = await withCode(deps, tenantId, equal)
    const { record, row } = stored
    // A read may see what only one machine has: the answer counts once a write finds it there.
    if (deps.isStoreFar === true) batch.changes.push(unchanged(row))
    const answer = showEqual(caller, record, deps.now(), (transform, extras) =>
      viewStored(tenantId, stored, transform, extras, meter),
    )
    return { ...answer, version: row.version }
  }
  // Always in reach, as the caller creates it with the same write.
  const twin = batch.firstByFingerprint.get(composed.record.fingerprint)
  if (twin === undefined) return undefined
  return showEqual(caller, twin.record, deps.now(), (transform, extras) =>
    viewWritten(twin.record, tenantId, transform, twin.written, extras, meter),
  )
}

/** Identifies a token by an id that no earlier one of the batch has. */
function identifyApart(
  deps: Deps,
  caller: Caller,
  token: PendingToken,
  { ids }: Batch,
): IdentifiedToken {
  let identified = token.identified ?? identify(deps, caller, token)
  while (identified.record.idIsRandom !== true && ids.has(identified.record.id)) {
    token.collisions += 1
    token.sealed = undefined
    identified = identify(deps, caller, token)
  }
  token.identified = identified
  return identified
}

async function decideByContent(
  deps: Deps,
  caller: Caller & Budgeted,
  token: PendingToken,
  batch: Batch,
): Promise<Decision> {
  const answer = await findAnswer(deps, caller, token, batch)
  if (answer !== undefined) return { kind: 'equal', answer }
  const identified = identifyApart(deps, caller, token, batch)
  const seat = await decideSeat(deps, caller, batch.reach(), identified.record, batch)
  const sealed = seal(deps, caller, token, identified, seat.uniques)
  token.sealed = sealed
  const changes = [...seat.changes, ...standsFor(deps, token.code)]
  return { kind: 'new', sealed, changes, isLate: seat.hasEqual }
}

/** Decides a token, at once if there is nothing to look for. @throws ApiError as `refusals` */
function decideNew(
  deps: Deps,
  caller: Caller & Budgeted,
  token: PendingToken,
  batch: Batch,
): MaybeLater<Decision> {
  // A caller who may not create it must not learn of an equal one, so this comes before the search.
  // After a collision the search comes first: there may be no other id, which is a conflict.
  if (token.collisions === 0) token.identified ??= identify(deps, caller, token)
  if (token.composed.record.deduplicates === true) {
    return decideByContent(deps, caller, token, batch)
  }
  const identified = identifyApart(deps, caller, token, batch)
  const sealed = (token.sealed ??= seal(deps, caller, token, identified))
  return { kind: 'new', sealed, changes: standsFor(deps, token.code), isLate: false }
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
  caller: Caller & Budgeted,
  token: PendingToken,
  batch: Batch,
): MaybeLater<Decision> {
  const refused = (thrown: unknown): Decision => {
    assertAffordable(token.work.meter)
    if (!(thrown instanceof ApiError) || !refusals.includes(thrown.kind)) throw thrown
    return { kind: 'refused', error: thrown }
  }
  return orElse(() => decideNew(deps, caller, token, batch), refused)
}

/** Joins conditions on other rows to one for each. */
export function changesOfOthers(seats: readonly Requirement[]): readonly Requirement[] {
  if (seats.length < 2) return seats
  return [...new Map(seats.map(each => [each.require, each])).values()]
}

/**
 * Clears the way after a write that did not land. If an expired token holds the id of one of
 * these, it is removed; if a live one does, another id is drawn. Holders of seats are looked for
 * anew with each attempt.
 * @throws ApiError as `removeExpired`
 */
export async function clearWay(
  deps: Deps,
  { tenantId }: Caller,
  tokens: readonly PendingToken[],
): Promise<void> {
  forgetCodeKeys(deps, tenantId)
  for (const token of tokens) {
    const [id] = token.sealed?.row.uniques ?? []
    const holder = id && (await deps.store.glance(id, verdictParts))
    if (id === undefined || holder === undefined) continue
    if (isExpired(holder, deps.settled())) {
      await removeExpired(deps, tenantId, id, holder)
    } else {
      token.collisions += 1
      token.identified = undefined
      token.sealed = undefined
    }
  }
}
