/**
 * The clock of the database, shared by all vaults: its difference from our clock, and the mark that
 * all vaults keep there (`server/process/clock.ts`).
 *
 * All vaults use the database's time, and between two reads of it a monotonic clock. A vault whose
 * own clock is off still refuses to serve and destroys nothing: one of the two clocks is wrong, and
 * only a person can say which. Source: docs/many-machines.md, "Clocks".
 * @module
 */
import { clockDriftMax, clockSkewMsMax, clockStepMs, databaseSilentMsMax } from '../core/limits.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
import type { Cells, Pool } from './pool.ts'
import { movedOutFormat, type Tables } from './schema.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'
import { singleFlight } from '../../lib/serial.ts'

export interface DatabaseClock {
  /** The database's time, in Unix milliseconds. */
  readonly wallMs: () => number
  /** True if our clock agrees within `clockSkewMsMax`, and has not jumped since. */
  readonly isRight: () => boolean
  /** True if, at the last reading, the vault had moved to a folder: nothing here is its own now. */
  readonly hasMovedOut: () => boolean
  /** True if a database that takes writes answered within `databaseSilentMsMax`. */
  readonly isAnswered: () => boolean
  /** Known lead of our clock, including its jumps since the last reading. */
  readonly skewMs: () => number
  /** Time since a database that takes writes last answered. */
  readonly silentMs: () => number
  /** The mark when the store was opened, as text. */
  readonly mark: string
  /** Stores a mark soon, if it is later than the stored one. */
  readonly keep: (text: string) => void
  readonly close: () => Promise<void>
}

export interface ClockOptions {
  readonly pool: Pool
  /** Pool for storing marks. */
  readonly writer: Pool
  readonly tables: Tables
  readonly wallMs: () => number
  readonly elapsedMs: () => number
  /** Called when our clock starts or stops being off. */
  readonly onSkew: (skewMs: number, isRight: boolean) => void
  readonly bounds?: DatabaseTimeouts
}

/** True if a table is missing: queries of the others would not notice. */
const isMissing = (tables: Tables): string => {
  const { rows, uniques, recent, chunks, leases, receipts, sums, log, derived, logRange } = tables
  return [rows, uniques, recent, chunks, leases, receipts, sums, log, derived, logRange]
    .map(table => `to_regclass('${table}') IS NULL`)
    .join(' OR ')
}

const readText = (tables: Tables): string =>
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, clock_ms, pg_is_in_recovery(),
  format, ${isMissing(tables)}
FROM ${tables.state}`

/** @returns `undefined` without the table of the clock */
async function askClock(pool: Pool, tables: Tables): Promise<Cells | undefined> {
  try {
    return (await pool.query(readText(tables)))[0]
  } catch (error) {
    if (databaseErrorOf(error).kind !== 'missing') throw error
    return undefined
  }
}

/** The database's clock at a moment of ours, taken as the middle between query and answer. */
interface Reading {
  readonly elapsedMs: number
  readonly theirMs: number
  /** Largest error, either way. */
  readonly errorMs: number
}

/**
 * Picks the reading to tell their time by. A query that waited for a connection was answered at any
 * moment of that wait, so the more precise reading counts, until drift may have made it worse. If
 * the two contradict each other, their clock was set, or is now another machine's. Source:
 * Cristian, "Probabilistic Clock Synchronization" (1989); RFC 5905 for the drift.
 */
export function closerOf(known: Reading, seen: Reading): Reading {
  const passedMs = seen.elapsedMs - known.elapsedMs
  const knownErrorMs = known.errorMs + passedMs * clockDriftMax
  const apartMs = Math.abs(seen.theirMs - known.theirMs - passedMs)
  const isContradicted = apartMs > knownErrorMs + seen.errorMs
  return isContradicted || seen.errorMs <= knownErrorMs ? seen : known
}

/** Three clocks at one moment. */
interface ClockReading extends Reading {
  readonly ourMs: number
  /** Least lead of our clock, at whatever moment of the query theirs was read. */
  readonly skewMs: number
}

/** Least lead of our clock, at whatever moment between two reads of it theirs was read. */
export const skewOf = (beforeMs: number, theirMs: number, afterMs: number): number =>
  Math.max(0, beforeMs - theirMs) + Math.min(0, afterMs - theirMs)

type Moment = Pick<ClockReading, 'ourMs' | 'elapsedMs'>

/** Theirs was read at some moment between two reads of ours. */
function readingBetween(before: Moment, theirMs: number, after: Moment): ClockReading {
  const amid = (of: keyof Moment): number => (before[of] + after[of]) / 2
  return {
    elapsedMs: amid('elapsedMs'),
    ourMs: amid('ourMs'),
    theirMs,
    errorMs: (after.elapsedMs - before.elapsedMs) / 2 + clockStepMs,
    skewMs: skewOf(before.ourMs, theirMs, after.ourMs),
  }
}

/** @throws DatabaseError */
export async function openDatabaseClock(options: ClockOptions): Promise<DatabaseClock> {
  const { pool, writer, tables, wallMs, elapsedMs, onSkew, bounds = defaultTimeouts } = options
  let latest: ClockReading | undefined
  let closest: Reading | undefined
  let wasRight = true
  let answeredMs = -Infinity
  let isMovedOut = false
  const passedMs = ({ elapsedMs: fromMs }: Reading): number => elapsedMs() - fromMs
  const jumpedMs = (since: ClockReading): number => wallMs() - since.ourMs - passedMs(since)
  const silentMs = (): number => elapsedMs() - answeredMs

  function isRight(): boolean {
    if (latest === undefined || Math.abs(latest.skewMs) > clockSkewMsMax) return false
    return Math.abs(jumpedMs(latest)) <= clockSkewMsMax
  }

  function reportSkew({ skewMs }: ClockReading): void {
    if (isRight() === wasRight) return
    wasRight = isRight()
    onSkew(skewMs, wasRight)
  }

  async function readClock(): Promise<number> {
    const before = { ourMs: wallMs(), elapsedMs: elapsedMs() }
    const row = await askClock(pool, tables)
    const after = { ourMs: wallMs(), elapsedMs: elapsedMs() }
    if (row?.[4] !== false) answeredMs = -Infinity
    const theirMs = Number(row?.[0])
    // A missing time would count as right, and the clock based on it would never tell one again.
    if (!Number.isSafeInteger(theirMs)) throw new DatabaseError('other')
    isMovedOut = Number(row?.[3]) === movedOutFormat
    // Then the readiness check says no.
    if (row?.[2] === false && row[4] === false && !isMovedOut) answeredMs = after.elapsedMs
    latest = readingBetween(before, theirMs, after)
    closest = closest === undefined ? latest : closerOf(closest, latest)
    reportSkew(latest)
    return Number(row?.[1])
  }

  await readClock()
  // The first reading includes opening a connection, so it is less precise.
  const markMs = await readClock()
  // A failed reading is retried at the next interval.
  const readAgain = singleFlight(() => readClock().catch(() => undefined))
  const timer = setInterval(readAgain, bounds.clockMs).unref()
  let keeping: Promise<unknown> = Promise.resolve()
  const keepText = `UPDATE ${tables.state} SET clock_ms = $1::bigint WHERE clock_ms < $1::bigint`
  return {
    wallMs: () =>
      Math.round(closest === undefined ? wallMs() : closest.theirMs + passedMs(closest)),
    isRight,
    hasMovedOut: () => isMovedOut,
    isAnswered: () => silentMs() <= databaseSilentMsMax,
    skewMs: () => (latest === undefined ? 0 : latest.skewMs + jumpedMs(latest)),
    silentMs,
    mark: markMs > 0 ? `${markMs}\n` : '',
    keep(text) {
      // No vault stores a mark from a clock that the others do not share.
      if (isRight()) keeping = writer.query(keepText, [Number(text)]).catch(() => {})
    },
    async close() {
      clearInterval(timer)
      await keeping
    },
  }
}
