/**
 * Connections to a database: statements with a deadline of our own, and transactions.
 *
 * The client has no deadline for a silent server, so a missed deadline closes all connections of
 * the pool: the outcome of what they wait for is unknown.
 * @module
 */
import { SQL, type ReservedSQL } from 'bun'
import { ApiError } from '../../lib/errors.ts'
import { databaseIdleMs } from '../core/limits.ts'
import type { DatabaseAddress } from './address.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
import { makePoolCounts, type PoolCounts, type PoolFigures } from './counters.ts'
import { connectionSettings, type StatementBounds } from './connection-settings.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'

/** Parameter of a statement; arrays are sent as text (`{1,2}`). */
export type Parameter = string | number | null | Uint8Array
/** A row of an answer, in column order. */
export type Cells = readonly unknown[]

/** One connection, for as long as it is held. */
export interface DatabaseSession {
  /** Sends at once, after earlier statements, without waiting for their answers. */
  readonly send: (text: string, parameters?: readonly Parameter[]) => Promise<readonly Cells[]>
}

export interface Pool {
  /** @throws DatabaseError */
  readonly query: (
    text: string,
    parameters?: readonly Parameter[],
    msMax?: number,
  ) => Promise<readonly Cells[]>
  /**
   * Works on one connection, which is released afterwards, and rolled back on failure.
   * @param msMax of the work, and of the wait for a connection before it
   * @throws DatabaseError
   */
  readonly hold: <T>(msMax: number, work: (session: DatabaseSession) => Promise<T>) => Promise<T>
  readonly figures: () => PoolFigures
  readonly close: () => Promise<void>
}

type PoolBounds = Pick<DatabaseTimeouts, 'connectMs' | 'abandonedMs'>

type PoolOptions = PoolBounds & StatementBounds

function openClient(address: DatabaseAddress, connections: number, bounds: PoolOptions): SQL {
  const { hostname, port, path, database, username, password, tls, prepare } = address
  return new SQL({
    adapter: 'postgres',
    ...(path === undefined ? { hostname, port } : { path }),
    database,
    username,
    password: password ?? '',
    tls:
      tls === undefined
        ? false
        : { ...(tls.ca === undefined ? {} : { ca: tls.ca }), rejectUnauthorized: true },
    max: connections,
    prepare,
    // A transaction pooler refuses settings; there, the role has them.
    ...(prepare ? { connection: connectionSettings(bounds.abandonedMs, bounds) } : {}),
    connectionTimeout: bounds.connectMs / 1_000,
    idleTimeout: databaseIdleMs / 1_000,
  })
}

const templates = new Map<string, TemplateStringsArray>()

/** Turns a text of our own into the argument of a tagged template. */
function templateOf(text: string): TemplateStringsArray {
  const known = templates.get(text)
  if (known !== undefined) return known
  const raw = Object.freeze([text])
  const made = Object.freeze(Object.defineProperty([text], 'raw', { value: raw }))
  templates.set(text, made as unknown as TemplateStringsArray)
  return templateOf(text)
}

/**
 * The client sends a bare text by the simple protocol, which waits for everything before it and
 * blocks everything after it. So BEGIN and COMMIT would each cost another round trip.
 */
const queryOn = (client: SQL | ReservedSQL, text: string, parameters: readonly Parameter[]) =>
  parameters.length === 0 ? client(templateOf(text)) : client.unsafe(text, [...parameters])

/** Runs a query of the client, with rows as arrays. */
const sendOn = async (
  client: SQL | ReservedSQL,
  text: string,
  parameters: readonly Parameter[],
): Promise<readonly Cells[]> => {
  try {
    return (await queryOn(client, text, parameters).values()) as readonly Cells[]
  } catch (error) {
    throw databaseErrorOf(error)
  }
}

async function rolledBack(session: ReservedSQL): Promise<void> {
  await session.unsafe('ROLLBACK')
  await session.release()
}

/** @throws DatabaseError `lost` when the deadline passes; whatever the work throws */
async function withDeadline<T>(
  counts: PoolCounts,
  msMax: number,
  work: Promise<T>,
  onLate: () => void,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    counts.late()
    onLate()
    late.reject(new DatabaseError('lost'))
  }, msMax)
  try {
    return await Promise.race([work, late.promise])
  } catch (error) {
    // Late work may still fail, and no caller waits for it.
    work.catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** @throws DatabaseError; ApiError if the work does */
async function counted<T>(counts: PoolCounts, work: () => Promise<T>): Promise<T> {
  counts.begin()
  try {
    return await work()
  } catch (error) {
    // Our own refusal is not a failure of the database.
    if (error instanceof ApiError) throw error
    const failure = databaseErrorOf(error)
    counts.fail(failure.kind)
    throw failure
  } finally {
    counts.end()
  }
}

/** Connections that are closed together, and the number in use. */
interface PooledConnections {
  readonly sql: SQL
  held: number
}

async function reserve({ sql }: PooledConnections, abandoned: AbortSignal): Promise<ReservedSQL> {
  const held = await sql.reserve()
  if (!abandoned.aborted) return held
  await held.release()
  throw new DatabaseError('lost')
}

async function workOn<T>(
  held: ReservedSQL,
  work: (session: DatabaseSession) => Promise<T>,
  late: AbortSignal,
): Promise<T> {
  const send: DatabaseSession['send'] = async (text, parameters = []) => {
    // The caller has given up, and may have started again elsewhere.
    if (late.aborted) throw new DatabaseError('lost')
    return sendOn(held, text, parameters)
  }
  try {
    const value = await work({ send })
    await held.release()
    return value
  } catch (error) {
    // The client itself releases a lost connection.
    await rolledBack(held).catch(() => held.close({ timeout: 0 }).catch(() => {}))
    throw error
  }
}

/** @param connections the most at once */
export function openPool(
  address: DatabaseAddress,
  connections: number,
  bounds: PoolOptions = defaultTimeouts,
): Pool {
  const open = (): PooledConnections => ({ sql: openClient(address, connections, bounds), held: 0 })
  const counts = makePoolCounts(connections)
  let client = open()
  let isClosed = false
  const drop = (late: PooledConnections): void => {
    if (late === client && !isClosed) client = open()
    void late.sql.close({ timeout: 0 }).catch(() => {})
  }
  /** Waits for a connection, then works on it; each within the whole bound. */
  async function hold<T>(
    msMax: number,
    work: (session: DatabaseSession) => Promise<T>,
  ): Promise<T> {
    const used = client
    const abandoned = new AbortController()
    const held = await withDeadline(counts, msMax, reserve(used, abandoned.signal), () => {
      abandoned.abort()
      // If others are at work, they cause the wait, not the database.
      if (used.held === 0) drop(used)
    })
    const late = new AbortController()
    used.held += 1
    try {
      return await withDeadline(counts, msMax, workOn(held, work, late.signal), () => {
        late.abort()
        drop(used)
      })
    } finally {
      used.held -= 1
    }
  }
  return {
    query(text, parameters = [], msMax = bounds.connectMs) {
      const used = client
      const send = () =>
        withDeadline(counts, msMax, sendOn(used.sql, text, parameters), () => drop(used))
      return counted(counts, send)
    },
    hold: (msMax, work) => counted(counts, () => hold(msMax, work)),
    figures: counts.figures,
    async close() {
      isClosed = true
      await client.sql.close({ timeout: 1 })
    },
  }
}

/** Formats numbers as a database array. */
export const arrayOf = (numbers: Iterable<number | null>): string =>
  `{${Array.from(numbers, number => number ?? 'NULL').join(',')}}`
