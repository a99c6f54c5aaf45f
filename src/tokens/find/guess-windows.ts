/**
 * Windows of guesses: how many of them whom is left, by a clock that always goes on.
 * @module
 */
import { guessersMax, guessWindowMs } from '../../limits/limits.ts'

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
export interface GuessShare {
  readonly guesser: Guesser
  readonly budget: number
}

interface Verdict {
  /** Whole, from 1 on; 0 where the guesses may be made. */
  readonly waitSeconds: number
  /** The first refusal of a window. */
  readonly isFirst: boolean
}

interface WindowWaits {
  /** How long each has to wait until the budget has come to it, in milliseconds; 0: not at all. */
  readonly waitsMs: readonly number[]
  /** The first time in a window that one has to wait. */
  readonly isFirst: boolean
}

const free: Verdict = { waitSeconds: 0, isFirst: false }

export interface GuessWindows {
  /**
   * Takes so many guesses from every share, or none from any. With 0 it only asks whether one is
   * left.
   */
  readonly take: (shares: readonly GuessShare[], count: number) => Verdict
  /** Gives each of so many guesses its place behind those before: a budget of them a minute. */
  readonly place: (shares: readonly GuessShare[], count: number) => WindowWaits
  /** Counts what was learned already, whatever is left. */
  readonly add: (shares: readonly GuessShare[], count: number) => void
  /** Whether anybody's may be spent: quick, and true for longer at most. */
  readonly maySomebodyBeSpent: () => boolean
}

const sharedByMany: Guesser = 'many'

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

/** @param elapsedMs a clock that always goes on */
export function makeGuessWindows(elapsedMs: () => number): GuessWindows {
  const windows = new Map<Guesser, GuessWindow & { readonly budget: number }>()
  /** The end of the last window that is spent. */
  let spentUntilMs = 0

  function noteSpent(window: GuessWindow, budget: number): void {
    if (window.count >= budget) spentUntilMs = Math.max(spentUntilMs, endMs(window, budget))
  }

  function forgetOver(nowMs: number): void {
    for (const [guesser, window] of windows) {
      if (endMs(window, window.budget) <= nowMs) windows.delete(guesser)
    }
  }

  function windowOf({ guesser, budget }: GuessShare): GuessWindow {
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
