/**
 * Looking up rows by a unique, and the generation: all that is asked at once goes as one statement.
 *
 * A statement is sent when a connection is free; what is asked until then comes along. So a busy
 * vault asks seldom and for much, and what it reads was committed after it was asked for.
 * @module
 */
import { ApiError, assertStored } from '../../lib/errors.ts'
import { uniqueBytes } from '../../limits/work-limits.ts'
import type { Digest, Glimpse, Row } from '../contract.ts'
import {
  glimpseBytes,
  lookConnections,
  lookUniquesMax,
  rowBytesMax,
  widerGlimpseBytes,
} from '../core/limits.ts'
import { decodeGlimpse, decodeRow, glimpseExtentOf } from '../core/row-format.ts'
import { holdsUnique } from '../core/row.ts'
import type { DatabaseTimeouts } from './timeouts.ts'
import { nthOf, packDigests } from './packed-parameters.ts'
import type { Cells, Parameter } from './pool.ts'
import type { Tables } from './schema.ts'
import { DatabaseError } from './database-error.ts'

export interface Looker {
  readonly find: (unique: Digest) => Promise<Row | undefined>
  readonly glance: (unique: Digest, parts: number) => Promise<Glimpse | undefined>
  /** @param isPatient whether it waits for a database as long as a write does */
  readonly generation: (isPatient?: boolean) => Promise<number>
}

interface Waiting {
  /** Absent where the generation alone is asked for. */
  readonly unique?: Digest
  /** So much of its row is sent; absent: all of it. */
  readonly bytesMax?: number
  /** By `elapsedMs`; absent where it waits no longer than the statement that it goes with. */
  readonly untilMs?: number
  readonly resolve: (answer: readonly Cells[]) => void
  readonly reject: (error: unknown) => void
}

/** Runs a statement, and again where the database was lost meanwhile, for so long. */
type Ask = (
  text: string,
  parameters: readonly Parameter[],
  msMax: number,
) => Promise<readonly Cells[]>

interface Looking {
  readonly ask: Ask
  /** Of the row that is read in place of one that is not there. */
  readonly firstOrdinal: number
  readonly elapsedMs: () => number
  readonly bounds: Pick<DatabaseTimeouts, 'readMs' | 'writeMs'>
}

/** Whether nobody answered, which may pass. */
function isOfSilence(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.kind !== 'unavailable') return false
  return error.cause instanceof DatabaseError && ['lost', 'again'].includes(error.cause.kind)
}

/** No value of the table of rows is longer. */
const wholeBytes = 2 * rowBytesMax

/**
 * For a unique that leads nowhere a row is read as well: a miss costs what a hit does. What is
 * sealed does not compress, so that the database reads no more of a long value than it sends.
 */
const lookText = ({ state, uniques, rows }: Tables): string => `
SELECT s.generation, u.ordinal, u.version, substring(r.value from 1 for ($4::int[])[q.i]), q.i,
  octet_length(r.value)
FROM ${state} s
LEFT JOIN generate_series(1, $2::int) q(i) ON true
LEFT JOIN ${uniques} u ON u.digest = ${nthOf('$1', 'q.i', uniqueBytes)}
LEFT JOIN ${rows} r ON r.ordinal = coalesce(u.ordinal, $3::bigint)`

type Decode<T extends Row> = (value: Uint8Array, ordinal: number, size: number) => T

/** @throws ApiError `storage_corrupt` where the row is not what its unique says */
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

/**
 * Asked again where the first part ends behind what was sent: the header is a long one.
 * @param look  at the row of that unique, of which so many bytes are sent
 */
async function glanceBy(
  unique: Digest,
  parts: number,
  look: (bytesMax: number) => Promise<readonly Cells[]>,
): Promise<Glimpse | undefined> {
  const decode: Decode<Glimpse> = (value, ordinal, size) =>
    decodeGlimpse(value, size, ordinal, parts)
  for (const bytesMax of [glimpseBytes, widerGlimpseBytes]) {
    const answer = await look(bytesMax)
    const [[, ordinal, , value] = []] = answer
    const isCut = value instanceof Uint8Array && value.length === bytesMax
    // What stands in for a row that is not there is read no further.
    const isEnough = !isCut || ordinal === null || glimpseExtentOf(value, parts) !== undefined
    if (isEnough) return rowOf(unique, answer, decode)
  }
  return rowOf(unique, await look(wholeBytes), decode)
}

export function makeLooker(tables: Tables, looking: Looking): Looker {
  const { ask, firstOrdinal, elapsedMs, bounds } = looking
  const text = lookText(tables)
  const waiting: Waiting[] = []
  /** Those who ask for the generation alone: each answer has it. */
  const unnamed: Waiting[] = []
  let asking = 0

  /** What has waited behind it has waited for the same database; some have longer. */
  function refuse(together: readonly Waiting[], error: unknown): void {
    const isSilent = isOfSilence(error)
    const isLost = error instanceof ApiError && error.kind === 'unavailable'
    const behind = isLost ? [...waiting.splice(0), ...unnamed.splice(0)] : []
    const nowMs = elapsedMs()
    for (const each of [...together, ...behind]) {
      if (isSilent && each.untilMs !== undefined && nowMs < each.untilMs) unnamed.push(each)
      else each.reject(error)
    }
  }

  async function lookOnce(): Promise<void> {
    const together = [...unnamed.splice(0), ...waiting.splice(0, lookUniquesMax)]
    const asked = together.filter(({ unique }) => unique !== undefined)
    const uniques = asked.flatMap(({ unique }) => unique ?? [])
    const bytesMax = `{${asked.map(one => one.bytesMax ?? wholeBytes).join(',')}}`
    const packed = packDigests(uniques, uniqueBytes)
    const untilMs = Math.min(...together.map(each => each.untilMs ?? Infinity))
    const msMax = Math.min(bounds.readMs, Math.max(1, untilMs - elapsedMs()))
    try {
      const found = await ask(text, [packed, uniques.length, firstOrdinal, bytesMax], msMax)
      const [first] = found
      assertStored(first !== undefined, 'a state of the store')
      const byNumber = Map.groupBy(found, cells => Number(cells[4]))
      let nth = 0
      for (const { unique, resolve } of together) {
        if (unique === undefined) resolve([first])
        else resolve(byNumber.get((nth += 1)) ?? [])
      }
    } catch (error) {
      refuse(together, error)
    }
  }

  async function lookOn(): Promise<void> {
    asking += 1
    // What is asked in this turn of the loop comes along.
    await Promise.resolve()
    while (waiting.length + unnamed.length > 0) await lookOnce()
    asking -= 1
  }

  const look = (queue: Waiting[], what: Pick<Waiting, 'unique' | 'bytesMax' | 'untilMs'>) =>
    new Promise<readonly Cells[]>((resolve, reject) => {
      queue.push({ ...what, resolve, reject })
      if (asking < lookConnections) void lookOn()
    })

  return {
    find: async unique => rowOf(unique, await look(waiting, { unique }), decodeRow),
    glance: (unique, parts) =>
      glanceBy(unique, parts, bytesMax => look(waiting, { unique, bytesMax })),
    async generation(isPatient = false) {
      const what = isPatient ? { untilMs: elapsedMs() + bounds.writeMs } : {}
      return Number((await look(unnamed, what))[0]?.[0])
    },
  }
}
