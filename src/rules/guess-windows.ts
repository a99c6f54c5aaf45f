/**
 * How many guesses were made by whom, in windows of a minute that begin with the first guess.
 *
 * What is larger than a whole budget passes where nothing was guessed yet, and its window lasts for
 * as many minutes as it takes up. A window is never forgotten before it is over: when there are too
 * many, those that come share one, so that nobody gets a fresh budget by bringing others.
 * @module
 */
import { guessersMax, guessWindowMs } from '../limits.ts'

/** Named by us: the ordinal of a credential, or the id of an application. */
type Guesser = string | number

interface Window {
  readonly startMs: number
  count: number
  /** Whether it was told that the budget is spent. */
  isTold: boolean
}

/** One of whom guesses are counted, and what it may guess in a window. */
export interface Share {
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

const endMs = ({ startMs, count }: Window, budget: number): number =>
  startMs + Math.max(1, Math.ceil(count / budget)) * guessWindowMs

/** @param elapsedMs a clock that always goes on */
export function makeGuessWindows(elapsedMs: () => number): GuessWindows {
  const windows = new Map<Guesser, Window & { readonly budget: number }>()

  function forgetOver(nowMs: number): void {
    for (const [guesser, window] of windows) {
      if (endMs(window, window.budget) <= nowMs) windows.delete(guesser)
    }
  }

  function windowOf({ guesser, budget }: Share): Window {
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
