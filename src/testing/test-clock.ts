/**
 * Clock of a vault under test: runs by itself, and jumps when the test says so.
 * @module
 */
const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const pattern = /^(\d{1,9})(ms|s|m|h|d)$/

/** `3m`, or milliseconds. @throws TypeError for an invalid length of time, or one below 0 */
function lengthMs(length: string | number): number {
  const [, count, unit] = pattern.exec(String(length)) ?? []
  const ms = typeof length === 'number' ? length : Number(count) * units[unit as keyof typeof units]
  if (Number.isFinite(ms) && ms >= 0) return ms
  throw new TypeError('clock.advance: expected a length such as 90s, 3m, 1h or 2d, or milliseconds')
}

export interface TestClock {
  /** Current time of the vault. */
  readonly now: () => Date
  /** As `3m`, `90s`, `1h`, `2d`, or milliseconds. */
  readonly advance: (length: string | number) => void
}

export interface MovedTime {
  /** Unix milliseconds; absent if it starts with the machine's clock. */
  readonly startAtMs: number | undefined
  /** Sum of all jumps, in milliseconds. */
  readonly movedMs: () => number
  readonly advance: (length: string | number) => void
}

/** @throws TypeError for an invalid date */
export function makeMovedTime(startAt: Date | undefined): MovedTime {
  const startAtMs = startAt?.getTime()
  // Otherwise each request would fail without a reason.
  if (Number.isNaN(startAtMs)) throw new TypeError('startVault: expected startAt to be a date')
  let movedMs = 0
  return {
    startAtMs,
    movedMs: () => movedMs,
    advance(length) {
      movedMs += lengthMs(length)
    },
  }
}
