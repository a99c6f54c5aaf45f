/**
 * Time and randomness under the control of a test.
 * @module
 */

export interface FakeClock {
  readonly now: () => number
  advance(ms: number): void
}

export function fakeClock(startMs = Date.UTC(2030, 0, 1)): FakeClock {
  let nowMs = startMs
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms
    },
  }
}

/** Repeatable bytes (mulberry32); for tests only. */
export function seededBytes(seed: number): (count: number) => Uint8Array {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 24
  }
  return count => Uint8Array.from({ length: count }, next)
}
