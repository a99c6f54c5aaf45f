/**
 * Sends a request, retries it if that is safe, and reads its answer.
 *
 * A retry is safe if nothing was done yet, or is done again: reads, deletions, and writes under an
 * idempotency key (RFC 9110 section 9.2.2, contract section 1).
 * @module
 */
import { contentOf, errorOf, notCoffer, traceOf } from './answers.ts'
import type { Answer, RawAnswer, Call, CallOptions, Notation, Traced, Wire } from './call.ts'
import { CofferError } from './error.ts'
import { answerBytesMax, retryAfterMsMax, waitMsFirst, waitMsMax } from './limits.ts'
import { assertCallOptions } from './options.ts'

/** A call with its body as text, fixed at the start for all attempts. */
interface Sent extends Call {
  readonly text: string | undefined
}

/** Kinds of values that JSON prints, as they are or by their `toJSON`. */
const printable: readonly string[] = ['Object', 'Array', 'Date', 'String', 'Number', 'Boolean']

/** Such as `Map` or `Uint8Array`; `Object` for instances of a caller's class. */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1)

/** Returns the kind of a value that JSON would empty, print as null or leave out. */
function lostKind(given: unknown, value: unknown, isItem: boolean): string | undefined {
  if (typeof given === 'bigint') return 'BigInt: write it as a text'
  if (typeof given === 'function' || typeof given === 'symbol') return typeof given
  if (given === undefined) return isItem ? 'undefined in an array' : undefined
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'NaN or an infinite number'
  if (typeof given !== 'object' || given === null) return undefined
  if (value === null) return 'invalid Date'
  const hasOwnText = typeof (given as { toJSON?: unknown }).toJSON === 'function'
  const kind = kindOf(given)
  const isBytes = ArrayBuffer.isView(given)
  return printable.includes(kind) || (hasOwnText && !isBytes) ? undefined : kind
}

/**
 * JSON has no text for some values, and would lose them in silence.
 * @throws TypeError
 */
function textOfBody(body: unknown): string | undefined {
  return JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
    const lost = lostKind(this[name], value, Array.isArray(this))
    if (lost === undefined) return value
    throw new TypeError(`body: expected what JSON can hold, got ${lost}`)
  })
}

const bodyOf = (json: Notation, body: unknown): string | undefined =>
  body === undefined ? undefined : json.stringify(body)

interface Thrown {
  readonly name?: unknown
  readonly code?: unknown
  readonly cause?: { readonly code?: unknown }
}

/** `ECONNREFUSED`, or `NotCapable` of a Deno without permission, if the platform tells. */
function causeName(thrown: unknown): string | undefined {
  const { name, code, cause } = thrown as Thrown
  const said = cause?.code ?? code ?? name
  return typeof said === 'string' && !/^(?:Type)?Error$/.test(said) ? said : undefined
}

/** Meanings of the usual names. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EACCES: 'the socket may not be used by this user',
}

function reasonOf(name: string): string {
  const meaning = meanings[name]
  return meaning === undefined ? name : `${name}, ${meaning}`
}

function lost(wire: Wire, thrown: unknown, timeout: AbortSignal): CofferError {
  const isTimeout = timeout.aborted
  const name = isTimeout ? undefined : causeName(thrown)
  const what = isTimeout ? 'no answer in time' : 'no answer'
  const why = name === undefined ? '' : `: ${reasonOf(name)}`
  return new CofferError(`${what} from ${wire.address}${why}`, {
    code: isTimeout ? 'timeout' : 'unreachable',
    // The code alone: the platform's error may hold the address, with an id or a filter.
    ...(name === undefined ? {} : { cause: { code: name } }),
  })
}

/** @throws TypeError, our own: that of Node.js repeats the value, and so a key */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new TypeError(`${name}: expected visible ASCII`)
  }
}

/** Headers carry ASCII alone. */
const printableReason = (reason: string): string =>
  reason.replaceAll(/[^ -~]|%/gu, encodeURIComponent)

async function headersOf(wire: Wire, call: Sent, options: CallOptions): Promise<Headers> {
  const headers = new Headers(wire.headers)
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
  headers.set('accept', 'application/json')
  headers.set('accept-encoding', 'identity')
  setHeader(headers, 'svc-api-key', await wire.key())
  const { idempotencyKey = call.idempotencyKey, traceId, reason } = options
  if (call.text !== undefined) {
    const isPatch = call.method === 'PATCH'
    headers.set('content-type', isPatch ? 'application/merge-patch+json' : 'application/json')
  }
  if (idempotencyKey !== undefined) setHeader(headers, 'svc-idempotency-key', idempotencyKey)
  if (traceId !== undefined) setHeader(headers, 'svc-trace-id', traceId)
  if (reason !== undefined) headers.set('svc-reason', printableReason(reason))
  return headers
}

/**
 * Bun inflates a whole answer before it gives a piece of it: `answerBytesMax` would come too late.
 * Others pass this over, and inflate piece by piece.
 */
const asItCame = { decompress: false } as RequestInit

/** @throws Error for more than any vault answers */
async function textOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > answerBytesMax) {
      await reader.cancel()
      throw new Error('the answer is too long')
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** @returns an error without a whole answer. @throws the reason of the caller's signal */
async function attempt(
  wire: Wire,
  call: Sent,
  options: CallOptions,
): Promise<RawAnswer | CofferError> {
  const { signal, timeoutMs = wire.timeoutMs } = options
  const headers = await headersOf(wire, call, options)
  const body = call.text === undefined ? {} : { body: call.text }
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await wire.fetch(wire.address + call.path, {
      method: call.method,
      headers,
      ...body,
      ...asItCame,
      // A key never follows a redirect.
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    return { status: response.status, headers: response.headers, text: await textOf(response) }
  } catch (thrown) {
    signal?.throwIfAborted()
    return lost(wire, thrown, timeout)
  }
}

/** Attempts once, and calls the hooks. */
async function observe(wire: Wire, call: Sent, options: CallOptions, number: number) {
  const [path = ''] = call.path.split('?')
  const facts = { method: call.method, path, attempt: number }
  wire.onRequest(facts)
  const start = wire.now()
  let answered: RawAnswer | undefined
  try {
    const outcome = await attempt(wire, call, options)
    if (!isLost(outcome)) answered = outcome
    return outcome
  } finally {
    wire.onResponse({
      ...facts,
      status: answered?.status ?? 0,
      traceId: answered && traceOf(answered.headers),
      durationMs: wire.now() - start,
    })
  }
}

/** Returns the wait before a retry, in milliseconds; `undefined` if none helps. */
function waitMsAfter(
  { random }: Wire,
  outcome: RawAnswer | CofferError,
  attempts: number,
): number | undefined {
  const jitteredMs = random() * Math.min(waitMsMax, waitMsFirst * 2 ** attempts)
  if (outcome instanceof CofferError) return jitteredMs
  const { status, headers } = outcome
  const asked = headers.get('retry-after')
  // A 409 that passes says when: the same key is under way.
  const mayPass = status === 408 || status === 429 || status >= 500
  if (!mayPass && !(status === 409 && asked !== null)) return undefined
  const askedMs = Math.max(0, Number(asked ?? 0) * 1_000)
  if (!(askedMs <= retryAfterMsMax)) return undefined
  return askedMs + jitteredMs
}

const isLost = (outcome: RawAnswer | CofferError): outcome is CofferError =>
  outcome instanceof CofferError

/** True if a failed attempt may have been done; a refusal was not. */
const mayBeDone = (outcome: RawAnswer | CofferError): boolean =>
  isLost(outcome) || outcome.status >= 500

async function sendWithRetries(wire: Wire, call: Sent, options: CallOptions) {
  const { retries = wire.retries, signal } = options
  let wasDone = false
  for (let attempts = 0; ; attempts += 1) {
    const outcome = await observe(wire, call, options, attempts + 1)
    const waitMs = attempts < retries ? waitMsAfter(wire, outcome, attempts) : undefined
    if (waitMs === undefined) return { outcome, wasDone }
    wasDone ||= mayBeDone(outcome)
    await wire.sleep(waitMs, signal)
    signal?.throwIfAborted()
  }
}

async function trace(wire: Wire, call: Call, options: CallOptions): Promise<Traced<unknown>> {
  assertCallOptions(options)
  const { json } = wire
  const text = json === undefined ? textOfBody(call.body) : bodyOf(json, call.body)
  const sent = { ...call, text }
  const { outcome, wasDone } = await sendWithRetries(wire, sent, options)
  if (isLost(outcome)) throw outcome
  const { status, headers } = outcome
  const traced = { status, traceId: traceOf(headers) }
  if (status >= 200 && status <= 299) {
    const content = contentOf(wire, outcome)
    if (!call.is(content)) throw notCoffer(wire, status)
    const isRead = call.read !== undefined && json === undefined
    return { value: isRead ? call.read(content) : content, ...traced }
  }
  const error = errorOf(wire, call, outcome)
  // An earlier attempt has deleted it, and its answer was lost.
  if (error.code === 'not_found' && call.method === 'DELETE' && wasDone) {
    return { value: undefined, ...traced }
  }
  throw error
}

/**
 * @returns the converted answer; `undefined` for one without a body
 * @throws CofferError unless it succeeds. @throws the reason of the caller's signal
 */
export function send(wire: Wire, call: Call, options: CallOptions = {}): Answer<unknown> {
  const traced = trace(wire, call, options)
  const result = traced.then(({ value }) => value)
  const withTrace = () => {
    // The caller wanted the trace instead of this result, whose failure nobody handles.
    result.catch(() => undefined)
    return traced
  }
  return Object.assign(result, { withTrace })
}
