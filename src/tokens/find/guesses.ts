/**
 * The budget of guesses: how often whoever does not see data may ask whether it is there.
 *
 * A search by data or fingerprint, a create or update that deduplicates, and a chosen id that is
 * taken each tell whether an equal one exists; a fingerprint that is shown tells it by comparing.
 * It is friction and a trace, not a proof. Counted in each process, for each store; a session
 * counts for itself, and all sessions of one application together, since whoever has a public key
 * has as many as are authorized for it.
 * Source: contract section 14.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { makeGuessWindows, type GuessWindows, type Share } from '../../rules/guess-windows.ts'
import { revealsAll, seesAllData } from '../../rules/access.ts'
import { invalid, tooManyRequests } from '../../errors.ts'
import { keptFor } from '../../maps.ts'
import { guessClausesMax, sessionGuessBudgets } from '../../limits.ts'
import type { Store } from '../../store/contract.ts'
import type { Plan } from '../write/decide.ts'
import type { TokenRecord } from '../record.ts'

type Kind = 'search' | 'create' | 'fingerprint'
type Budgets = Readonly<Record<Kind, GuessWindows>>

const budgetsFor = keptFor((_: Store, elapsedMs: () => number): Budgets => {
  const open = () => makeGuessWindows(elapsedMs)
  return { search: open(), create: open(), fingerprint: open() }
})

const budgetsOf = ({ store, elapsedMs }: Deps): Budgets => budgetsFor(store, elapsedMs)

const budgetOf = ({ settings }: Deps, kind: Kind): number =>
  kind === 'search' ? settings.searchGuessesPerMinuteMax : settings.createGuessesPerMinuteMax

function sharesOf({ type, credential, tenantId, applicationId }: Caller, budget: number): Share[] {
  const own = { guesser: credential.ordinal, budget }
  if (type !== 'session') return [own]
  const guesser = `sessions of ${tenantId} ${applicationId}`
  return [own, { guesser, budget: sessionGuessBudgets * budget }]
}

// decision: the id of an application is no secret, and whoever guesses must be found.
const tell = (deps: Deps, { applicationId }: Caller, kind: Kind): void =>
  deps.log('guesses_spent', { by: kind, application: applicationId })

/** @throws ApiError `too_many_requests`; the first of a window is told in the log */
function spend(deps: Deps, caller: Caller, kind: Kind, count: number): void {
  const budget = budgetOf(deps, kind)
  if (budget === 0) return
  const { waitSeconds, isFirst } = budgetsOf(deps)[kind].take(sharesOf(caller, budget), count)
  if (waitSeconds === 0) return
  if (isFirst) tell(deps, caller, kind)
  throw tooManyRequests('This credential has made too many guesses.', waitSeconds)
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
    throw invalid(at, `${expected} by whoever does not see all data`)
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

/**
 * Counts fingerprints that the caller brings about: whoever sees a token masked can compare its
 * fingerprint with those of guesses. decision: nothing is refused for it, since honest creates come
 * in any number; but a token that is made beyond the budget shows its fingerprint to those alone
 * who see all data: who sees some of it could keep its guesses there.
 * @returns how many of them may be shown to everybody else
 */
export function spendFingerprints(deps: Deps, caller: Caller, count: number): number {
  const budget = budgetOf(deps, 'fingerprint')
  if (budget === 0 || seesAllData(caller.grants)) return count
  const taken = budgetsOf(deps).fingerprint.takeSome(sharesOf(caller, budget), count)
  if (taken.isFirst) tell(deps, caller, 'fingerprint')
  return taken.count
}

/**
 * Counts the creates that deduplicate, before any is looked at. A chosen id counts once it is found
 * taken, and beside one that is taken where neither comes to be; none is looked for where nothing
 * is left.
 * @returns what counts ids that were tried and found taken, as many as were chosen at most
 * @throws ApiError as `spend`
 */
export function spendCreates(
  deps: Deps,
  caller: Caller,
  plans: readonly Plan[],
): (tried: number) => void {
  const budget = deps.settings.createGuessesPerMinuteMax
  if (budget === 0 || seesAllData(caller.grants)) return () => undefined
  const asking = plans.filter(plan => plan.composed.record.deduplicates === true)
  const choosing = plans.filter(plan => plan.choosesId).length
  if (asking.length > 0 || choosing > 0) spend(deps, caller, 'create', asking.length)
  return tried => budgetsOf(deps).create.add(sharesOf(caller, budget), Math.min(tried, choosing))
}
