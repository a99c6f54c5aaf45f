/**
 * Looking up rows by a unique, and the generation: all that is asked at once goes as one statement.
 *
 * A statement is sent when a connection is free; whoever asks until then comes along. So a busy
 * vault asks seldom and for much, and what it reads was committed after it was asked for.
 * @module
 */
import { ApiError, assertStored } from '../../errors.ts'
import { uniqueBytes } from '../../limits.ts'
import type { Digest, Row } from '../contract.ts'
import { lookConnections, lookUniquesMax } from '../limits.ts'
import { decodeRow } from '../row-format.ts'
import { holdsUnique } from '../rows.ts'
import { nthOf, packDigests } from './pack.ts'
import type { Cells, Parameter } from './pool.ts'
import type { Tables } from './schema.ts'

export interface Looker {
  readonly find: (unique: Digest) => Promise<Row | undefined>
  readonly generation: () => Promise<number>
}

interface Waiting {
  /** Absent where the generation alone is asked for. */
  readonly unique?: Digest
  readonly resolve: (answer: readonly Cells[]) => void
  readonly reject: (error: unknown) => void
}

/** Runs a statement, and again where the database was lost meanwhile. */
type Ask = (text: string, parameters: readonly Parameter[]) => Promise<readonly Cells[]>

/** For a unique that leads nowhere a row is read as well: a miss costs what a hit does. */
const lookText = ({ state, uniques, rows }: Tables): string => `
SELECT s.generation, u.ordinal, u.version, r.value, q.i
FROM ${state} s
LEFT JOIN generate_series(1, $2::int) q(i) ON true
LEFT JOIN ${uniques} u ON u.digest = ${nthOf('$1', 'q.i', uniqueBytes)}
LEFT JOIN ${rows} r ON r.ordinal = coalesce(u.ordinal, $3::bigint)`

/** @throws ApiError `storage_corrupt` where the row is not what its unique says */
function rowOf(unique: Digest, answer: readonly Cells[]): Row | undefined {
  assertStored(answer.length === 1, 'one row for a unique')
  const [[, ordinal, version, value] = []] = answer
  if (ordinal === null || ordinal === undefined) return undefined
  assertStored(value instanceof Uint8Array, 'a row for each unique')
  const row = decodeRow(value, Number(ordinal))
  assertStored(row.version === Number(version), 'a row at the version of its unique')
  assertStored(holdsUnique(row, unique), 'a row that holds its unique')
  return row
}

/** @param firstOrdinal of the row that is read in place of one that is not there */
export function makeLooker(tables: Tables, ask: Ask, firstOrdinal: number): Looker {
  const text = lookText(tables)
  const waiting: Waiting[] = []
  let asking = 0

  async function lookOnce(): Promise<void> {
    const together = waiting.splice(0, lookUniquesMax)
    const uniques = together.flatMap(({ unique }) => unique ?? [])
    const packed = packDigests(uniques, uniqueBytes)
    try {
      const found = await ask(text, [packed, uniques.length, firstOrdinal])
      const [first] = found
      assertStored(first !== undefined, 'a state of the store')
      const byNumber = Map.groupBy(found, cells => Number(cells[4]))
      let nth = 0
      for (const { unique, resolve } of together) {
        if (unique === undefined) resolve([first])
        else resolve(byNumber.get((nth += 1)) ?? [])
      }
    } catch (error) {
      const isLost = error instanceof ApiError && error.kind === 'unavailable'
      // Whoever has waited behind it has waited for the same database.
      for (const { reject } of [...together, ...(isLost ? waiting.splice(0) : [])]) reject(error)
    }
  }

  async function lookOn(): Promise<void> {
    asking += 1
    // Whoever asks in this turn of the loop comes along.
    await Promise.resolve()
    while (waiting.length > 0) await lookOnce()
    asking -= 1
  }

  const look = (unique?: Digest): Promise<readonly Cells[]> =>
    new Promise((resolve, reject) => {
      waiting.push({ ...(unique === undefined ? {} : { unique }), resolve, reject })
      if (asking < lookConnections) void lookOn()
    })

  return {
    find: async unique => rowOf(unique, await look(unique)),
    generation: async () => Number((await look())[0]?.[0]),
  }
}
