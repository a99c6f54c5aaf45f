/**
 * The clock of a running vault: the time, from a wall clock that may be wrong.
 *
 * It gives two answers. `now` serves requests and errs to the late side: data that the wall has
 * once called expired stays hidden. `settled` is for the sweep and errs to the early side: data
 * that it calls expired may be destroyed. Neither ever decreases, nor stands still for longer than
 * a few times `clockStepMsMax`: both advance with a monotonic clock while the wall does not.
 *
 * - A wall within `clockStepMsMax` of its expected time is followed. If it is a little behind,
 *   the clock waits for it; if it is far behind, it is ignored.
 * - A wall that jumps ahead moves `now` at once, and `settled` only after it has stayed there for
 *   `clockHoldMs`. So a jump that is reverted in time has destroyed nothing. The same holds for
 *   each sleep of the machine that the monotonic clock does not count.
 * - The mark is the latest instant that was given out and not held back. It outlives the process:
 *   a start with an earlier wall continues from the mark, and destroys only what is expired by
 *   both. A start with a wall far beyond the mark, as after downtime, waits for `startHoldMs`
 *   before it destroys what that wall calls expired. If other processes kept running there was no
 *   downtime, so the wall has jumped: a process that replaces another holds for `clockHoldMs`.
 *
 * The mark is written ahead by `clockLeaseMs` and is not synced: a killed process loses nothing of
 * it, a power cut may lose the last half minute or so.
 *
 * After a wall is corrected, `now` stays ahead of it, and shorter expiries are refused until the
 * wall has caught up; the operator is told (`aheadMs`). The clock does not go back earlier: a wall
 * that was set back wrongly looks the same, and going back would revive keys that have expired
 * meanwhile and, later, sessions made meanwhile. A restart ends this if the jump was held back;
 * otherwise only one without the mark.
 * Source: contract section 10; hardening T6, F17, D6.
 * @module
 */
import type { Log } from '../../deps.ts'
import { clockHoldMs, clockLeaseMs, clockStepMsMax } from '../../limits/operation-limits.ts'
import { deadlineMsMax } from '../../limits/work-limits.ts'

/** Storage of the mark. Both functions may throw: the clock continues without it. */
export interface ClockMark {
  /** Returns the last text written, also by an earlier process; empty if there is none. */
  read(): string
  write(text: string): void
}

/** For a vault that is gone with its process. */
export const noMark: ClockMark = { read: () => '', write: () => {} }

export interface ClockParts {
  /** Unix milliseconds of the machine; whole, and of any value. */
  readonly wall: () => number
  /** Milliseconds since some moment, at a steady rate and never back. */
  readonly elapsedMs: () => number
  readonly mark: ClockMark
  /** Time that a wall far beyond the mark must stay there before it decides destruction. */
  readonly startHoldMs: number
  readonly log: Log
}

/** All in whole Unix milliseconds. */
export interface Clock {
  /** Instant from which data counts as expired. Not before the wall, nor before `settled`. */
  now(): number
  /** Instant up to which data has certainly expired, and may be destroyed. */
  settled(): number
  /** Lead of `now` over the wall, once it is too large to wait for; otherwise 0. */
  aheadMs(): number
  /** Writes the mark without its lease: for a clean stop. */
  keep(): void
}

interface ClockState {
  /** Last reading of the monotonic clock, which `base`, `offset` and `sinceMs` also use. */
  elapsedMs: number
  now: number
  settled: number
  /** Latest instant before which the next process must not go. */
  trusted: number
  /** Expected wall, less the monotonic clock. */
  base: number
  /** Observed wall, less the monotonic clock, and since when it has been about there. */
  offset: number
  sinceMs: number
  holdMs: number
}

const markPattern = /^([0-9]{1,15})\n$/

/** @returns the instant of a mark, in Unix milliseconds; `undefined` if it is invalid */
export function parseMark(text: string): number | undefined {
  const markMs = Number(markPattern.exec(text)?.[1] ?? Number.NaN)
  return markMs <= deadlineMsMax ? markMs : undefined
}

function readMark({ mark, log }: ClockParts): number | undefined {
  try {
    const text = mark.read()
    if (text === '') return undefined
    const markMs = parseMark(text)
    if (markMs !== undefined) return markMs
  } catch {
    // Ignored like a damaged mark: a vault with a correct clock does not need it.
  }
  log('clock_mark_ignored')
  return undefined
}

function startState(
  wall: number,
  elapsedMs: number,
  markMs: number,
  startHoldMs: number,
): ClockState {
  const isLate = wall - markMs > clockStepMsMax
  // The mark may be ahead of its time, after kills by several leases.
  const settled = isLate ? Math.max(0, markMs - clockStepMsMax) : wall
  const latest = Math.max(wall, markMs)
  return {
    elapsedMs,
    now: latest,
    settled,
    trusted: isLate ? markMs : latest,
    base: (isLate ? markMs : wall) - elapsedMs,
    offset: wall - elapsedMs,
    sinceMs: elapsedMs,
    holdMs: isLate ? startHoldMs : clockHoldMs,
  }
}

/**
 * Findings about the wall: it has caught up with an earlier process; it has stayed long enough
 * where it is, and is not far behind; it has moved since the last look; or none of these.
 */
type WallReading = 'known' | 'stood' | 'moved' | 'standing'

function sightOf(state: ClockState, wall: number): WallReading {
  const offset = wall - state.elapsedMs
  const leadMs = offset - state.base
  const isBeforeTrusted = state.trusted - state.settled > clockStepMsMax
  const isUpToTrusted = wall - state.trusted <= clockStepMsMax
  if (leadMs > clockStepMsMax && isBeforeTrusted && isUpToTrusted) return 'known'
  if (Math.abs(offset - state.offset) > clockStepMsMax) return 'moved'
  const hasStood = state.elapsedMs - state.sinceMs >= state.holdMs
  return hasStood && leadMs >= -clockStepMsMax ? 'stood' : 'standing'
}

/** Restarts the wait for a wall that stays where it is. */
function watchFrom(state: ClockState, offset: number): void {
  state.offset = offset
  state.sinceMs = state.elapsedMs
  state.holdMs = clockHoldMs
}

/** Moves `base` to the wall, if the wall is trusted. */
function lookAtWall(state: ClockState, wall: number): void {
  const offset = wall - state.elapsedMs
  switch (sightOf(state, wall)) {
    case 'known':
    case 'stood':
      state.base = offset
      return watchFrom(state, offset)
    case 'moved':
      return watchFrom(state, offset)
    case 'standing':
      return undefined
  }
}

/** If far ahead of `settled`, it runs on by itself; otherwise it waits for `settled`. */
function runOn(ms: number, settled: number, passedMs: number): number {
  const onMs = ms + passedMs
  return onMs - settled > clockStepMsMax ? onMs : Math.max(ms, settled)
}

/** @returns the lead of the wall over its expected time, in milliseconds */
function advance(state: ClockState, wall: number, elapsedMs: number): number {
  const passedMs = Math.max(0, elapsedMs - state.elapsedMs)
  state.elapsedMs += passedMs
  lookAtWall(state, wall)
  const leadMs = wall - state.elapsedMs - state.base
  const isInStep = Math.abs(leadMs) <= clockStepMsMax
  const isFollowed = isInStep && state.settled - wall <= clockStepMsMax
  state.settled = isFollowed ? Math.max(state.settled, wall) : state.settled + passedMs
  state.trusted = runOn(state.trusted, state.settled, passedMs)
  state.now = Math.max(wall, runOn(state.now, state.settled, passedMs))
  return leadMs
}

/**
 * Tells the operator each time that the wall jumps ahead.
 * @param startLeadMs its lead over the mark at the start: downtime is no jump, so that is not told
 */
function jumpReporter(log: Log, startLeadMs: number): (leadMs: number) => void {
  let wasAhead = startLeadMs > clockStepMsMax
  return leadMs => {
    const isAhead = leadMs > clockStepMsMax
    if (isAhead && !wasAhead) log('clock_jumped', { ahead_ms: leadMs })
    wasAhead = isAhead
  }
}

/**
 * Tells the operator when the wall falls behind the clock, and when it has caught up.
 * @returns a function of the lead of `now` over the wall; it returns 0 except between the two
 */
function aheadReporter(log: Log): (aheadMs: number) => number {
  let isAhead = false
  return aheadMs => {
    if (!isAhead && aheadMs > clockStepMsMax) {
      isAhead = true
      log('clock_behind', { behind_ms: aheadMs })
    } else if (isAhead && aheadMs === 0) {
      isAhead = false
      log('clock_caught_up')
    }
    return isAhead ? aheadMs : 0
  }
}

/** @returns a function that writes an instant, and tells the operator if it begins to fail */
function markWriter({ mark, log }: ClockParts): (ms: number) => void {
  let isKept = true
  return ms => {
    try {
      mark.write(`${ms}\n`)
      isKept = true
    } catch {
      if (isKept) log('clock_not_kept')
      isKept = false
    }
  }
}

/** Reads the mark and starts the clock. It never throws because of the mark. */
export function makeClock(parts: ClockParts): Clock {
  const readWall = () => Math.max(0, parts.wall())
  const readElapsed = () => Math.trunc(parts.elapsedMs())
  const writeMark = markWriter(parts)
  const markMs = readMark(parts)
  const wall = readWall()
  const state = startState(wall, readElapsed(), markMs ?? wall, parts.startHoldMs)
  const reportJump = jumpReporter(parts.log, wall - (markMs ?? wall))
  const reportAhead = aheadReporter(parts.log)
  let aheadMs = reportAhead(state.now - wall)
  let writtenMs = markMs ?? -1
  function look(): ClockState {
    const wall = readWall()
    reportJump(advance(state, wall, readElapsed()))
    aheadMs = reportAhead(state.now - wall)
    if (state.trusted > writtenMs) {
      // A failed write is retried at the end of the lease, not at every request.
      writtenMs = state.trusted + clockLeaseMs
      writeMark(writtenMs)
    }
    return state
  }
  return {
    now: () => look().now,
    settled: () => look().settled,
    aheadMs() {
      look()
      return aheadMs
    },
    keep() {
      writtenMs = look().trusted
      writeMark(writtenMs)
    },
  }
}
