/**
 * Lines of a list of erasures: the deleted token and the time, without any value.
 *
 * A token made anew under the same id is another token, even if the clock stood still in between: a
 * token is identified by its row number, which is given once, and, because a restored vault would
 * give it again, by the instant of its creation.
 * @module
 */
import { isJsonObject, type Json, type JsonObject } from '../lib/json/json.ts'
import { parseJson } from '../lib/json/parse-json.ts'
import { parseInstant } from './instants.ts'

export interface Erasure {
  readonly tenantId: string
  readonly id: string
  /** Unix milliseconds. */
  readonly erasedAtMs: number
  /** Creation instant and row of the token: absent if a person wrote the line. */
  readonly createdAtMs?: number
  readonly row?: number
}

interface Line {
  readonly erased_at?: unknown
  readonly tenant_id?: unknown
  readonly id?: unknown
  readonly created_at?: unknown
  readonly row?: unknown
}

const members = new Set(['erased_at', 'tenant_id', 'id', 'created_at', 'row'])

const printMs = (epochMs: number): string => new Date(epochMs).toISOString()

/** @returns one line of JSON, with its line end */
export function printErasure({ tenantId, id, erasedAtMs, createdAtMs, row }: Erasure): string {
  const created = createdAtMs === undefined ? {} : { created_at: printMs(createdAtMs) }
  const line: Line = {
    erased_at: printMs(erasedAtMs),
    tenant_id: tenantId,
    id,
    ...created,
    ...(row === undefined ? {} : { row }),
  }
  return `${JSON.stringify(line)}\n`
}

const hasMembers = (json: Json): json is JsonObject =>
  isJsonObject(json) && [...json.keys()].every(name => members.has(name))

/** @throws ApiError when it is not an instant */
const readMs = (text: unknown): number =>
  parseInstant(typeof text === 'string' ? text : '', 'erased_at').epochMs

/** @throws ApiError, also for two members of one name */
function readErasure(text: string): Erasure | undefined {
  const json = parseJson(text, '')
  if (!hasMembers(json)) return undefined
  const line: Line = Object.fromEntries(json)
  const { erased_at: erased, created_at: created, tenant_id: tenantId, id, row } = line
  if (typeof tenantId !== 'string' || typeof id !== 'string') return undefined
  if (row !== undefined && !Number.isSafeInteger(row)) return undefined
  return {
    tenantId,
    id,
    erasedAtMs: readMs(erased),
    ...(created === undefined ? {} : { createdAtMs: readMs(created) }),
    ...(row === undefined ? {} : { row: Number(row) }),
  }
}

/** @returns `undefined` for anything but a line of such a list */
export function parseErasure(text: string): Erasure | undefined {
  try {
    return readErasure(text)
  } catch {
    return undefined
  }
}

/** True if a token of that tenant and id is the one named by the line. */
export const isOfErasure = (
  { createdAtMs, erasedAtMs, row }: Erasure,
  token: { readonly createdAtMs: number; readonly row: number },
): boolean =>
  (createdAtMs === undefined
    ? token.createdAtMs <= erasedAtMs
    : token.createdAtMs === createdAtMs) &&
  (row === undefined || token.row === row)
