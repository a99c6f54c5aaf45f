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
import type { Bounds } from './bounds.ts'
import { nthOf, packDigests } from './pack.ts'
import type { Cells, Parameter } from './pool.ts'
import type { Tables } from './schema.ts'
import { Trouble } from './trouble.ts'

export interface Looker {
  readonly find: (unique: Digest) => Promise<Row | undefined>
  /** @param isPatient whether it waits for a database as long as a write does */
  readonly generation: (isPatient?: boolean) => Promise<number>
}

interface Waiting {
  /** Absent where the generation alone is asked for. */
  readonly unique?: Digest
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
  readonly bounds: Pick<Bounds, 'readMs' | 'writeMs'>
}

/** Whether nobody answered, which may pass. */
function isOfSilence(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.kind !== 'unavailable') return false
  return error.cause instanceof Trouble && ['lost', 'again'].includes(error.cause.kind)
}

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

export function makeLooker(tables: Tables, looking: Looking): Looker {
  const { ask, firstOrdinal, elapsedMs, bounds } = looking
  const text = lookText(tables)
  const waiting: Waiting[] = []
  /** Those who ask for the generation alone: each answer has it. */
  const unnamed: Waiting[] = []
  let asking = 0

  /** Whoever has waited behind it has waited for the same database; some have longer. */
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
    const uniques = together.flatMap(({ unique }) => unique ?? [])
    const packed = packDigests(uniques, uniqueBytes)
    const untilMs = Math.min(...together.map(each => each.untilMs ?? Infinity))
    const msMax = Math.min(bounds.readMs, Math.max(1, untilMs - elapsedMs()))
    try {
      const found = await ask(text, [packed, uniques.length, firstOrdinal], msMax)
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
    // Whoever asks in this turn of the loop comes along.
    await Promise.resolve()
    while (waiting.length + unnamed.length > 0) await lookOnce()
    asking -= 1
  }

  const look = (queue: Waiting[], what: Pick<Waiting, 'unique' | 'untilMs'>) =>
    new Promise<readonly Cells[]>((resolve, reject) => {
      queue.push({ ...what, resolve, reject })
      if (asking < lookConnections) void lookOn()
    })

  return {
    find: async unique => rowOf(unique, await look(waiting, { unique })),
    async generation(isPatient = false) {
      const what = isPatient ? { untilMs: elapsedMs() + bounds.writeMs } : {}
      return Number((await look(unnamed, what))[0]?.[0])
    },
  }
}
