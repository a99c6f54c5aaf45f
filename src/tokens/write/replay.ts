/**
 * Answering again for tokens that were made before, by what stands of them now.
 *
 * Only ids are kept, and whether each stood for an equal token. The caller sees a token as the
 * answer of a create under its present grants; a token that was deleted, has expired, is covered no
 * more, or took the id of one that is gone, is absent. Source: contract section 1.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { atMostMask, decideTransform, lesserOf, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import type { StepMeter } from '../../lib/work.ts'
import { noteShown, type Budgeted } from '../../records/budgeted.ts'
import type { Effect, Past } from '../../records/write-rows.ts'
import { spendUpdate } from '../find/guesses.ts'
import { showEqual } from './decide-token.ts'
import type { CreateAnswer } from './create-answer.ts'
import { absentToken, loadToken, type LoadedToken } from '../read/load.ts'
import { visibleTokensOf } from '../find/visibility.ts'
import { extrasOf } from './update.ts'
import { isFingerprintHidden, viewStored } from '../read/view.ts'

/** One token of what was done, as it is kept. */
export interface KeptItem {
  readonly id: string
  readonly deduplicated?: boolean
  /** Version of its row when it was answered; absent: 1. */
  readonly version?: number
}

export function itemOf(answer: CreateAnswer | undefined): Effect {
  if (answer === undefined) return null
  const { id, deduplicated, version } = answer
  return {
    id,
    ...(deduplicated === undefined ? {} : { deduplicated }),
    ...(version === undefined || version === 1 ? {} : { version }),
  }
}

/** @throws ApiError `not_found`, also for a later token of the same id */
async function loadPast(
  deps: Deps,
  caller: Caller,
  permission: 'token:create' | 'token:update',
  { effect: id, ordinal }: Past<string>,
): Promise<LoadedToken> {
  const token = await loadToken(deps, caller, permission, id)
  if (token.row.ordinal > ordinal) throw absentToken()
  return token
}

/**
 * A later change by others is shown only to callers who may read the token, as their rules allow.
 * @returns the transform under which it is shown; `undefined` where it is not
 */
function shownNow({ grants }: Caller, token: LoadedToken, version: number): Transform | undefined {
  const { record, row, transform } = token
  if (row.version === version) return atMostMask(transform)
  const reading = decideTransform(grants, 'token:read', record)
  return reading && lesserOf(atMostMask(transform), reading)
}

/** @throws ApiError `not_found`, also for an equal token that is out of reach by now */
export async function recreateAnswer(
  deps: Deps,
  caller: Caller,
  { effect: { id, deduplicated, version = 1 }, ordinal }: Past<KeptItem>,
  meter?: StepMeter,
): Promise<CreateAnswer> {
  const token = await loadPast(deps, caller, 'token:create', { effect: id, ordinal })
  const { tenantId } = caller
  const isEqual = deduplicated === true
  if (isEqual && !visibleTokensOf(deps, caller).tokens.matches(token)) throw absentToken()
  const extras = deduplicated === undefined ? {} : { deduplicated }
  const showsHiddenFingerprint = !isFingerprintHidden(token.record, deps.now())
  const shown = shownNow(caller, token, version)
  if (shown === undefined) {
    const answer = { id, type: token.record.type, ...(isEqual ? { _extras: extras } : {}) }
    const json = JSON.stringify(answer)
    return { id, json, transform: 'redact', ...extras }
  }
  if (isEqual) {
    return showEqual(caller, token.record, deps.now(), (transform, extras) =>
      viewStored(tenantId, token, transform, extras, meter),
    )
  }
  return {
    id,
    json: viewStored(tenantId, token, shown, { ...extras, showsHiddenFingerprint }, meter),
    transform: shown,
    ...extras,
  }
}

/**
 * @returns the JSON text of a token that was changed before, as its update answers
 * @throws ApiError `not_found`
 */
export async function reupdateAnswer(
  deps: Deps,
  caller: Caller & Budgeted,
  past: Past<string>,
): Promise<string> {
  const token = await loadPast(deps, caller, 'token:update', past)
  spendUpdate(deps, caller, token.record)
  const extras = await extrasOf(deps, caller, visibleTokensOf(deps, caller), token.record)
  const showsHiddenFingerprint = !isFingerprintHidden(token.record, deps.now())
  const shown = { ...extras, showsHiddenFingerprint }
  const transform = atMostMask(token.transform)
  noteShown(caller, token.record.id, shown.hidesContents === true ? 'redact' : transform)
  return viewStored(caller.tenantId, token, transform, shown)
}
