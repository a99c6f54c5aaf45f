/**
 * What one call of the client is: asked for, sent and answered.
 * @module
 */

/** `fetch`, as far as the client uses it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** How bodies are printed and answers are read, as `JSON` does it. */
export interface Notation {
  readonly parse: (text: string) => unknown
  readonly stringify: (value: unknown) => string
}

/** What a hook is told of a request, before each attempt; nothing of its body or its key. */
export interface RequestFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As `/tokens/order-17`; without the base path, and without a filter. */
  readonly path: string
  /** Counts from 1. */
  readonly attempt: number
}

/** What a hook is told after each attempt; nothing of what was answered. */
export interface ResponseFacts extends RequestFacts {
  /** Of the answer; 0 where none came. */
  readonly status: number
  /** Under which the log of the vault has the request; absent where no vault answered. */
  readonly traceId?: string
  /** From the first byte sent to the last one read, in milliseconds. */
  readonly durationMs: number
}

/** Names to texts. */
export type HeaderTexts = Readonly<Record<string, string>>

/**
 * Options of one call, which go before those of the client.
 *
 * @throws TypeError  (the call) for an option that is unknown, or a value that can be none
 * @example
 * await vault.tokens.get(id, { timeoutMs: 2_000, signal: AbortSignal.timeout(5_000) })
 */
export interface CallOptions {
  /** Ends the call, and all attempts of it; it then fails with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Of each attempt, in milliseconds. */
  readonly timeoutMs?: number
  /** How often it is sent again at most. */
  readonly retries?: number
  /** Visible ASCII, at most 200 characters; made anew for each write where it is absent. */
  readonly idempotencyKey?: string
  /** Visible ASCII; stands in the log of the vault. */
  readonly traceId?: string
  /** Beside those of the client, and in place of one of the same name. */
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
  /** Milliseconds from some beginning, that never go back. */
  readonly now: () => number
  /** Ends early where the signal says so. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** In place of `JSON`: what it reads stays as it is. */
  readonly json: Notation | undefined
}

/** @internal */
export interface Call {
  readonly method: RequestFacts['method']
  readonly path: string
  readonly body?: unknown
  /** Under which a write is sent again without being done twice. */
  readonly idempotencyKey?: string
  /** What is made of the content of a success. */
  readonly read?: (content: unknown) => unknown
  /** Whether the content of a success is what a vault says. */
  readonly is: (content: unknown) => boolean
}

/** @internal What came, in whole. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The result of a call, and under which trace id the vault did it. */
export interface Traced<T> {
  readonly value: T
  /** Of the answer, from 200 to 299. */
  readonly status: number
  readonly traceId: string | undefined
}

/**
 * A promise of the result, which can tell where the log of the vault has it as well.
 *
 * @example
 * const { value, traceId } = await vault.tokens.get(id).withTrace()
 */
export interface Answer<T> extends Promise<T> {
  /** In place of the result alone. @throws what the call throws */
  readonly withTrace: () => Promise<Traced<T>>
}
