/**
 * The clock of the database, which is one for all vaults: how far ours is from it, and the mark
 * that all keep there (`server/process/clock.ts`).
 *
 * All go by the time of the database, and between two looks at it by a monotonic clock. A vault
 * whose own clock is off does not serve all the same, and destroys nothing: one of both is wrong,
 * and which one is for a person to say.
 * Source: docs/many-machines.md, "Clocks".
 * @module
 */
import { clockDriftMax, clockSkewMsMax, clockStepMs, databaseSilentMsMax } from '../core/limits.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
import type { Cells, Pool } from './pool.ts'
import { leftFormat, type Tables } from './schema.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'

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
  readonly bounds?: DatabaseTimeouts
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
    if (databaseErrorOf(error).kind !== 'missing') throw error
    return undefined
  }
}

/** Their clock at a moment of ours, of which only the middle of a look is known. */
interface Reading {
  readonly elapsedMs: number
  readonly theirMs: number
  /** By how much it may be off, either way. */
  readonly errorMs: number
}

/**
 * What their time is told by. A look that waited for a connection was answered at any moment of
 * that wait, so the closer of two readings counts, until the clocks may have drifted apart as far.
 * Where both cannot be true, their clock was set, or is another machine's by now.
 * Source: Cristian, "Probabilistic Clock Synchronization" (1989); RFC 5905 for the drift.
 */
export function closerOf(known: Reading, seen: Reading): Reading {
  const passedMs = seen.elapsedMs - known.elapsedMs
  const knownErrorMs = known.errorMs + passedMs * clockDriftMax
  const apartMs = Math.abs(seen.theirMs - known.theirMs - passedMs)
  const isContradicted = apartMs > knownErrorMs + seen.errorMs
  return isContradicted || seen.errorMs <= knownErrorMs ? seen : known
}

/** What a look has found: three clocks at one moment. */
interface ClockReading extends Reading {
  readonly ourMs: number
  /** By how much ours is ahead, whenever it was within the look that theirs was read. */
  readonly skewMs: number
}

/** By how much our clock is ahead at least, whenever between two looks at it theirs was read. */
export const skewOf = (beforeMs: number, theirMs: number, afterMs: number): number =>
  Math.max(0, beforeMs - theirMs) + Math.min(0, afterMs - theirMs)

type Moment = Pick<ClockReading, 'ourMs' | 'elapsedMs'>

/** Theirs was read somewhere between two looks at ours. */
function sightBetween(before: Moment, theirMs: number, after: Moment): ClockReading {
  const amid = (of: keyof Moment): number => (before[of] + after[of]) / 2
  return {
    elapsedMs: amid('elapsedMs'),
    ourMs: amid('ourMs'),
    theirMs,
    errorMs: (after.elapsedMs - before.elapsedMs) / 2 + clockStepMs,
    skewMs: skewOf(before.ourMs, theirMs, after.ourMs),
  }
}

/** One after the other; what fails is tried again with the next. */
function repeatEvery(ms: number, task: () => Promise<unknown>) {
  let isUnderWay = false
  const timer = setInterval(() => {
    if (isUnderWay) return
    isUnderWay = true
    const end = (): void => void (isUnderWay = false)
    task().then(end, end)
  }, ms)
  return timer.unref()
}

/** @throws DatabaseError */
export async function openDatabaseClock(options: ClockOptions): Promise<DatabaseClock> {
  const { pool, writer, tables, wallMs, elapsedMs, onSkew, bounds = defaultTimeouts } = options
  let sight: ClockReading | undefined
  let closest: Reading | undefined
  let wasRight = true
  let answeredMs = -Infinity
  let isLeft = false
  const passedMs = ({ elapsedMs: fromMs }: Reading): number => elapsedMs() - fromMs
  const jumpedMs = (since: ClockReading): number => wallMs() - since.ourMs - passedMs(since)
  const silentMs = (): number => elapsedMs() - answeredMs

  function isRight(): boolean {
    if (sight === undefined || Math.abs(sight.skewMs) > clockSkewMsMax) return false
    return Math.abs(jumpedMs(sight)) <= clockSkewMsMax
  }

  function tellOfSkew({ skewMs }: ClockReading): void {
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
    // No time at all would count as right, and the clock that goes by it would never tell one
    // again.
    if (!Number.isSafeInteger(theirMs)) throw new DatabaseError('other')
    isLeft = Number(row?.[3]) === leftFormat
    // Who is asked whether it is ready says no then.
    if (row?.[2] === false && row[4] === false && !isLeft) answeredMs = after.elapsedMs
    sight = sightBetween(before, theirMs, after)
    closest = closest === undefined ? sight : closerOf(closest, sight)
    tellOfSkew(sight)
    return Number(row?.[1])
  }

  await look()
  // The first one has opened a connection, which takes its time.
  const markMs = await look()
  const timer = repeatEvery(bounds.clockMs, look)
  let keeping: Promise<unknown> = Promise.resolve()
  const keepText = `UPDATE ${tables.state} SET clock_ms = $1::bigint WHERE clock_ms < $1::bigint`
  return {
    wallMs: () =>
      Math.round(closest === undefined ? wallMs() : closest.theirMs + passedMs(closest)),
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
