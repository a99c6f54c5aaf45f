/**
 * Connections to a database: statements with a deadline of ours, and transactions.
 *
 * The client has no deadline of its own on a server that says nothing, so whatever is not answered
 * in time ends all connections of its pool: what they wait for is not known any more.
 * @module
 */
import { SQL, type ReservedSQL } from 'bun'
import { ApiError } from '../../lib/errors.ts'
import { databaseIdleMs } from '../core/limits.ts'
import type { DatabaseAddress } from './address.ts'
import { defaultTimeouts, type DatabaseTimeouts } from './timeouts.ts'
import { makePoolCounts, type PoolCounts, type PoolFigures } from './counters.ts'
import { connectionSettings } from './connection-settings.ts'
import { DatabaseError, databaseErrorOf } from './database-error.ts'

/** What a statement is given; arrays go as texts (`{1,2}`). */
export type Parameter = string | number | null | Uint8Array
/** A row of an answer, in the order of its columns. */
export type Cells = readonly unknown[]

/** One connection, for as long as somebody holds it. */
export interface DatabaseSession {
  /** Sent at once, behind those before it: their answers need not be waited for. */
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
   * Work on one connection, which is given back once it ended and rolled back where it failed.
   * @param msMax of the work, and of the wait for a connection before it
   * @throws DatabaseError
   */
  readonly hold: <T>(msMax: number, work: (session: DatabaseSession) => Promise<T>) => Promise<T>
  readonly figures: () => PoolFigures
  readonly close: () => Promise<void>
}

type PoolBounds = Pick<DatabaseTimeouts, 'connectMs' | 'abandonedMs'>

function openClient(address: DatabaseAddress, connections: number, bounds: PoolBounds): SQL {
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
    // A pool of transactions refuses them, and a role has them there.
    ...(prepare ? { connection: connectionSettings(bounds.abandonedMs) } : {}),
    connectionTimeout: bounds.connectMs / 1_000,
    idleTimeout: databaseIdleMs / 1_000,
  })
}

const templates = new Map<string, TemplateStringsArray>()

/** Of a text that is ours, as a tagged template would give it. */
function templateOf(text: string): TemplateStringsArray {
  const known = templates.get(text)
  if (known !== undefined) return known
  const raw = Object.freeze([text])
  const made = Object.freeze(Object.defineProperty([text], 'raw', { value: raw }))
  templates.set(text, made as unknown as TemplateStringsArray)
  return templateOf(text)
}

/**
 * The client sends a bare text by the simple protocol: it waits for all before it, and all behind
 * it wait. So BEGIN and COMMIT would each cost one more round trip.
 */
const queryOn = (client: SQL | ReservedSQL, text: string, parameters: readonly Parameter[]) =>
  parameters.length === 0 ? client(templateOf(text)) : client.unsafe(text, [...parameters])

/** Of a query of the client: rows as arrays. */
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

/** @throws DatabaseError `lost` where it is not there in time; whatever the work throws */
async function within<T>(
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
    // What is late may fail later, and nobody waits for it.
    work.catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** @throws DatabaseError; ApiError as the work says */
async function counted<T>(counts: PoolCounts, work: () => Promise<T>): Promise<T> {
  counts.begin()
  try {
    return await work()
  } catch (error) {
    // A refusal of ours is none of the database.
    if (error instanceof ApiError) throw error
    const trouble = databaseErrorOf(error)
    counts.fail(trouble.kind)
    throw trouble
  } finally {
    counts.end()
  }
}

/** Connections that stand or fall together, and how many of them somebody works with. */
interface PooledConnections {
  readonly sql: SQL
  held: number
}

async function reserve({ sql }: PooledConnections, left: AbortSignal): Promise<ReservedSQL> {
  const held = await sql.reserve()
  if (!left.aborted) return held
  await held.release()
  throw new DatabaseError('lost')
}

async function holding<T>(
  held: ReservedSQL,
  work: (session: DatabaseSession) => Promise<T>,
  late: AbortSignal,
): Promise<T> {
  const send: DatabaseSession['send'] = async (text, parameters = []) => {
    // Its caller has given up, and may have begun again elsewhere.
    if (late.aborted) throw new DatabaseError('lost')
    return sendOn(held, text, parameters)
  }
  try {
    const value = await work({ send })
    await held.release()
    return value
  } catch (error) {
    // A connection that is gone is given back by the client.
    await rolledBack(held).catch(() => held.close({ timeout: 0 }).catch(() => {}))
    throw error
  }
}

/** @param connections at most, at once */
export function openPool(
  address: DatabaseAddress,
  connections: number,
  bounds: PoolBounds = defaultTimeouts,
): Pool {
  const open = (): PooledConnections => ({ sql: openClient(address, connections, bounds), held: 0 })
  const counts = makePoolCounts(connections)
  let client = open()
  let isClosed = false
  const drop = (late: PooledConnections): void => {
    if (late === client && !isClosed) client = open()
    void late.sql.close({ timeout: 0 }).catch(() => {})
  }
  /** Waits for a connection, then works on it: each has the bound for itself. */
  async function hold<T>(
    msMax: number,
    work: (session: DatabaseSession) => Promise<T>,
  ): Promise<T> {
    const used = client
    const left = new AbortController()
    const held = await within(counts, msMax, reserve(used, left.signal), () => {
      left.abort()
      // Where others are at work it is not the database that keeps this one waiting.
      if (used.held === 0) drop(used)
    })
    const late = new AbortController()
    used.held += 1
    try {
      return await within(counts, msMax, holding(held, work, late.signal), () => {
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
      const send = () => within(counts, msMax, sendOn(used.sql, text, parameters), () => drop(used))
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

/** Numbers as an array of the database. */
export const arrayOf = (numbers: Iterable<number | null>): string =>
  `{${Array.from(numbers, number => number ?? 'NULL').join(',')}}`
