/**
 * Errors between a vault and its database: their translation, and retries while they may pass.
 *
 * The database's own messages are never passed on: their details repeat digests. Source:
 * PostgreSQL, "Error Codes" (SQLSTATE).
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { ApiError } from '../../lib/errors.ts'
import { databaseRetryMsMax, databaseRetryMsMin } from '../core/limits.ts'

export const databaseErrorKinds = [
  /** No server answers, or only a read-only one: a failover, or no database at all. */
  'lost',
  /** The identity of the server is not proven. */
  'certificate',
  /** Lost a race to others: retry. */
  'again',
  'full',
  /** The role lacks a privilege, or the password is wrong. */
  'rights',
  /** The database, schema or table does not exist. */
  'missing',
  'other',
] as const

export type DatabaseErrorKind = (typeof databaseErrorKinds)[number]

export class DatabaseError extends Error {
  readonly kind: DatabaseErrorKind
  /** SQLSTATE, if the database sent one. */
  readonly state: string | undefined

  constructor(kind: DatabaseErrorKind, state?: string) {
    super(`the database: ${kind}${state === undefined ? '' : ` (${state})`}`)
    this.name = 'DatabaseError'
    this.kind = kind
    this.state = state
  }
}

const kinds: readonly (readonly [RegExp, DatabaseErrorKind])[] = [
  [/^(?:40001|40P01|23505|55P03)$/, 'again'],
  // 57014: the statement took too long; 53300: too many connections; 25006: a standby.
  [/^(?:08...|57P0.|57014|53300|53200|25006|25P0.|55000|58...)$/, 'lost'],
  [/^(?:53100|54...)$/, 'full'],
  [/^(?:42501|28...)$/, 'rights'],
  [/^(?:3D000|3F000|42P01|42703|42883)$/, 'missing'],
]

function stateOf(error: unknown): string | undefined {
  const state: unknown = error instanceof Error && 'errno' in error ? error.errno : undefined
  return typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) ? state : undefined
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Source: OpenSSL, "X509_STORE_CTX_get_error"; Node.js, `ERR_TLS_CERT_ALTNAME_INVALID`. */
const isOfCertificate = (error: unknown): boolean =>
  /CERT|SIGNATURE|INVALID_CA|HOSTNAME/.test(codeOf(error))

/** Error of a client whose connection ended, or never began. */
const isOfConnection = (error: unknown): boolean =>
  /CONNECTION|TIMEOUT|ECONN|ENOENT|ENOTFOUND|EPIPE|LIFETIME|TLS|SSL/i.test(codeOf(error))

export function databaseErrorOf(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const state = stateOf(error)
  if (state === undefined) {
    if (isOfCertificate(error)) return new DatabaseError('certificate')
    return new DatabaseError(isOfConnection(error) ? 'lost' : 'other')
  }
  const kind = kinds.find(([pattern]) => pattern.test(state))?.[1] ?? 'other'
  return new DatabaseError(kind, state)
}

/** True if another try may succeed: no server answered, or a race was lost. */
export const mayPass = ({ kind }: DatabaseError): boolean => kind === 'lost' || kind === 'again'

/** Converts an error for the caller of the store. */
export function faultOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const cause = databaseErrorOf(error)
  if (cause.kind === 'full') {
    const text = 'The storage is full. Masked reads go on.'
    return new ApiError('storage_full', text, undefined, cause)
  }
  if (cause.kind === 'missing') {
    return new ApiError('unavailable', 'tables of the vault are missing', undefined, cause, 1)
  }
  if (cause.kind === 'other') {
    return new ApiError('internal', 'the store failed', undefined, cause)
  }
  return new ApiError('unavailable', 'the database cannot be reached', undefined, cause, 1)
}

/** Bounds of retrying. */
export interface RetryBounds {
  readonly elapsedMs: () => number
  readonly msMax: number
  readonly onRetry?: () => void
}

/**
 * Retries work within a bound while no server answers, or others win its races.
 * @param work receives the time left
 * @throws ApiError
 */
export async function retry<T>(
  { elapsedMs, msMax, onRetry }: RetryBounds,
  work: (msLeft: number) => Promise<T>,
): Promise<T> {
  const until = elapsedMs() + msMax
  for (let waitMs = databaseRetryMsMin; ; waitMs = Math.min(2 * waitMs, databaseRetryMsMax)) {
    try {
      return await work(Math.max(1, until - elapsedMs()))
    } catch (error) {
      if (error instanceof ApiError) throw error
      const isTooLate = elapsedMs() + waitMs > until
      if (isTooLate || !mayPass(databaseErrorOf(error))) throw faultOf(error)
    }
    onRetry?.()
    await setTimeout(waitMs)
  }
}
