/**
 * Errors as a closed union. Knows nothing of HTTP (`http/problem.ts` maps kinds).
 *
 * Invariant: a message never contains a caller's value or a stored value. It gives the path, what
 * was expected and, if that helps, a length. Source: contract section 2.
 * @module
 */

export type ErrorKind =
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
  | 'unsupported_content_coding'
  | 'too_many_requests'
  | 'storage_full'
  | 'storage_corrupt'
  | 'unavailable'
  | 'overloaded'
  | 'internal'

/** Dotted snake_case path (`data.number`, `rules[0].priority`) to what was expected there. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>

export class ApiError extends Error {
  readonly kind: ErrorKind
  readonly fields: FieldErrors | undefined
  /** Time after which a retry makes sense, if that is known. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    kind: ErrorKind,
    message: string,
    fields?: FieldErrors,
    cause?: unknown,
    retryAfterSeconds?: number,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ApiError'
    this.kind = kind
    this.fields = fields
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A 400 about one place of the request. `path` is ours or an index, never the caller's text. */
export const invalid = (path: string, expected: string): ApiError => {
  const message = path === '' ? expected : `${path}: ${expected}`
  return new ApiError('invalid_request', message, { [path]: [expected] })
}

/** Returns the expectation, without its place. */
export const expectedBy = ({ message, fields = {} }: ApiError): string =>
  Object.values(fields)[0]?.[0] ?? message

/** @param retryAfterSeconds whole, from 1 on */
export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError('too_many_requests', message, undefined, undefined, retryAfterSeconds)

/** One body for missing, unknown, expired, deleted and just changed keys (contract section 2). */
export const unauthenticated = (): ApiError =>
  new ApiError(
    'unauthenticated',
    'expected a live API key in the header SVC-API-KEY, and not in Authorization',
  )

/** States a condition that only a bug of ours can break; a failure answers as `internal`. */
export function invariant(condition: unknown, mustHold: string): asserts condition {
  if (!condition) throw new ApiError('internal', `invariant: ${mustHold}`)
}

/** Like `invariant`, for a value that cannot be missing. */
export function present<T>(value: T | undefined, mustHold: string): T {
  invariant(value !== undefined, mustHold)
  return value
}

const framesMax = 6
const framePattern = /^\s*at /
const plainName = /^[A-Za-z]{1,40}$/

/** Returns the stack lines below name and message; none if the message was changed since. */
function framesOf({ message, stack = '' }: Error): readonly string[] {
  const unnamed = stack.slice(stack.search(/[:\n]/))
  const head = message === '' ? '' : `: ${message}`
  if (!unnamed.startsWith(`${head}\n`)) return []
  const lines = unnamed.slice(head.length).split('\n')
  return lines.filter(line => framePattern.test(line)).slice(0, framesMax)
}

/**
 * Returns name and places of anything thrown, on one line. The message may hold a value, even over
 * several lines, so none of it is included (hardening T16).
 */
export function placesOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'an unknown error'
  const name = plainName.test(thrown.name) ? thrown.name : 'an unknown error'
  return [name, ...framesOf(thrown).map(line => line.trim())].join(' | ')
}

/*
 * Collects the faults of a value, so that a caller learns of all of them at once.
 *
 * Invariant: paths and messages are ours; nothing of the value enters them.
 * Source: contract section 2.
 */

/** Dotted path to what was expected there. */
export type Faults = Map<string, string[]>

export const addFault = (faults: Faults, path: string, expected: string): void => {
  const messages = faults.get(path)
  if (messages === undefined) faults.set(path, [expected])
  else messages.push(expected)
}

/** @throws ApiError `invalid_request` with every fault, if there is one */
export const throwFaults = (faults: Faults): void => {
  if (faults.size === 0) return
  const message = Array.from(faults, ([path, expected]) => `${path}: ${expected.join(', ')}`)
  throw new ApiError('invalid_request', message.join('; '), Object.fromEntries(faults))
}

/* Errors of contradictory stored bytes, for every engine. */

/**
 * States a condition on stored bytes that holds unless something outside of us changed them.
 * @param mustHold  a fixed text; never a stored value
 * @throws ApiError `storage_corrupt`
 */
export function assertStored(condition: unknown, mustHold: string): asserts condition {
  if (!condition) throw new ApiError('storage_corrupt', `expected of the store: ${mustHold}`)
}

/**
 * Returns the message for data that another version of coffer wrote. Formats before 0.1.0 were
 * never released: nothing reads them (docs/stability.md).
 * @param what such as `the backup at FILE`
 */
export function otherFormat(what: string, found: number, known: number): string {
  const told = `${what} is of format ${found}, and this coffer reads format ${known}`
  if (found > known) return `${told}: use the newer coffer that wrote it`
  const advice = 'export its tokens with the coffer that wrote it, and import them into a new vault'
  return `${told}; older ones were never released: ${advice}`
}

/** Returns `undefined` if the stored bytes are not as they must be. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') return undefined
    throw error
  }
}

/** The same, of bytes that are being read. */
export async function attemptLater<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    return attempt(() => {
      throw error
    })
  }
}
