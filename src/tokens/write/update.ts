/**
 * Changing and deleting a token. A change is RFC 7386 on data, mask and metadata, and replaces the
 * rest.
 *
 * The read, the merge and the write are repeated until the write lands on what was read, so that
 * no concurrent update is lost. Source: spec, "Update token"; contract section 9.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { atMostMask, decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import { parseFutureInstant } from '../../rules/instants.ts'
import { isJsonObject, type Json } from '../../lib/json/json.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import { mergePatch } from '../../lib/json/merge-patch.ts'
import { mayMove } from '../../rules/moves.ts'
import { assertMemberNames } from '../../rules/member-names.ts'
import { tokenTypeOf, type TokenTypeDefinition } from '../../rules/token-types.ts'
import { ApiError, invariant } from '../../lib/errors.ts'
import { noteShown, noteTold, reserveText, type Budgeted } from '../../records/budgeted.ts'
import { isExpired } from '../../records/expiry.ts'
import { removalOf } from '../../records/read-row.ts'
import { writeAs } from '../../records/write-rows.ts'
import type { Bounds } from '../find/bounds.ts'
import { composeToken, type ComposedRecord, type Draft } from './compose.ts'
import { assertPatch, mergeData, parseStanding, type StandingData } from './patch.ts'
import { decideSeat, findEqualOf } from './dedup.ts'
import { placeFingerprints, spendUpdate } from '../find/guesses.ts'
import { hiddenDataOf, assertMayRemask } from './mask-rights.ts'
import { absentToken, type LoadedToken } from '../read/load.ts'
import type { TokenPatch } from '../schema.ts'
import { visibleTokensOf, type VisibleTokens } from '../find/visibility.ts'
import { codeEndOf, sealCode, standsFor } from '../code.ts'
import { forgetCodeKeys } from '../code-key.ts'
import { sealToken, type TokenRecord } from '../token-record.ts'
import { inTokenTurn } from './token-turn.ts'
import { isFingerprintHidden, viewWritten, type Extras } from '../read/view.ts'
import { makeWork, refusedInTurn } from '../../lib/work.ts'

/** `null` clears, absent keeps, anything else is merged into what stands. */
function mergeOptional(standing: string | undefined, patch: Json | undefined): Json | undefined {
  const target = standing === undefined ? undefined : parseJson(standing)
  if (patch === undefined) return target
  return patch === null ? undefined : mergePatch(target, patch)
}

function expiryOf(deps: Deps, record: TokenRecord, body: TokenPatch): Draft['expiresAt'] {
  const { expires_at: expires } = body
  if (expires === undefined) return record.expiresAt
  return expires === null ? undefined : parseFutureInstant(expires, 'expires_at', deps.now())
}

function draftOf(
  deps: Deps,
  token: LoadedToken,
  standing: StandingData,
  data: Json,
  body: TokenPatch,
): Draft {
  const { record } = token
  const type = tokenTypeOf(record.type)
  invariant(type !== undefined, 'a stored token has a known type')
  invariant(body.data !== null, 'a patch that removes the data is refused before')
  // Stored members were accepted before: only new ones are checked.
  if (body.data !== undefined) assertMemberNames(type.name, body.data, 'data')
  const { search_indexes: indexes, fingerprint_expression: expression } = body
  const { deduplicate_token: deduplicates } = body
  const nowMs = deps.now()
  return {
    type,
    nowMs,
    data,
    mask: mergeOptional(record.maskText, body.mask),
    metadata: mergeOptional(record.metadataText, body.metadata),
    containers: body.containers ?? record.containers,
    searchIndexes: indexes === undefined ? record.searchIndexes : (indexes ?? []),
    fingerprintExpression:
      expression === undefined
        ? record.fingerprintExpression
        : (expression ?? type.defaultFingerprintExpression),
    expiresAt: expiryOf(deps, record, body),
    deduplicates: deduplicates === undefined ? record.deduplicates === true : deduplicates === true,
    codeEndsAtMs: bringsCode(type, body.data)
      ? codeEndOf(deps, type, nowMs)
      : record.code?.endsAtMs,
    hidden: hiddenDataOf(deps.settings, token, type, standing.dataText, body.data),
  }
}

/** True if a patch brings a code of its own, whose lifetime then begins anew. */
const bringsCode = ({ protectedCode }: TokenTypeDefinition, patch: Json | undefined): boolean =>
  protectedCode !== undefined && isJsonObject(patch) && patch.has(protectedCode.member)

/** decision: an accepted update says who and when, also when it changed nothing else. */
function changedRecord(deps: Deps, caller: Caller, token: LoadedToken, next: ComposedRecord) {
  const { id, idIsRandom, createdBy, createdAtMs } = token.record
  const record: TokenRecord = {
    id,
    ...(idIsRandom === undefined ? {} : { idIsRandom }),
    ...next,
    createdBy,
    createdAtMs,
    modifiedBy: caller.applicationId,
    modifiedAtMs: deps.now(),
  }
  if (!mayMove(caller, token.record, record)) {
    throw new ApiError(
      'forbidden',
      'expected a container that a rule with token:update covers, and that shows no more',
    )
  }
  return record
}

/** A move never shows more, so that the place which the token enters decides. */
function shownAs(caller: Caller, entered: TokenRecord): Transform {
  const transform = decideTransform(caller.grants, 'token:update', entered)
  invariant(transform !== undefined, 'a place that may be entered is covered')
  return atMostMask(transform)
}

/**
 * An equal token in reach is told of; where the caller may read none, contents are left out
 * (contract section 9).
 */
export async function extrasOf(
  deps: Deps,
  caller: Caller & Budgeted,
  { tokens, readable }: VisibleTokens,
  record: TokenRecord,
): Promise<Extras> {
  if (record.deduplicates !== true) return {}
  const find = (within: Bounds) => findEqualOf(deps, caller, within, record)
  if ((await find(readable)) !== undefined) return { deduplicated: true, hidesContents: false }
  const isHidden = readable !== tokens && (await find(tokens)) !== undefined
  return { deduplicated: isHidden, hidesContents: isHidden }
}

/** Faults of what a patch brings to the data: they come before anything is made of all of it. */
const isOfPatch = (thrown: unknown): boolean =>
  thrown instanceof ApiError && Object.keys(thrown.fields ?? { '': [] }).every(isDataPlace)

const isDataPlace = (at: string): boolean => at === 'data' || at.startsWith('data.')

/**
 * A refusal of what expressions, old or new, make of the data tells of it by those that fail, so it
 * is entered as a read. Only a caller who sees all of it gets so far, unless masks are not strict.
 */
async function refusedAsRead<T>(
  caller: Budgeted,
  { record, transform }: LoadedToken,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    if (!isOfPatch(thrown)) {
      noteShown(caller, record.id, transform)
      noteTold(caller)
    }
    throw thrown
  }
}

/** @returns the JSON text of the changed token; `undefined` when it was changed meanwhile */
async function tryUpdate(
  deps: Deps,
  caller: Caller & Budgeted,
  token: LoadedToken,
  body: TokenPatch,
  { attempt, ...count }: GuessCounters & { readonly attempt: number },
): Promise<string | undefined> {
  const { tenantId } = caller
  const { ordinal, version } = token.row
  const scope = deps.keys.tenant(tenantId)
  const work = makeWork(deps, caller)
  await work.pause()
  const pause = () => deps.turns.next(caller)
  const standing = await parseStanding(token, pause)
  const merged = await mergeData(standing, body.data, pause, token.transform !== 'reveal')
  const draft = draftOf(deps, token, standing, merged, body)
  assertMayRemask(deps.settings, token, standing.data, draft)
  const composed = await refusedAsRead(caller, token, () =>
    refusedInTurn(work, () => composeToken(scope, deps.settings, draft, work)),
  )
  const { contents, written } = composed
  const changed = changedRecord(deps, caller, token, composed.record)
  count.deduplication(changed)
  const { fingerprint, fingerprintHiddenUntilMs: untilMs } = token.record
  // Equal contents tell nothing new.
  const isEqual = changed.fingerprint === fingerprint
  const stillMs = isFingerprintHidden(token.record, deps.now()) ? untilMs : undefined
  const fingerprintHiddenUntilMs = isEqual ? stillMs : count.fingerprint()
  const code = composed.code && (await sealCode(deps, tenantId, composed.code))
  const record: TokenRecord = {
    ...changed,
    ...(fingerprintHiddenUntilMs === undefined ? {} : { fingerprintHiddenUntilMs }),
    ...(code === undefined ? {} : { code: code.kept }),
  }
  const reach = visibleTokensOf(deps, caller)
  const { uniques, changes } = await decideSeat(deps, caller, reach, record, {
    ordinal,
    attempt,
  })
  // After the holding: a token that has a seat by now is seen, or the write does not land.
  const extras = await extrasOf(deps, caller, reach, record)
  const replace = sealToken(deps, tenantId, record, contents, version + 1, uniques)
  const all = [...changes, ...standsFor(deps, code), { replace, ordinal, ifVersion: version }]
  // Before the write: where there is no room for the answer, nothing is changed.
  const shown = shownAs(caller, record)
  const answer = viewWritten(record, tenantId, shown, written, extras, work.meter)
  reserveText(caller, answer)
  // It may have expired while others had their turns: then it never comes back.
  if (isExpired(token.row, deps.now())) throw absentToken()
  if (await writeAs(deps.store, caller, all, { effect: () => record.id })) {
    noteShown(caller, record.id, extras.hidesContents === true ? 'redact' : shown)
    return answer
  }
  forgetCodeKeys(deps, tenantId)
  return undefined
}

/** Guesses that one update counts, however often it is tried. */
interface GuessCounters {
  readonly deduplication: (record: TokenRecord) => void
  /** Instant until which a caller who sees the token masked is not shown its new fingerprint. */
  readonly fingerprint: () => number | undefined
}

function makeCounts(deps: Deps, caller: Caller): GuessCounters {
  let isCounted = false
  let places: readonly (number | undefined)[] | undefined
  return {
    deduplication(record) {
      isCounted ||= spendUpdate(deps, caller, record)
    },
    fingerprint: () => (places ??= placeFingerprints(deps, caller, 1))[0],
  }
}

/**
 * @returns the JSON text of the changed token
 * @throws ApiError `invalid_request` for what is wrong with the body by itself, then `not_found`,
 * then what the token makes of the body
 */
export async function updateToken(
  deps: Deps,
  caller: Caller,
  id: string,
  body: TokenPatch,
): Promise<string> {
  assertPatch(deps.settings, deps.now(), body)
  const count = makeCounts(deps, caller)
  let attempt = 0
  return inTokenTurn(deps, caller, 'token:update', id, async token => {
    attempt += 1
    const result = await tryUpdate(deps, caller, token, body, { ...count, attempt })
    return result === undefined ? undefined : { result }
  })
}

/**
 * With an erasure log, the token is on the list once this resolves.
 * Source: spec, "Delete token".
 * @throws ApiError `not_found`, also for the second of two racing deletes; `storage_full` and
 *   `unavailable`, also where it was deleted and could not be listed
 */
export async function removeToken(deps: Deps, caller: Caller, id: string): Promise<void> {
  const { tenantId } = caller
  await deps.erasures?.ready()
  const erasure = await inTokenTurn(deps, caller, 'token:delete', id, async ({ row, record }) => {
    const landed = await writeAs(deps.store, caller, [removalOf(row)])
    if (!landed) return undefined
    const token = { createdAtMs: record.createdAtMs, row: row.ordinal }
    return { result: { tenantId, id, ...token, erasedAtMs: deps.now() } }
  })
  await deps.erasures?.note(erasure)
}
