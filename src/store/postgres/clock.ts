/**
 * The clock of the database, which is one for all vaults: how far ours is from it, and the mark
 * that all keep there (`serve/clock.ts`).
 *
 * A vault whose clock is off does not serve, since others would call expired what it calls live;
 * nor is anything destroyed while both clocks do not say the same.
 * Source: docs/many-machines.md, "Clocks".
 * @module
 */
import { clockSkewMsMax, databaseSilentMsMax } from '../limits.ts'
import { defaultBounds, type Bounds } from './bounds.ts'
import type { Pool } from './pool.ts'
import type { Tables } from './schema.ts'

export interface DatabaseClock {
  /**
   * Milliseconds by which ours is ahead of the one of the database, as it was told last;
   * `undefined` until then.
   */
  readonly skewMs: () => number | undefined
  /** Whether both say the same, within `clockSkewMsMax`. */
  readonly isRight: () => boolean
  /** Whether it was told within `databaseSilentMsMax`, by a database that takes writes. */
  readonly isAnswered: () => boolean
  /** As it stood when the store was opened, as text. */
  readonly mark: string
  /** Keeps a mark where it is later than the one there, some time soon. */
  readonly keep: (text: string) => void
  readonly close: () => Promise<void>
}

export interface ClockOptions {
  readonly pool: Pool
  readonly tables: Tables
  readonly wallMs: () => number
  readonly elapsedMs: () => number
  /** Told when our clock begins or ends to be off. */
  readonly onSkew: (skewMs: number, isRight: boolean) => void
  readonly bounds?: Bounds
}

const readText = ({ state }: Tables): string =>
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, clock_ms, pg_is_in_recovery()
FROM ${state}`

/** @throws Trouble */
export async function openDatabaseClock(options: ClockOptions): Promise<DatabaseClock> {
  const { pool, tables, wallMs, elapsedMs, onSkew, bounds = defaultBounds } = options
  let skewMs: number | undefined
  let wasRight = true
  let answeredMs = -Infinity
  const isRight = (): boolean => skewMs !== undefined && Math.abs(skewMs) <= clockSkewMsMax

  async function look(): Promise<number> {
    const before = wallMs()
    const [row] = await pool.query(readText(tables))
    const after = wallMs()
    const theirs = Number(row?.[0])
    if (row?.[2] === false) answeredMs = elapsedMs()
    // Whenever it was read between those: only what is outside of both is off.
    skewMs = Math.max(0, before - theirs) + Math.min(0, after - theirs)
    if (isRight() !== wasRight) {
      wasRight = isRight()
      onSkew(skewMs, wasRight)
    }
    return Number(row?.[1])
  }

  const markMs = await look()
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    look()
      .catch(() => {})
      .finally(() => {
        isLooking = false
      })
  }, bounds.clockMs)
  timer.unref()
  let keeping: Promise<unknown> = Promise.resolve()
  const keepText = `UPDATE ${tables.state} SET clock_ms = $1::bigint WHERE clock_ms < $1::bigint`
  return {
    skewMs: () => skewMs,
    isRight,
    isAnswered: () => elapsedMs() - answeredMs <= databaseSilentMsMax,
    mark: markMs > 0 ? `${markMs}\n` : '',
    keep(text) {
      // Nobody keeps a mark by a clock that others do not share.
      if (isRight()) keeping = pool.query(keepText, [Number(text)]).catch(() => {})
    },
    async close() {
      clearInterval(timer)
      await keeping
    },
  }
}
