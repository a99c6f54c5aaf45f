/**
 * Guess budgets: how often a caller who does not see data may ask whether some data exists.
 *
 * Each of these tells whether such a token exists: a search by data or fingerprint, a create or
 * update that deduplicates, a look-up of an id, a create with a chosen id. A fingerprint that is
 * shown tells it by comparison, and an idempotency key whether a body is the one that it came with.
 * The budget adds friction and leaves a trace; it proves nothing. It is counted per process and
 * store. A session is charged by itself and together with all sessions of its application, since
 * the holder of a public key gets as many sessions as are authorized for it.
 * Source: contract section 14.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { revealsAll, revealsEverywhere, seesAllData } from '../../rules/access.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { invalid, tooManyRequests } from '../../lib/errors.ts'
import { keptFor } from '../../lib/maps.ts'
import { guessClausesMax, sessionGuessBudgets } from '../../limits/limits.ts'
import type { Store } from '../../store/contract.ts'
import type { TokenRecord } from '../token-record.ts'
import { makeGuessWindows, type GuessWindows, type GuessShare } from './guess-windows.ts'

/* Budgets of each kind of guess. */

type Kind = 'search' | 'create' | 'fingerprint' | 'lookup' | 'chosen' | 'repeat'
type Budgets = Readonly<Record<Kind, GuessWindows>>

const budgetsFor = keptFor((_: Store, elapsedMs: () => number): Budgets => {
  const open = () => makeGuessWindows(elapsedMs)
  return {
    search: open(),
    create: open(),
    fingerprint: open(),
    lookup: open(),
    chosen: open(),
    repeat: open(),
  }
})

const budgetsOf = ({ store, elapsedMs }: Deps): Budgets => budgetsFor(store, elapsedMs)

const budgetOf = ({ settings }: Deps, kind: Kind): number =>
  ({
    search: settings.searchGuessesPerMinuteMax,
    create: settings.createGuessesPerMinuteMax,
    fingerprint: settings.createGuessesPerMinuteMax,
    lookup: settings.lookupGuessesPerMinuteMax,
    chosen: settings.chosenIdsPerMinuteMax,
    repeat: settings.createGuessesPerMinuteMax,
  })[kind]

function sharesOf(
  { type, credential, tenantId, applicationId }: Caller,
  budget: number,
): GuessShare[] {
  const own = { guesser: credential.ordinal, tenantId, budget }
  if (type !== 'session') return [own]
  const guesser = `sessions of ${tenantId} ${applicationId}`
  return [own, { guesser, tenantId, budget: sessionGuessBudgets * budget }]
}

// decision: the id of an application is no secret, and a caller who guesses must be found.
const tell = (deps: Deps, { applicationId }: Caller, kind: Kind): void =>
  deps.log('guesses_spent', { by: kind, application: applicationId })

/** @throws ApiError `too_many_requests`; the first of a window is logged */
function spend(deps: Deps, caller: Caller, kind: Kind, count: number): void {
  const budget = budgetOf(deps, kind)
  if (budget === 0) return
  const { waitSeconds, isFirst } = budgetsOf(deps)[kind].take(sharesOf(caller, budget), count)
  if (waitSeconds === 0) return
  if (isFirst) tell(deps, caller, kind)
  throw tooManyRequests(
    'This credential has made too many guesses: wait as Retry-After says.',
    waitSeconds,
  )
}

/**
 * Charges the values of data or fingerprint that one question asks for.
 * @param at the path of the question
 * @throws ApiError `invalid_request` beyond the values of one question, `too_many_requests`
 */
export function spendClauses(
  deps: Deps,
  caller: Caller,
  permission: 'token:read' | 'token:search',
  count: number,
  at: string,
): void {
  if (count === 0 || deps.settings.searchGuessesPerMinuteMax === 0) return
  if (revealsAll(caller.grants, permission)) return
  if (count > guessClausesMax) {
    const expected = `expected at most ${guessClausesMax} values of data and fingerprint`
    throw invalid(at, `${expected} by a caller who does not see all data`)
  }
  spend(deps, caller, 'search', count)
}

/**
 * Returns what binds the cursors of a question to the credential that has paid for it. A walk is
 * charged once: else one that pays nothing, since it sees all that it covers, would begin for
 * another one.
 */
export const payerOf = ({ credential }: Caller, guesses: number): readonly number[] =>
  guesses === 0 ? [] : [credential.ordinal]

/**
 * Charges one update that tells whether an equal token exists.
 * @returns true if it was charged
 * @throws ApiError as `spend`
 */
export function spendUpdate(deps: Deps, caller: Caller, record: TokenRecord): boolean {
  if (record.deduplicates !== true || seesAllData(caller.grants)) return false
  spend(deps, caller, 'create', 1)
  return true
}

/*
 * Look-ups of ids. One that finds nothing is charged. Once the budget is spent, those that would
 * find something are refused as well: otherwise the refusal would tell that the token is absent.
 */

const seesWhatItLooksUp = ({ grants }: Caller, permission: TokenPermission): boolean =>
  seesAllData(grants) || revealsEverywhere(grants, permission)

/**
 * Checks the budget before an id is looked up. Costs next to nothing while no budget is spent.
 * @throws ApiError as `spend`
 */
export function assertLookupsLeft(deps: Deps, caller: Caller, permission: TokenPermission): void {
  if (!budgetsOf(deps).lookup.maySomebodyBeSpent()) return
  if (!seesWhatItLooksUp(caller, permission)) spend(deps, caller, 'lookup', 0)
}

/** Charges a look-up that found nothing. @throws ApiError as `spend` */
export function spendLookup(deps: Deps, caller: Caller, permission: TokenPermission): void {
  if (!seesWhatItLooksUp(caller, permission)) spend(deps, caller, 'lookup', 1)
}

/**
 * Charges 1 for a request whose idempotency key came with another body before. The same body is
 * charged 0, and refused as well once the budget is spent: otherwise the refusal would tell.
 * @throws ApiError as `spend`
 */
export function spendRepeat(deps: Deps, caller: Caller, count: 0 | 1): void {
  if (count === 0 && !budgetsOf(deps).repeat.maySomebodyBeSpent()) return
  if (!seesAllData(caller.grants)) spend(deps, caller, 'repeat', count)
}

/**
 * Charges the fingerprints that a write produces: a caller who sees a token masked can compare its
 * fingerprint with those of guesses. decision: no write is refused for this, since honest creates
 * come in any number. Instead, a token beyond the budget shows its fingerprint only to callers who
 * see all data, until the budget catches up. So no more fingerprints per minute can be compared
 * than the budget allows, and none stays hidden.
 * @returns for each, the Unix milliseconds until which it is hidden; `undefined`: not hidden
 */
export function placeFingerprints(
  deps: Deps,
  caller: Caller,
  count: number,
): readonly (number | undefined)[] {
  const budget = budgetOf(deps, 'fingerprint')
  if (budget === 0 || seesAllData(caller.grants)) return []
  const { waitsMs, isFirst } = budgetsOf(deps).fingerprint.place(sharesOf(caller, budget), count)
  if (isFirst) tell(deps, caller, 'fingerprint')
  return waitsMs.map(waitMs => (waitMs > 0 ? deps.now() + Math.ceil(waitMs) : undefined))
}

/** The properties of a new token that decide what it is charged. */
interface Creating {
  readonly composed: { readonly record: Pick<TokenRecord, 'deduplicates'> }
  readonly choosesId: boolean
}

/**
 * Charges creates that deduplicate, and creates with a chosen id, before any look-up. A chosen id
 * that is found taken is charged to the first budget as well; if that fails an all-or-nothing
 * batch, so are its other chosen ids. With no budget left, no id is looked up.
 * @returns charges that many chosen ids found taken, at most as many as were chosen
 * @throws ApiError as `spend`
 */
export function spendCreates(
  deps: Deps,
  caller: Caller,
  tokens: readonly Creating[],
): (tried: number) => void {
  if (seesAllData(caller.grants)) return () => undefined
  const choosing = tokens.filter(token => token.choosesId).length
  if (choosing > 0) spend(deps, caller, 'chosen', choosing)
  const budget = deps.settings.createGuessesPerMinuteMax
  if (budget === 0) return () => undefined
  const asking = tokens.filter(token => token.composed.record.deduplicates === true)
  if (asking.length > 0 || choosing > 0) spend(deps, caller, 'create', asking.length)
  return tried => budgetsOf(deps).create.add(sharesOf(caller, budget), Math.min(tried, choosing))
}
