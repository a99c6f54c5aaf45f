/**
 * One request: sent, sent again where that is safe, and its answer read.
 *
 * What is sent again has done nothing yet, or does nothing more: reads, deletions, and writes under
 * an idempotency key (RFC 9110 section 9.2.2, contract section 1).
 * @module
 */
import { codeOf, CofferError } from './error.ts'
import { answerBytesMax, retryAfterMsMax, waitMsFirst, waitMsMax } from './limits.ts'

/** `fetch`, as far as it is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Wire {
  /** Without a slash at its end. */
  readonly address: string
  readonly key: () => string | Promise<string>
  readonly fetch: Fetch
  readonly timeoutMs: number
  readonly retries: number
  /** At least 0 and less than 1. */
  readonly random: () => number
  /** Ends early where the signal says so. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Of one call. */
export interface CallOptions {
  /** Ends the call; it then fails with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Of each attempt, in milliseconds. */
  readonly timeoutMs?: number
  /** How often it is sent again at most. */
  readonly retries?: number
  /** Visible ASCII; made anew for each call of a write where it is absent. */
  readonly idempotencyKey?: string
  /** Visible ASCII; stands in the log of the vault. */
  readonly traceId?: string
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Under which a write is sent again without being done twice. */
  readonly idempotencyKey?: string
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** What the vault says where it has no such operation. */
const nothingHere = 'There is nothing at this address.'
const jsonType = /^application\/(?:problem\+)?json\b/

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const notCoffer = ({ address }: Wire, status: number): CofferError =>
  new CofferError(`what answers at ${address} is no Coffer: is the address right?`, {
    status,
    code: 'not_coffer',
  })

interface Problem {
  readonly detail?: unknown
  readonly errors?: Readonly<Record<string, readonly string[]>> | null
}

function errorOf(wire: Wire, call: Call, { status, headers, text }: Answered): CofferError {
  const problem = parse(text) as Problem | undefined
  const { detail, errors } = problem ?? {}
  if (typeof detail !== 'string') return notCoffer(wire, status)
  const traceId = headers.get('svc-trace-id') ?? undefined
  const facts = { status, errors: { ...errors }, ...(traceId === undefined ? {} : { traceId }) }
  if (detail !== nothingHere) {
    return new CofferError(detail, { ...facts, code: codeOf(status) })
  }
  const [path] = call.path.split('?')
  const asked = `${call.method} ${path?.split('/').slice(0, 2).join('/')}`
  const message =
    `the Coffer at ${wire.address} does not know ${asked}: ` +
    'it is of another version, or its base path is missing in the address'
  return new CofferError(message, { ...facts, code: 'other_version' })
}

interface Thrown {
  readonly name?: unknown
  readonly code?: unknown
  readonly cause?: { readonly code?: unknown }
}

/** `ECONNREFUSED`, or `NotCapable` of a Deno that may not ask, where the platform says so. */
function causeName(thrown: unknown): string | undefined {
  const { name, code, cause } = thrown as Thrown
  const said = cause?.code ?? code ?? name
  return typeof said === 'string' && !/^(?:Type)?Error$/.test(said) ? said : undefined
}

/** Of the usual names what they mean, as nobody has to know them. */
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
    // Alone: the platform's own error may hold the address, and that an id or a filter.
    ...(name === undefined ? {} : { cause: { code: name } }),
  })
}

/** @throws TypeError, which is ours: that of Node.js repeats the value, and so a key */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new TypeError(`${name}: expected visible ASCII`)
  }
}

async function headersOf(wire: Wire, call: Call, options: CallOptions): Promise<Headers> {
  const headers = new Headers({ accept: 'application/json' })
  setHeader(headers, 'svc-api-key', await wire.key())
  const { idempotencyKey = call.idempotencyKey, traceId } = options
  if (call.body !== undefined) {
    const isPatch = call.method === 'PATCH'
    headers.set('content-type', isPatch ? 'application/merge-patch+json' : 'application/json')
  }
  if (idempotencyKey !== undefined) setHeader(headers, 'svc-idempotency-key', idempotencyKey)
  if (traceId !== undefined) setHeader(headers, 'svc-trace-id', traceId)
  return headers
}

/** @throws Error where there is more than any vault answers */
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

/** @returns an error where no whole answer came. @throws the reason of the caller's signal */
async function attempt(
  wire: Wire,
  call: Call,
  options: CallOptions,
): Promise<Answered | CofferError> {
  const { signal, timeoutMs = wire.timeoutMs } = options
  const headers = await headersOf(wire, call, options)
  const body = call.body === undefined ? {} : { body: JSON.stringify(call.body) }
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await wire.fetch(wire.address + call.path, {
      method: call.method,
      headers,
      ...body,
      // A key is never carried to where a redirection leads.
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    return { status: response.status, headers: response.headers, text: await textOf(response) }
  } catch (thrown) {
    signal?.throwIfAborted()
    return lost(wire, thrown, timeout)
  }
}

/** How long to wait before the next attempt, in milliseconds; `undefined` where none helps. */
function waitMsAfter(
  { random }: Wire,
  outcome: Answered | CofferError,
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

const isLost = (outcome: Answered | CofferError): outcome is CofferError =>
  outcome instanceof CofferError

/** Of what is no success; a refusal has done nothing. */
const mayBeDone = (outcome: Answered | CofferError): boolean =>
  isLost(outcome) || outcome.status >= 500

async function persist(wire: Wire, call: Call, options: CallOptions) {
  const { retries = wire.retries, signal } = options
  let wasDone = false
  for (let attempts = 0; ; attempts += 1) {
    const outcome = await attempt(wire, call, options)
    const waitMs = attempts < retries ? waitMsAfter(wire, outcome, attempts) : undefined
    if (waitMs === undefined) return { outcome, wasDone }
    wasDone ||= mayBeDone(outcome)
    await wire.sleep(waitMs, signal)
    signal?.throwIfAborted()
  }
}

/** What a success holds. @throws CofferError for what no vault answers */
function contentOf(wire: Wire, { status, headers, text }: Answered): unknown {
  if (text === '') {
    // Whatever answers so, as a proxy may, has stored and deleted nothing.
    if (status !== 204 && !headers.has('svc-trace-id')) throw notCoffer(wire, status)
    return undefined
  }
  const isJson = jsonType.test(headers.get('content-type') ?? '')
  const parsed = isJson ? parse(text) : undefined
  if (parsed === undefined) throw notCoffer(wire, status)
  return parsed
}

/**
 * @returns the answer as it was parsed; `undefined` for one without a body
 * @throws CofferError when it is no success. @throws the reason of the caller's signal
 */
export async function send(wire: Wire, call: Call, options: CallOptions = {}): Promise<unknown> {
  const { outcome, wasDone } = await persist(wire, call, options)
  if (isLost(outcome)) throw outcome
  const { status } = outcome
  if (status >= 200 && status <= 299) return contentOf(wire, outcome)
  const error = errorOf(wire, call, outcome)
  // An attempt before, whose answer was lost, has deleted it.
  if (error.code === 'not_found' && call.method === 'DELETE' && wasDone) return undefined
  throw error
}
