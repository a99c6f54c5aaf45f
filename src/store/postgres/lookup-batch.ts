/**
 * Looks up rows by a unique, and the generation: concurrent requests share one statement.
 *
 * A statement is sent when a connection is free, with all requests that arrived by then. So a busy
 * vault sends few large statements, and each reads what was committed before it was sent. Long rows
 * are read by other statements, one after the other: no short one waits for more than one of these.
 * @module
 */
import { ApiError, assertStored } from '../../lib/errors.ts'
import { uniqueBytes } from '../../limits/work-limits.ts'
import type { Digest, Glimpse, Row } from '../contract.ts'
import {
  glimpseBytes,
  lookupConnections,
  longLookupBytesMax,
  lookupUniquesMax,
  rowBytesMax,
  widerGlimpseBytes,
} from '../core/limits.ts'
import { decodeGlimpse, decodeRow, glimpseExtentOf } from '../core/row-format.ts'
import { holdsUnique } from '../core/row.ts'
import type { DatabaseTimeouts } from './timeouts.ts'
import { nthOf, packDigests } from './packed-parameters.ts'
import { arrayOf, type Cells, type Parameter } from './pool.ts'
import type { Tables } from './schema.ts'
import { DatabaseError, mayPass } from './database-error.ts'

export interface Lookups {
  readonly find: (unique: Digest) => Promise<Row | undefined>
  readonly glance: (unique: Digest, parts: number) => Promise<Glimpse | undefined>
  /** @param isPatient true to wait for a database as long as a write does */
  readonly generation: (isPatient?: boolean) => Promise<number>
}

interface WaitingLookup {
  /** Absent if only the generation is wanted. */
  readonly unique?: Digest
  /** Bytes of its row to send; absent for all. */
  readonly bytesMax?: number
  /** Bytes that its row had, if it is to be read whole. */
  readonly size?: number
  /** Deadline by `elapsedMs`; absent if it waits only as long as its statement. */
  readonly untilMs?: number
  readonly resolve: (answer: readonly Cells[]) => void
  readonly reject: (error: unknown) => void
}

/** Runs a statement, and retries within the bound while the database is lost. */
type Ask = (
  text: string,
  parameters: readonly Parameter[],
  msMax: number,
) => Promise<readonly Cells[]>

interface LookupOptions {
  readonly ask: Ask
  /** Ordinal of the row that is read for a missing one. */
  readonly firstOrdinal: number
  readonly elapsedMs: () => number
  readonly bounds: Pick<DatabaseTimeouts, 'readMs' | 'writeMs'>
}

/** True if the error of a statement says that the database may answer later. */
function mayAnswerLater(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.kind !== 'unavailable') return false
  return error.cause instanceof DatabaseError && mayPass(error.cause)
}

/** Longer than any value of the table of rows. */
const wholeBytes = 2 * rowBytesMax

/**
 * A unique without a row reads a row too: a miss costs as much as a hit. Sealed data is not
 * compressed, so the database reads no more of a long value than it sends.
 */
const lookupText = ({ state, uniques, rows }: Tables): string => `
SELECT s.generation, u.ordinal, u.version, substring(r.value from 1 for ($4::int[])[q.i]), q.i,
  octet_length(r.value)
FROM ${state} s
LEFT JOIN generate_series(1, $2::int) q(i) ON true
LEFT JOIN ${uniques} u ON u.digest = ${nthOf('$1', 'q.i', uniqueBytes)}
LEFT JOIN ${rows} r ON r.ordinal = coalesce(u.ordinal, $3::bigint)`

type Decode<T extends Row> = (value: Uint8Array, ordinal: number, size: number) => T

/** @throws ApiError `storage_corrupt` when the row and its unique disagree */
function rowOf<T extends Row>(
  unique: Digest,
  answer: readonly Cells[],
  decode: Decode<T>,
): T | undefined {
  assertStored(answer.length === 1, 'one row for a unique')
  const [[, ordinal, version, value, , size] = []] = answer
  if (ordinal === null || ordinal === undefined) return undefined
  assertStored(value instanceof Uint8Array, 'a row for each unique')
  const row = decode(value, Number(ordinal), Number(size))
  assertStored(row.version === Number(version), 'a row at the version of its unique')
  assertStored(holdsUnique(row, unique), 'a row that holds its unique')
  return row
}

/** A look-up sends so many bytes of a row, or the whole one, which had so many. */
type Extent = Pick<WaitingLookup, 'bytesMax' | 'size'>

/** Looks up one unique. */
type LookupBy = (extent: Extent) => Promise<readonly Cells[]>

const sizeIn = (answer: readonly Cells[]): number => Number(answer[0]?.[5])

/**
 * Repeats the look-up with more bytes if the first part ends beyond them: the header is long.
 * @param lookup  reads the row of that unique
 */
async function glanceWith(
  unique: Digest,
  parts: number,
  lookup: LookupBy,
): Promise<Glimpse | undefined> {
  const decode: Decode<Glimpse> = (value, ordinal, size) =>
    decodeGlimpse(value, size, ordinal, parts)
  let size = 0
  for (const bytesMax of [glimpseBytes, widerGlimpseBytes]) {
    const answer = await lookup({ bytesMax })
    const [[, ordinal, , value] = []] = answer
    const isCut = value instanceof Uint8Array && value.length === bytesMax
    // The row read for a missing one needs no more bytes.
    const isEnough = !isCut || ordinal === null || glimpseExtentOf(value, parts) !== undefined
    if (isEnough) return rowOf(unique, answer, decode)
    size = sizeIn(answer)
  }
  return rowOf(unique, await lookup({ size }), decode)
}

/** A long row is read by a second look-up, since it is not known how long one is. */
async function findWith(unique: Digest, lookup: LookupBy): Promise<Row | undefined> {
  const answer = await lookup({ bytesMax: glimpseBytes })
  const [[, ordinal] = []] = answer
  const size = sizeIn(answer)
  const isLong = ordinal !== null && size > glimpseBytes
  return rowOf(unique, isLong ? await lookup({ size }) : answer, decodeRow)
}

/** Parameters of the statement: the look-ups of a batch that name a unique are numbered from 1. */
function parametersOf(batch: readonly WaitingLookup[], firstOrdinal: number): Parameter[] {
  const named = batch.filter(({ unique }) => unique !== undefined)
  const uniques = named.flatMap(({ unique }) => unique ?? [])
  const bytesMax = named.map(each => each.bytesMax ?? wholeBytes)
  return [packDigests(uniques, uniqueBytes), uniques.length, firstOrdinal, arrayOf(bytesMax)]
}

/** Gives each look-up its rows of the answer. @throws ApiError `storage_corrupt` if it is empty */
function answerBatch(batch: readonly WaitingLookup[], answer: readonly Cells[]): void {
  const [first] = answer
  assertStored(first !== undefined, 'a state of the store')
  const byNumber = Map.groupBy(answer, cells => Number(cells[4]))
  let number = 0
  for (const { unique, resolve } of batch) {
    if (unique === undefined) resolve([first])
    else resolve(byNumber.get((number += 1)) ?? [])
  }
}

/** Look-ups that wait to be sent. */
function makeWaiting() {
  const short: WaitingLookup[] = []
  const long: (WaitingLookup & { readonly size: number })[] = []
  /** Look-ups of the generation alone, which every answer has. */
  const generationOnly: WaitingLookup[] = []
  return {
    add(each: WaitingLookup): void {
      const { unique, size } = each
      if (unique === undefined) generationOnly.push(each)
      else if (size === undefined) short.push(each)
      else long.push({ ...each, size })
    },
    hasShort: () => short.length + generationOnly.length > 0,
    takeShort: () => [...generationOnly.splice(0), ...short.splice(0, lookupUniquesMax)],
    hasLong: () => long.length > 0,
    /** A row that is longer than all may be goes alone. */
    takeLong() {
      let bytes = 0
      const end = long.findIndex(({ size }, at) => {
        bytes += size
        return at > 0 && (bytes > longLookupBytesMax || at === lookupUniquesMax)
      })
      return long.splice(0, end === -1 ? long.length : end)
    },
    takeAll: () => [short, long, generationOnly].flatMap(queue => queue.splice(0)),
  }
}

export function makeLookups(tables: Tables, options: LookupOptions): Lookups {
  const { ask, firstOrdinal, elapsedMs, bounds } = options
  const text = lookupText(tables)
  const waiting = makeWaiting()
  let sending = 0
  let isSendingLong = false

  /**
   * Rejects a batch, and the look-ups behind it if they wait for a database that is away. Those
   * that may wait longer are queued again.
   */
  function refuse(batch: readonly WaitingLookup[], error: unknown): void {
    const mayWait = mayAnswerLater(error)
    const isLost = error instanceof ApiError && error.kind === 'unavailable'
    const behind = isLost ? waiting.takeAll() : []
    const nowMs = elapsedMs()
    for (const each of [...batch, ...behind]) {
      if (mayWait && each.untilMs !== undefined && nowMs < each.untilMs) waiting.add(each)
      else each.reject(error)
    }
  }

  async function sendBatch(batch: readonly WaitingLookup[]): Promise<void> {
    const untilMs = Math.min(...batch.map(each => each.untilMs ?? Infinity))
    const msMax = Math.min(bounds.readMs, Math.max(1, untilMs - elapsedMs()))
    try {
      answerBatch(batch, await ask(text, parametersOf(batch, firstOrdinal), msMax))
    } catch (error) {
      refuse(batch, error)
    }
  }

  async function sendShort(): Promise<void> {
    sending += 1
    // Requests of the same turn of the loop go along.
    await Promise.resolve()
    while (waiting.hasShort()) await sendBatch(waiting.takeShort())
    sending -= 1
  }

  async function sendLong(): Promise<void> {
    isSendingLong = true
    while (waiting.hasLong()) await sendBatch(waiting.takeLong())
    isSendingLong = false
  }

  const lookup = (what: Pick<WaitingLookup, 'unique' | 'bytesMax' | 'size' | 'untilMs'>) =>
    new Promise<readonly Cells[]>((resolve, reject) => {
      waiting.add({ ...what, resolve, reject })
      if (sending < lookupConnections && waiting.hasShort()) void sendShort()
      if (!isSendingLong && waiting.hasLong()) void sendLong()
    })

  return {
    find: unique => findWith(unique, extent => lookup({ unique, ...extent })),
    glance: (unique, parts) => glanceWith(unique, parts, extent => lookup({ unique, ...extent })),
    async generation(isPatient = false) {
      const what = isPatient ? { untilMs: elapsedMs() + bounds.writeMs } : {}
      return Number((await lookup(what))[0]?.[0])
    },
  }
}
