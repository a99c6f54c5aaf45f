/**
 * Errors of the client's calls.
 * @module
 */

/** Error code for programs; the first four never come from a vault. */
export type ErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'not_coffer'
  | 'other_version'
  | 'invalid_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'too_many_requests'
  | 'storage_full'
  | 'unavailable'
  | 'internal'

/** Source: contract section 2. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  429: 'too_many_requests',
  503: 'unavailable',
  507: 'storage_full',
}

/** @internal */
export const codeOf = (status: number): ErrorCode => codes[status] ?? 'internal'

export interface ErrorFacts {
  /** Status of the answer; 0 without one. */
  readonly status?: number
  readonly code: ErrorCode
  /** For a 400: expectations by dotted path of the body or the query. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
  /** Id of the request in the vault's log. */
  readonly traceId?: string | undefined
  readonly cause?: unknown
}

/** Marks the errors of every copy of the client. */
const brand = Symbol.for('coffer.error')

/**
 * Error of a call. Holds nothing that was sent or stored. `instanceof` works across all copies of
 * the client in a program: `@coffer/client`, `coffer/client` and that in `coffer/testing`.
 * @example
 * if (error instanceof CofferError && error.code === 'not_found') return undefined
 */
export class CofferError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    const isOfThis = Function.prototype[Symbol.hasInstance].call(this, value)
    return isOfThis || (this === CofferError && Object(value)[brand] === true)
  }

  override readonly name = 'CofferError'
  /** Status of the answer; 0 without one. */
  readonly status: number
  /** Error code, for programs. */
  readonly code: ErrorCode
  /** For a 400: expectations by dotted path of the body or the query. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  /** Id of the request in the vault's log; absent if no vault answered. */
  readonly traceId: string | undefined

  constructor(message: string, { status = 0, code, errors = {}, traceId, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.errors = errors
    this.traceId = traceId
    Object.defineProperty(this, brand, { value: true })
  }
}
