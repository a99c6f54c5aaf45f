/**
 * The clock of a running vault: what time it is, by a wall clock that may be wrong.
 *
 * It gives two answers. `now` serves requests and errs to the late side: what the wall has once
 * called expired stays hidden. `settled` is for the sweep and errs to the early side: what it calls
 * expired may be destroyed. Neither ever decreases, nor stands still for longer than a few times
 * `clockStepMsMax`: both go on at the rate of a monotonic clock where the wall does not.
 *
 * - A wall within `clockStepMsMax` of where it should be is followed. One that is a little behind
 *   is waited for; one that is far behind is not listened to.
 * - One that jumped ahead moves `now` at once, and `settled` only after it has stood there for
 *   `clockHoldMs`. So a jump that is taken back in time has destroyed nothing. The same holds for
 *   each sleep of the machine that the monotonic clock does not count.
 * - The mark is the latest instant that was told and was not held. It outlives the process: a
 *   start with an earlier wall goes on from the mark, and destroys only what is expired by both. A
 *   start with a wall far beyond the mark, as after downtime, waits for `startHoldMs` before it
 *   destroys what that wall calls expired. Where others went on meanwhile it was no downtime, so
 *   that wall has jumped, and a process that takes another's place holds for `clockHoldMs`.
 *
 * The mark is written ahead by `clockLeaseMs` and is not synced: a killed process loses nothing of
 * it, a power cut may lose the last half minute or so.
 *
 * A wall that is set right leaves `now` ahead of it, and what expires sooner is refused. That lasts
 * until the wall has come up to it, and the operator is told (`aheadMs`). It is not ended before:
 * a wall that was set back wrongly looks the same, and going back would revive a key that has ended
 * meanwhile, and later each session that was made meanwhile. A start ends it where the jump was
 * held, and otherwise one without the mark.
 * Source: contract section 10; hardening T6, F17, D6.
 * @module
 */
import type { Log } from '../../deps.ts'
import { clockHoldMs, clockLeaseMs, clockStepMsMax } from '../../limits/operation-limits.ts'
import { deadlineMsMax } from '../../limits/work-limits.ts'

/** Where the mark is kept. Both may throw: the clock goes on without it. */
export interface ClockMark {
  /** What was written last, by an earlier process too; empty when there is nothing. */
  read(): string
  write(text: string): void
}

/** Of a vault that is gone with its process. */
export const noMark: ClockMark = { read: () => '', write: () => {} }

export interface ClockParts {
  /** Unix milliseconds, as the machine believes; whole, and of any value. */
  readonly wall: () => number
  /** Milliseconds since some moment, at a steady rate and never back. */
  readonly elapsedMs: () => number
  readonly mark: ClockMark
  /** How long a wall far beyond the mark must stand before anything is destroyed by it. */
  readonly startHoldMs: number
  readonly log: Log
}

/** All in whole Unix milliseconds. */
export interface Clock {
  /** From when on something counts as expired. Not before the wall, nor before `settled`. */
  now(): number
  /** By when something has expired beyond doubt, and may be destroyed. */
  settled(): number
  /** By how much `now` is ahead of the wall, where that is more than waits for it; otherwise 0. */
  aheadMs(): number
  /** Writes the mark without its lease: for a clean stop. */
  keep(): void
}

interface ClockState {
  /** When the clock was read last, by the monotonic clock, as are `base`, `offset`, `sinceMs`. */
  elapsedMs: number
  now: number
  settled: number
  /** What must not be told as earlier by the next process. */
  trusted: number
  /** Where the wall should be, less the monotonic clock. */
  base: number
  /** Where the wall is, less the monotonic clock, and since when it has been about there. */
  offset: number
  sinceMs: number
  holdMs: number
}

const markPattern = /^([0-9]{1,15})\n$/

/** @returns the instant of a mark, in Unix milliseconds; `undefined` for what is none */
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
    // Ignored like a damaged one: a vault with a right clock does not need it.
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
  // A mark was written ahead of its time, after kills by several leases.
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
 * What a look at the wall finds: it comes up to where an earlier process was, or has stood for long
 * enough where it is and not far behind, or is elsewhere than at the look before, or none of these.
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

/** From now on it is looked at whether the wall stands where it is. */
function watchFrom(state: ClockState, offset: number): void {
  state.offset = offset
  state.sinceMs = state.elapsedMs
  state.holdMs = clockHoldMs
}

/** Moves `base` to a wall that is believed. */
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

/** Far ahead of what is settled it goes on by itself; else what is settled comes up to it. */
function runOn(ms: number, settled: number, passedMs: number): number {
  const onMs = ms + passedMs
  return onMs - settled > clockStepMsMax ? onMs : Math.max(ms, settled)
}

/** @returns how far the wall is ahead of where it should be, in milliseconds */
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
 * Tells the operator each time that the wall jumps ahead of its place.
 * @param startLeadMs how far it was ahead of the mark. Downtime is no jump, so that is not told
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
 * Tells the operator when the wall falls behind what was told, and when it has come up to that.
 * @returns a function from by how much `now` is ahead of the wall to the same, 0 but between both
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

/** @returns a function that writes an instant, and tells the operator when it begins to fail */
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

/** Reads the mark and starts the clock. It never throws for a mark that cannot be kept. */
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
      // A write that fails is tried again at the end of the lease, not at every request.
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
