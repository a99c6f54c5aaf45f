/**
 * The budget of guesses: how often a caller who does not see data may ask whether it is there.
 *
 * A search by data or fingerprint, a create or update that deduplicates, a look-up of an id, and a
 * create with a chosen one each tell whether there is such a token; a fingerprint that is shown
 * tells it by comparing.
 * It is friction and a trace, not a proof. Counted in each process, for each store; a session
 * counts for itself, and all sessions of one application together, since a holder of a public key
 * has as many as are authorized for it.
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

/*
 * What counts as a guess.
 */

type Kind = 'search' | 'create' | 'fingerprint' | 'lookup' | 'chosen'
type Budgets = Readonly<Record<Kind, GuessWindows>>

const budgetsFor = keptFor((_: Store, elapsedMs: () => number): Budgets => {
  const open = () => makeGuessWindows(elapsedMs)
  return { search: open(), create: open(), fingerprint: open(), lookup: open(), chosen: open() }
})

const budgetsOf = ({ store, elapsedMs }: Deps): Budgets => budgetsFor(store, elapsedMs)

const budgetOf = ({ settings }: Deps, kind: Kind): number =>
  ({
    search: settings.searchGuessesPerMinuteMax,
    create: settings.createGuessesPerMinuteMax,
    fingerprint: settings.createGuessesPerMinuteMax,
    lookup: settings.lookupGuessesPerMinuteMax,
    chosen: settings.chosenIdsPerMinuteMax,
  })[kind]

function sharesOf(
  { type, credential, tenantId, applicationId }: Caller,
  budget: number,
): GuessShare[] {
  const own = { guesser: credential.ordinal, budget }
  if (type !== 'session') return [own]
  const guesser = `sessions of ${tenantId} ${applicationId}`
  return [own, { guesser, budget: sessionGuessBudgets * budget }]
}

// decision: the id of an application is no secret, and a caller who guesses must be found.
const tell = (deps: Deps, { applicationId }: Caller, kind: Kind): void =>
  deps.log('guesses_spent', { by: kind, application: applicationId })

/** @throws ApiError `too_many_requests`; the first of a window is told in the log */
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
 * Counts what one question asks by data or fingerprint.
 * @param at the path of the question
 * @throws ApiError `invalid_request` for more than one question may ask, `too_many_requests`
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
 * Counts one update that is told whether an equal token exists.
 * @returns whether it counts
 * @throws ApiError as `spend`
 */
export function spendUpdate(deps: Deps, caller: Caller, record: TokenRecord): boolean {
  if (record.deduplicates !== true || seesAllData(caller.grants)) return false
  spend(deps, caller, 'create', 1)
  return true
}

/*
 * Look-ups of ids. One that leads nowhere counts. Once a budget is spent, those are refused that
 * would find something as well: else a refusal would tell as much as the absence.
 */

const seesWhatItLooksUp = ({ grants }: Caller, permission: TokenPermission): boolean =>
  seesAllData(grants) || revealsEverywhere(grants, permission)

/**
 * Before an id is looked up. While nobody has spent a budget it costs next to nothing.
 * @throws ApiError as `spend`
 */
export function assertLookupsLeft(deps: Deps, caller: Caller, permission: TokenPermission): void {
  if (!budgetsOf(deps).lookup.maySomebodyBeSpent()) return
  if (!seesWhatItLooksUp(caller, permission)) spend(deps, caller, 'lookup', 0)
}

/** Counts a look-up that leads nowhere. @throws ApiError as `spend` */
export function spendLookup(deps: Deps, caller: Caller, permission: TokenPermission): void {
  if (!seesWhatItLooksUp(caller, permission)) spend(deps, caller, 'lookup', 1)
}

/**
 * Counts fingerprints that the caller brings about: a caller who sees a token masked can compare
 * its fingerprint with those of guesses. decision: nothing is refused for it, since honest creates
 * come in any number; but a token that is made beyond the budget shows its fingerprint to those
 * alone who see all data, until the budget has come to it. So no more of them can be compared in a
 * minute than the budget says, and none stays hidden.
 * @returns of each the Unix milliseconds until which it is hidden; `undefined` where it is not
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

/** What counts of a plan of a token. */
interface Creating {
  readonly composed: { readonly record: Pick<TokenRecord, 'deduplicates'> }
  readonly choosesId: boolean
}

/**
 * Counts the creates that deduplicate, and those with a chosen id, before any is looked at. Such an
 * id counts among the former as well once it is found taken, and beside one that is taken where
 * neither comes to be; none is looked for where nothing is left.
 * @returns what counts ids that were tried and found taken, as many as were chosen at most
 * @throws ApiError as `spend`
 */
export function spendCreates(
  deps: Deps,
  caller: Caller,
  plans: readonly Creating[],
): (tried: number) => void {
  if (seesAllData(caller.grants)) return () => undefined
  const choosing = plans.filter(plan => plan.choosesId).length
  if (choosing > 0) spend(deps, caller, 'chosen', choosing)
  const budget = deps.settings.createGuessesPerMinuteMax
  if (budget === 0) return () => undefined
  const asking = plans.filter(plan => plan.composed.record.deduplicates === true)
  if (asking.length > 0 || choosing > 0) spend(deps, caller, 'create', asking.length)
  return tried => budgetsOf(deps).create.add(sharesOf(caller, budget), Math.min(tried, choosing))
}
