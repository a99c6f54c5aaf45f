/**
 * Lines of a list of erasures: which token was deleted, and when. No value is in one.
 *
 * A token is known by its tenant, its id and the instant at which it was made: one that was made
 * anew under the same id is another one.
 * @module
 */
import { parseInstant } from './instants.ts'

export interface Erasure {
  readonly tenantId: string
  readonly id: string
  /** Unix milliseconds. */
  readonly erasedAtMs: number
  /** Of the token; absent where a person wrote the line. */
  readonly createdAtMs?: number
}

/** Members of a line; the last one may be missing. */
const members = ['erased_at', 'tenant_id', 'id', 'created_at'] as const

type Line = Partial<Record<(typeof members)[number], string>>

const printMs = (epochMs: number): string => new Date(epochMs).toISOString()

/** @returns one line of JSON, with its end */
export function printErasure({ tenantId, id, erasedAtMs, createdAtMs }: Erasure): string {
  const line: Line = {
    erased_at: printMs(erasedAtMs),
    tenant_id: tenantId,
    id,
    ...(createdAtMs === undefined ? {} : { created_at: printMs(createdAtMs) }),
  }
  return `${JSON.stringify(line)}\n`
}

const isLine = (json: unknown): json is Line =>
  typeof json === 'object' &&
  json !== null &&
  Object.entries(json).every(
    ([name, value]) => typeof value === 'string' && members.some(member => member === name),
  )

const readMs = (text: string): number => parseInstant(text, 'erased_at').epochMs

/** @returns `undefined` for what is no line of such a list */
export function parseErasure(text: string): Erasure | undefined {
  try {
    const line: unknown = JSON.parse(text)
    if (!isLine(line)) return undefined
    const { erased_at: erased, created_at: created, tenant_id: tenantId, id } = line
    if (erased === undefined || tenantId === undefined || id === undefined) return undefined
    const made = created === undefined ? {} : { createdAtMs: readMs(created) }
    return { tenantId, id, erasedAtMs: readMs(erased), ...made }
  } catch {
    return undefined
  }
}

/** Whether a token of that tenant and id is the one that the line is about. */
export const isOfErasure = (
  { createdAtMs, erasedAtMs }: Erasure,
  token: { readonly createdAtMs: number },
): boolean =>
  createdAtMs === undefined ? token.createdAtMs <= erasedAtMs : token.createdAtMs === createdAtMs
