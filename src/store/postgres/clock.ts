/**
 * The clock of the database, which is one for all vaults: how far ours is from it, and the mark
 * that all keep there (`serve/clock.ts`).
 *
 * All go by the time of the database, and between two looks at it by a monotonic clock. A vault
 * whose own clock is off does not serve all the same, and destroys nothing: one of both is wrong,
 * and which one is for a person to say.
 * Source: docs/many-machines.md, "Clocks".
 * @module
 */
import { clockSkewMsMax, databaseSilentMsMax } from '../limits.ts'
import { defaultBounds, type Bounds } from './bounds.ts'
import type { Cells, Pool } from './pool.ts'
import { leftFormat, type Tables } from './schema.ts'
import { Trouble, troubleOf } from './trouble.ts'

export interface DatabaseClock {
  /** What time it is there, in Unix milliseconds. */
  readonly wallMs: () => number
  /** Whether ours says the same, within `clockSkewMsMax`, and has not jumped since. */
  readonly isRight: () => boolean
  /** Whether the vault is in a folder now, as of the last look: nothing here is of it any more. */
  readonly hasLeft: () => boolean
  /** Whether it was told within `databaseSilentMsMax`, by a database that takes writes. */
  readonly isAnswered: () => boolean
  /** By how much ours is ahead, as far as is known, with what it has jumped since the last look. */
  readonly skewMs: () => number
  /** Since it was told last, by a database that takes writes. */
  readonly silentMs: () => number
  /** As it stood when the store was opened, as text. */
  readonly mark: string
  /** Keeps a mark where it is later than the one there, some time soon. */
  readonly keep: (text: string) => void
  readonly close: () => Promise<void>
}

export interface ClockOptions {
  readonly pool: Pool
  /** By which marks are kept. */
  readonly writer: Pool
  readonly tables: Tables
  readonly wallMs: () => number
  readonly elapsedMs: () => number
  /** Told when our clock begins or ends to be off. */
  readonly onSkew: (skewMs: number, isRight: boolean) => void
  readonly bounds?: Bounds
}

/** Whether one of the tables is gone: what is asked of the others tells nothing of it. */
const isMissing = ({ rows, uniques, recent, chunks, leases, receipts }: Tables): string =>
  [rows, uniques, recent, chunks, leases, receipts]
    .map(table => `to_regclass('${table}') IS NULL`)
    .join(' OR ')

const readText = (tables: Tables): string =>
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, clock_ms, pg_is_in_recovery(),
  format, ${isMissing(tables)}
FROM ${tables.state}`

/** @returns without the table of the clock: nothing */
async function askClock(pool: Pool, tables: Tables): Promise<Cells | undefined> {
  try {
    return (await pool.query(readText(tables)))[0]
  } catch (error) {
    if (troubleOf(error).kind !== 'missing') throw error
    return undefined
  }
}

/** What a look has found: three clocks at one moment. */
interface Sight {
  readonly elapsedMs: number
  readonly ourMs: number
  readonly theirMs: number
  /** By how much ours is ahead, whenever it was within the look that theirs was read. */
  readonly skewMs: number
}

/** By how much our clock is ahead at least, whenever between two looks at it theirs was read. */
export const skewOf = (beforeMs: number, theirMs: number, afterMs: number): number =>
  Math.max(0, beforeMs - theirMs) + Math.min(0, afterMs - theirMs)

/** @throws Trouble */
export async function openDatabaseClock(options: ClockOptions): Promise<DatabaseClock> {
  const { pool, writer, tables, wallMs, elapsedMs, onSkew, bounds = defaultBounds } = options
  let sight: Sight | undefined
  let wasRight = true
  let answeredMs = -Infinity
  let isLeft = false
  const passedMs = ({ elapsedMs: fromMs }: Sight): number => elapsedMs() - fromMs
  const jumpedMs = (since: Sight): number => wallMs() - since.ourMs - passedMs(since)
  const silentMs = (): number => elapsedMs() - answeredMs

  function isRight(): boolean {
    if (sight === undefined || Math.abs(sight.skewMs) > clockSkewMsMax) return false
    return Math.abs(jumpedMs(sight)) <= clockSkewMsMax
  }

  function tellOfSkew({ skewMs }: Sight): void {
    if (isRight() === wasRight) return
    wasRight = isRight()
    onSkew(skewMs, wasRight)
  }

  async function look(): Promise<number> {
    const before = { ourMs: wallMs(), elapsedMs: elapsedMs() }
    const row = await askClock(pool, tables)
    const after = { ourMs: wallMs(), elapsedMs: elapsedMs() }
    if (row?.[4] !== false) answeredMs = -Infinity
    const theirMs = Number(row?.[0])
    // No time at all would count as right, and whoever goes by it would never tell one again.
    if (!Number.isSafeInteger(theirMs)) throw new Trouble('other')
    isLeft = Number(row?.[3]) === leftFormat
    // Who is asked whether it is ready says no then.
    if (row?.[2] === false && row[4] === false && !isLeft) answeredMs = after.elapsedMs
    const skewMs = skewOf(before.ourMs, theirMs, after.ourMs)
    const amid = (of: 'ourMs' | 'elapsedMs'): number => (before[of] + after[of]) / 2
    sight = { elapsedMs: amid('elapsedMs'), ourMs: amid('ourMs'), theirMs, skewMs }
    tellOfSkew(sight)
    return Number(row?.[1])
  }

  const markMs = await look()
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    const end = (): void => void (isLooking = false)
    look().then(end, end)
  }, bounds.clockMs)
  timer.unref()
  let keeping: Promise<unknown> = Promise.resolve()
  const keepText = `UPDATE ${tables.state} SET clock_ms = $1::bigint WHERE clock_ms < $1::bigint`
  return {
    wallMs: () => Math.round(sight === undefined ? wallMs() : sight.theirMs + passedMs(sight)),
    isRight,
    hasLeft: () => isLeft,
    isAnswered: () => silentMs() <= databaseSilentMsMax,
    skewMs: () => (sight === undefined ? 0 : sight.skewMs + jumpedMs(sight)),
    silentMs,
    mark: markMs > 0 ? `${markMs}\n` : '',
    keep(text) {
      // Nobody keeps a mark by a clock that others do not share.
      if (isRight()) keeping = writer.query(keepText, [Number(text)]).catch(() => {})
    },
    async close() {
      clearInterval(timer)
      await keeping
    },
  }
}
