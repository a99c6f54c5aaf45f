/**
 * Shapes of one call: its options, request and answer.
 * @module
 */

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Prints bodies and reads answers, as `JSON` does. */
export interface Notation {
  readonly parse: (text: string) => unknown
  readonly stringify: (value: unknown) => string
}

/** Facts of a request, before each attempt; nothing of its body or its key. */
export interface RequestFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As `/tokens/order-17`; without base path and filter. */
  readonly path: string
  /** Counts from 1. */
  readonly attempt: number
}

/** Facts after each attempt; nothing of the answer's body. */
export interface ResponseFacts extends RequestFacts {
  /** Status of the answer; 0 without one. */
  readonly status: number
  /** Id of the request in the vault's log; absent if no vault answered. */
  readonly traceId: string | undefined
  /** From the first byte sent to the last one read, in milliseconds. */
  readonly durationMs: number
}

/** Texts by name. */
export type HeaderTexts = Readonly<Record<string, string>>

/**
 * Options of one call, which override those of the client.
 *
 * @throws TypeError  (the call) for an unknown option or an invalid value
 * @example
 * await vault.tokens.get(id, { timeoutMs: 2_000, signal: AbortSignal.timeout(5_000) })
 */
export interface CallOptions {
  /** Ends the call and all its attempts; it then fails with the signal's reason. */
  readonly signal?: AbortSignal
  /** Bound of each attempt, in milliseconds. */
  readonly timeoutMs?: number
  /** Most retries. */
  readonly retries?: number
  /** Visible ASCII, at most 200 characters; by default a new one for each write. */
  readonly idempotencyKey?: string
  /** Visible ASCII; stands in the log of the vault. */
  readonly traceId?: string
  /**
   * Why it is asked, such as the number of a support case: for the audit log of the vault alone. At
   * most 200 characters, without card numbers and keys.
   */
  readonly reason?: string
  /** Added to those of the client; replace those of the same name. */
  readonly headers?: HeaderTexts
}

/** @internal */
export interface Wire {
  /** Without a slash at its end. */
  readonly address: string
  readonly key: () => string | Promise<string>
  readonly fetch: Fetch
  readonly timeoutMs: number
  readonly retries: number
  readonly headers: HeaderTexts
  readonly onRequest: (facts: RequestFacts) => void
  readonly onResponse: (facts: ResponseFacts) => void
  /** At least 0 and less than 1. */
  readonly random: () => number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Ends early if the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Replaces `JSON`; values that it reads stay as they are. */
  readonly json: Notation | undefined
}

/** @internal */
export interface Call {
  readonly method: RequestFacts['method']
  readonly path: string
  readonly body?: unknown
  /** A write is sent again under it without being done twice. */
  readonly idempotencyKey?: string
  /** Converts the content of a success. */
  readonly read?: (content: unknown) => unknown
  /** Tells if the content of a success is a vault's. */
  readonly is: (content: unknown) => boolean
}

/** @internal A whole answer. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The result of a call, with its trace id. */
export interface Traced<T> {
  readonly value: T
  /** Status of the answer, from 200 to 299. */
  readonly status: number
  readonly traceId: string | undefined
}

/**
 * A promise of the result that can also give its trace id.
 *
 * @example
 * const { value, traceId } = await vault.tokens.get(id).withTrace()
 */
export interface Answer<T> extends Promise<T> {
  /** Replaces the result alone. @throws as the call */
  readonly withTrace: () => Promise<Traced<T>>
}
