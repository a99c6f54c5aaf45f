/**
 * Guess windows: count each caller's guesses per minute, by a monotonic clock.
 * @module
 */
import { guessersMax, guessWindowMs } from '../../limits/limits.ts'

/*
 * Counts guesses in windows of a minute, which begin with the first guess.
 *
 * A request larger than a whole budget passes if the window is unused; the window then lasts as
 * many minutes as the guesses would have taken. A window is never dropped before it is over: when
 * there are too many, newcomers of a tenant share one, so that nobody gets a fresh budget by
 * bringing others, and no tenant spends that of another.
 */

/** Never a caller's text: the ordinal of a credential, or the id of an application. */
type Guesser = string | number

interface GuessWindow {
  readonly startMs: number
  count: number
  /** True once it was reported that the budget is spent. */
  isTold: boolean
}

/** One guesser that is charged, with its budget for a window. */
export interface GuessShare {
  readonly guesser: Guesser
  readonly tenantId: string
  readonly budget: number
}

interface Verdict {
  /** Whole seconds from 1 on; 0 if the guesses are allowed. */
  readonly waitSeconds: number
  /** True for the first refusal of a window. */
  readonly isFirst: boolean
}

interface WindowWaits {
  /** Wait of each guess until the budget covers it, in milliseconds; 0: none. */
  readonly waitsMs: readonly number[]
  /** True the first time in a window that one has to wait. */
  readonly isFirst: boolean
}

const free: Verdict = { waitSeconds: 0, isFirst: false }

export interface GuessWindows {
  /**
   * Charges every share with that many guesses, or none of them. With 0 it only checks that one is
   * left.
   */
  readonly take: (shares: readonly GuessShare[], count: number) => Verdict
  /** Queues that many guesses behind the earlier ones; each minute serves one budget of them. */
  readonly place: (shares: readonly GuessShare[], count: number) => WindowWaits
  /** Charges guesses whose answers are known already, even beyond the budget. */
  readonly add: (shares: readonly GuessShare[], count: number) => void
  /** Cheap check: false only if no budget is spent; may stay true for too long. */
  readonly maySomebodyBeSpent: () => boolean
}

const sharedBy = (tenantId: string): Guesser => `many of ${tenantId}`

const endMs = ({ startMs, count }: GuessWindow, budget: number): number =>
  startMs + Math.max(1, Math.ceil(count / budget)) * guessWindowMs

function placeBehind(
  shares: readonly GuessShare[],
  count: number,
  windowOf: (share: GuessShare) => GuessWindow,
  elapsedMs: () => number,
): WindowWaits {
  const waitsMs = Array.from({ length: count }, () => 0)
  let isFirst = false
  for (const share of shares) {
    const window = windowOf(share)
    const aheadMs = window.startMs - elapsedMs()
    for (let index = 0; index < count; index += 1) {
      const minutes = Math.floor((window.count + index) / share.budget)
      waitsMs[index] = Math.max(waitsMs[index] ?? 0, aheadMs + minutes * guessWindowMs)
    }
    window.count += count
    if (window.isTold || (waitsMs.at(-1) ?? 0) <= 0) continue
    window.isTold = true
    isFirst = true
  }
  return { waitsMs, isFirst }
}

/** @param elapsedMs a monotonic clock */
export function makeGuessWindows(elapsedMs: () => number): GuessWindows {
  const windows = new Map<Guesser, GuessWindow & { readonly budget: number }>()
  /** End of the last window that is spent. */
  let spentUntilMs = 0

  function noteSpent(window: GuessWindow, budget: number): void {
    if (window.count >= budget) spentUntilMs = Math.max(spentUntilMs, endMs(window, budget))
  }

  function forgetOver(nowMs: number): void {
    for (const [guesser, window] of windows) {
      if (endMs(window, window.budget) <= nowMs) windows.delete(guesser)
    }
  }

  function windowOf({ guesser, tenantId, budget }: GuessShare): GuessWindow {
    const nowMs = elapsedMs()
    const known = windows.get(guesser)
    if (known !== undefined && endMs(known, budget) > nowMs) return known
    if (known === undefined && windows.size >= guessersMax) {
      forgetOver(nowMs)
      const shared = sharedBy(tenantId)
      if (windows.size >= guessersMax && guesser !== shared) {
        return windowOf({ guesser: shared, tenantId, budget })
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
        for (const { window, budget } of open) {
          window.count += count
          noteSpent(window, budget)
        }
        return free
      }
      const { window, budget } = spent
      const isFirst = !window.isTold
      window.isTold = true
      const waitMs = endMs(window, budget) - elapsedMs()
      return { waitSeconds: Math.max(1, Math.ceil(waitMs / 1_000)), isFirst }
    },
    place: (shares, count) => placeBehind(shares, count, windowOf, elapsedMs),
    add(shares, count) {
      for (const share of shares) {
        const window = windowOf(share)
        window.count += count
        noteSpent(window, share.budget)
      }
    },
    maySomebodyBeSpent: () => spentUntilMs > 0 && elapsedMs() < spentUntilMs,
  }
}
