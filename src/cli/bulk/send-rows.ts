/**
 * Sends batches of rows to the vault, and returns the fate of each row.
 * @module
 */
import { CofferError, type Client } from '../../client/index.ts'
import type { Json } from '../../lib/json/json.ts'
import { importBatchRows, importRetries } from '../../limits/operation-limits.ts'
import { reasonOf } from './import-rows.ts'

export interface SentRow {
  readonly line: number
  readonly request: Json
}

export type RowFate =
  | { readonly kind: 'created' | 'equal'; readonly id: string }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** It was sent before, and the vault cannot repeat its outcome. */
  | { readonly kind: 'done' }

const rejected = (reason: string): RowFate => ({ kind: 'rejected', reason })

interface SentResult {
  readonly status: number
  readonly token?: { readonly id: string; readonly _extras?: { readonly deduplicated: boolean } }
  readonly error?: {
    readonly detail: string
    readonly errors?: Readonly<Record<string, readonly string[]>>
  }
}

function fateOf({ token, error }: SentResult): RowFate {
  if (token !== undefined) {
    return { kind: token._extras?.deduplicated === true ? 'equal' : 'created', id: token.id }
  }
  const { errors, detail } = error ?? { detail: 'refused' }
  return rejected(errors === undefined ? detail : reasonOf(errors))
}

/** Returns the idempotency key of a batch: the same key gets the first answer again. */
type KeyOf = (rows: readonly SentRow[]) => string

/** Some row is wrong, or all of them together are too large: sent alone, a row shows it. */
const isOfContent = ({ code }: CofferError): boolean =>
  code === 'invalid_request' || code === 'payload_too_large'

/** The batch was done under its key: its tokens are gone, or too many to repeat. */
const wasDone = ({ code, message }: CofferError): boolean =>
  code === 'not_found' || (code === 'conflict' && message.startsWith('This was done before'))

async function inHalves<T>(
  rows: readonly SentRow[],
  error: CofferError,
  send: (rows: readonly SentRow[]) => Promise<readonly T[]>,
  refuse: (reason: string) => T,
): Promise<readonly T[]> {
  if (rows.length === 1) {
    const { errors, message } = error
    return [refuse(Object.keys(errors).length > 0 ? reasonOf(errors) : message)]
  }
  const half = Math.ceil(rows.length / 2)
  return [...(await send(rows.slice(0, half))), ...(await send(rows.slice(half)))]
}

/** @returns the fates of the rows in order. @throws CofferError for an error of no row */
export async function sendRows(
  client: Client,
  rows: readonly SentRow[],
  keyOf: KeyOf,
): Promise<readonly RowFate[]> {
  try {
    const body = rows.map(({ request }) => request)
    const idempotencyKey = keyOf(rows)
    // One chunk, so that the key is the one that was sent before.
    const options = { idempotencyKey, chunkSize: importBatchRows, retries: importRetries }
    const { results } = await client.tokenizeEach(body, options)
    // Each row of a batch is one item.
    if (results.length !== rows.length) throw new CofferError('', { code: 'not_coffer' })
    return results.map(told => fateOf(told as SentResult))
  } catch (error) {
    if (!(error instanceof CofferError)) throw error
    if (wasDone(error)) return rows.map(() => ({ kind: 'done' }) as const)
    if (!isOfContent(error)) throw error
    return inHalves(rows, error, half => sendRows(client, half, keyOf), rejected)
  }
}

/** A failing item: with it everything in a batch is checked, and nothing is stored. */
const neverStored: Json = new Map<string, Json>([
  ['type', 'token'],
  ['data', null],
])

const place = /^\[(\d+)\]\.?(.*)$/

/** Returns the faults of each row by its place; `undefined` if there are other faults. */
function faultsByRow(error: CofferError, count: number): readonly Faults[] | undefined {
  const faults: Record<string, readonly string[]>[] = Array.from({ length: count }, () => ({}))
  for (const [path, expected] of Object.entries(error.errors)) {
    const [, index = '', rest = ''] = place.exec(path) ?? []
    if (index === String(count)) continue
    const own = faults[Number(index)]
    if (index === '' || own === undefined) return undefined
    own[rest] = expected
  }
  return faults
}

type Faults = Readonly<Record<string, readonly string[]>>

/** Stores nothing. @returns for each row the reason to refuse it, or `undefined` */
export async function checkRows(
  client: Client,
  rows: readonly SentRow[],
): Promise<readonly (string | undefined)[]> {
  const body = [...rows.map(({ request }) => request), neverStored]
  try {
    await client.tokenize<unknown>(body, { retries: importRetries })
  } catch (error) {
    if (!(error instanceof CofferError) || !isOfContent(error)) throw error
    const faults = faultsByRow(error, rows.length)
    if (faults !== undefined && error.code === 'invalid_request') {
      return faults.map(each => (Object.keys(each).length === 0 ? undefined : reasonOf(each)))
    }
    return inHalves(
      rows,
      error,
      half => checkRows(client, half),
      reason => reason,
    )
  }
  throw new Error('a batch that holds no data was stored')
}

/**
 * A vault of another version takes an object of an unknown type for a frame, and would make a token
 * of each of its texts. @returns true if it knows the type
 */
export async function knowsType(client: Client, type: string): Promise<boolean> {
  try {
    // The type may be any text: the vault is asked if it knows it.
    await client.tokens.create({ type: type as 'token', data: null }, { retries: importRetries })
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== 'invalid_request') throw error
    return !('type' in error.errors)
  }
  return false
}
