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
import { revealsAll, seesAllData } from '../../rules/access.ts'
import { invalid, tooManyRequests } from '../../errors.ts'
import { keptFor } from '../../maps.ts'
import { guessClausesMax, guessersMax, guessWindowMs, sessionGuessBudgets } from '../../limits.ts'
import type { Store } from '../../store/contract.ts'
import type { Plan } from '../write/decide.ts'
import type { TokenRecord } from '../record.ts'

/*
 * How many guesses were made by whom, in windows of a minute that begin with the first guess.
 *
 * What is larger than a whole budget passes where nothing was guessed yet, and its window lasts for
 * as many minutes as it takes up. A window is never forgotten before it is over: when there are too
 * many, those that come share one, so that nobody gets a fresh budget by bringing others.
 */

/** Named by us: the ordinal of a credential, or the id of an application. */
type Guesser = string | number

interface GuessWindow {
  readonly startMs: number
  count: number
  /** Whether it was told that the budget is spent. */
  isTold: boolean
}

/** One of whom guesses are counted, and what it may guess in a window. */
interface Share {
  readonly guesser: Guesser
  readonly budget: number
}

interface Verdict {
  /** Whole, from 1 on; 0 where the guesses may be made. */
  readonly waitSeconds: number
  /** The first refusal of a window. */
  readonly isFirst: boolean
}

interface Taken {
  readonly count: number
  /** The first time in a window that it is less than was wanted. */
  readonly isFirst: boolean
}

const free: Verdict = { waitSeconds: 0, isFirst: false }

export interface GuessWindows {
  /**
   * Takes so many guesses from every share, or none from any. With 0 it only asks whether one is
   * left.
   */
  readonly take: (shares: readonly Share[], count: number) => Verdict
  /** Takes what is left of so many guesses. @returns how many were taken */
  readonly takeSome: (shares: readonly Share[], count: number) => Taken
  /** Counts what was learned already, whatever is left. */
  readonly add: (shares: readonly Share[], count: number) => void
}

const sharedByMany: Guesser = 'many'

const endMs = ({ startMs, count }: GuessWindow, budget: number): number =>
  startMs + Math.max(1, Math.ceil(count / budget)) * guessWindowMs

/** @param elapsedMs a clock that always goes on */
export function makeGuessWindows(elapsedMs: () => number): GuessWindows {
  const windows = new Map<Guesser, GuessWindow & { readonly budget: number }>()

  function forgetOver(nowMs: number): void {
    for (const [guesser, window] of windows) {
      if (endMs(window, window.budget) <= nowMs) windows.delete(guesser)
    }
  }

  function windowOf({ guesser, budget }: Share): GuessWindow {
    const nowMs = elapsedMs()
    const known = windows.get(guesser)
    if (known !== undefined && endMs(known, budget) > nowMs) return known
    if (known === undefined && windows.size >= guessersMax) {
      forgetOver(nowMs)
      if (windows.size >= guessersMax && guesser !== sharedByMany) {
        return windowOf({ guesser: sharedByMany, budget })
      }
    }
    const window = { startMs: nowMs, count: 0, isTold: false, budget }
    windows.set(guesser, window)
    return window
  }

  return {
    take(shares, count) {
      const open = shares.map(share => ({ window: windowOf(share), budget: share.budget }))
      const spent = open.find(
        ({ window, budget }) => window.count > 0 && window.count + Math.max(1, count) > budget,
      )
      if (spent === undefined) {
        for (const { window } of open) window.count += count
        return free
      }
      const { window, budget } = spent
      const isFirst = !window.isTold
      window.isTold = true
      const waitMs = endMs(window, budget) - elapsedMs()
      return { waitSeconds: Math.max(1, Math.ceil(waitMs / 1_000)), isFirst }
    },
    takeSome(shares, count) {
      const open = shares.map(share => ({ window: windowOf(share), budget: share.budget }))
      const left = open.map(({ window, budget }) => Math.max(0, budget - window.count))
      const taken = Math.min(count, ...left)
      let isFirst = false
      for (const { window, budget } of open) {
        window.count += taken
        if (taken === count || window.isTold || window.count < budget) continue
        window.isTold = true
        isFirst = true
      }
      return { count: taken, isFirst }
    },
    add(shares, count) {
      for (const share of shares) windowOf(share).count += count
    },
  }
}

/*
 * What counts as a guess.
 */

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
