/**
 * The head of a request: its host, headers, address and query.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import { ownText, keptFor, TextMap, type ReadonlyTextMap } from '../lib/maps.ts'
import { ApiError } from '../lib/errors.ts'
import type { Settings } from '../settings/settings.ts'
import { urlBytesMax } from '../limits/limits.ts'
import { assertParameterNames } from './strict-body.ts'

/*
 * Checks of the header of every request.
 */

/** A name or an address, and a port: RFC 9110 section 7.2, RFC 3986 section 3.2.2. */
const nameOrAddress =
  /^(?:(?:[\w\-.~!$&'()*+;=]|%[\da-f]{2})*|\[(?:[\da-f:.]+|v[\da-f]+\.[\w\-.~!$&'()*+;=:]+)\])$/i
const port = /:\d*$/

/** Last host that passed: nearly all requests name the same, which need not be checked again. */
let known: string | null = null

/**
 * RFC 9112 section 3.2: more than one `Host`, or one that names no host, is 400, since two who read
 * it may take it for two hosts. The server joins equal header lines by a comma, which no name of a
 * host has here (`decision:`). decision: an empty one is taken, as one where a target has no
 * authority must be (RFC 9110 section 7.2): nothing here depends on which host is asked.
 * @throws ApiError `invalid_request`
 */
function assertOneHost({ headers }: Request): void {
  const host = headers.get('host')
  if (host === known || host === null) return
  if (!nameOrAddress.test(host.replace(port, ''))) {
    throw new ApiError('invalid_request', 'expected one Host header')
  }
  known = ownText(host)
}

/**
 * The server takes the value for that of a chunked body where the list only ends in it, which a
 * proxy in front may read in another way, and so see another request behind this one.
 * RFC 9112 section 6.1: one coding is known here, named once.
 * @throws ApiError `invalid_request`
 */
function assertOneFrame({ headers }: Request): void {
  const coding = headers.get('transfer-encoding')
  if (coding === null || coding.toLowerCase() === 'chunked') return
  throw new ApiError('invalid_request', 'expected Transfer-Encoding: chunked, or none')
}

/**
 * No body is decoded, so none may be coded. A list of nothing but `identity` codes nothing, and
 * nor does an empty one (RFC 9110 sections 5.6.1 and 8.4.1).
 * @throws ApiError `unsupported_content_coding`
 */
export function assertNoContentCoding({ headers }: Request): void {
  const listed = headers.get('content-encoding')
  if (listed === null) return
  const codings = listed.split(',').map(coding => coding.trim().toLowerCase())
  if (codings.every(coding => coding === '' || coding === 'identity')) return
  throw new ApiError('unsupported_content_coding', 'expected no content coding but identity')
}

/*
 * By which names the headers of this interface are read: its own, and those of clients that name
 * them otherwise. Source: contract section 1.
 */

/** In lower case, its own name first. */
interface HeaderNames {
  readonly key: readonly string[]
  readonly trace: readonly string[]
  readonly idempotency: readonly string[]
  readonly reason: readonly string[]
}

export const headerNamesOf = keptFor(({ headerPrefix, keyHeaders }: Settings): HeaderNames => {
  const prefixes = ['svc', ...headerPrefix]
  const under = (name: string) => prefixes.map(prefix => `${prefix}-${name}`)
  return {
    key: [...new Set([...under('api-key'), ...keyHeaders])],
    trace: under('trace-id'),
    idempotency: under('idempotency-key'),
    reason: under('reason'),
  }
})

/** The characters of trace ids and idempotency keys. */
export const visibleAscii = /^[\x21-\x7e]+$/

/**
 * Returns the value on which all headers of these names agree; none of two is preferred.
 * @returns `undefined` where none is sent, `null` where two differ
 */
export function agreedHeader(
  { headers }: Request,
  names: readonly string[],
): string | null | undefined {
  let agreed: string | undefined
  for (const name of names) {
    const value = headers.get(name)
    if (value === null) continue
    if (agreed !== undefined && agreed !== value) return null
    agreed = value
  }
  return agreed
}

/*
 * The media types that a client accepts, as far as answers depend on it. Source: RFC 9110 section
 * 12.5.1; contract section 2.
 */

/** Media ranges in lower case. decision: weights are passed over, and `q=0` with them. */
const rangesOf = (accept: string): readonly string[] =>
  accept.split(',').map(range => (range.split(';', 1)[0] ?? '').trim().toLowerCase())

/** True if `Accept` names `application/json`, and neither problem documents nor everything. */
export function acceptsJsonAlone({ headers }: Request): boolean {
  const accept = headers.get('accept')
  if (accept === null) return false
  const ranges = rangesOf(accept)
  const takesProblems = ranges.includes('application/problem+json') || ranges.includes('*/*')
  return ranges.includes('application/json') && !takesProblems
}

/** Reads how a request asks for server-sent events; `undefined` if it asks for none. */
export function streamedBy({ headers }: Request): { lastEventId: string | undefined } | undefined {
  if (!rangesOf(headers.get('accept') ?? '').includes('text/event-stream')) return undefined
  return { lastEventId: headers.get('last-event-id') ?? undefined }
}

/*
 * Query strings, parsed from the raw URL: decoded once, `+` is a space, repeated names are kept.
 *
 * Never the framework's parser: it crashes on repeated names (elysia#929), reads `%2B` as a space
 * (elysia#943) and builds objects out of values (elysia#1848). Source: contract section 14.
 */

/** Names to their values, in the order in which they came. */
export type QueryParameters = ReadonlyTextMap<readonly string[]>

export const noQuery: QueryParameters = new Map()

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ApiError('invalid_request', 'query: expected valid percent-encoding of UTF-8')
  }
}

/** As it was sent; empty where there is none. */
export function rawQuery(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** @throws ApiError `invalid_request` for a bad percent code */
function parseQuery(url: string): QueryParameters {
  const start = url.indexOf('?')
  if (start < 0) return noQuery
  const parameters = new TextMap<string[]>()
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return parameters
}

/**
 * The query of a request for an operation; empty where that has none.
 * @throws ApiError `invalid_request`, also for a name that is nearly one of its schema
 */
export function readQuery(
  { query: schema }: { readonly query?: TSchema },
  { url }: Request,
): QueryParameters {
  const query = parseQuery(schema === undefined ? '' : url)
  if (schema !== undefined && query.size > 0) assertParameterNames(schema, query.keys())
  return query
}

/*
 * Paths of requests: taken from the address as it came, decoded exactly once.
 *
 * A path that does not decode (a bad percent code, bytes that are not UTF-8) leads nowhere: it is
 * an unknown address. Source: RFC 3986 section 2.4; hardening H28, H76, H87.
 */

/** Names of a pattern to what stands in their place, decoded. */
export type Params = Readonly<Record<string, string>>

/**
 * The path of an address, still encoded, without its query. Without a usable `Host` the server
 * gives the bare path as the address (RFC 9112 section 3.2: HTTP/1.0 sends none).
 */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

export const withoutTrailingSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

/** The names of the parameters of a pattern by their place, counted from its end. */
const placesOf = (pattern: string): readonly (readonly [fromEnd: number, name: string])[] =>
  pattern
    .split('/')
    .toReversed()
    .flatMap((segment, fromEnd) => (segment.startsWith(':') ? [[fromEnd, segment.slice(1)]] : []))

const places = new Map<string, ReturnType<typeof placesOf>>()

/** The parameters as the server has read them, if it has routed the request. */
const sentParams = (request: Request): Params | undefined =>
  (request as Partial<Bun.BunRequest>).params

/**
 * False if the server dropped or moved a segment (`a\..\b`): then another address was asked for.
 * A path without parameters was matched as it was sent.
 */
function isAsSent(params: Params, sent: Params | undefined): boolean {
  for (const name in sent) if (params[name] !== sent[name]) return false
  return true
}

/** One segment of a path, counted from its end, from 0; empty before its first. */
function segmentFromEnd(path: string, fromEnd: number): string {
  let end = path.length
  for (let left = fromEnd; left > 0 && end > 0; left -= 1) end = path.lastIndexOf('/', end - 1)
  return end <= 0 ? '' : path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}

export const nothingHere = () => new ApiError('not_found', 'There is nothing at this address.')

/**
 * The parameters of a request whose path matches a pattern such as `/tokens/:id`, with or without a
 * trailing slash. They are counted from the end, since a host may have put a prefix before both.
 * @throws ApiError `not_found` where one is empty or does not decode
 */
export function readParams(pattern: string, request: Request): Params {
  let known = places.get(pattern)
  if (known === undefined) places.set(pattern, (known = placesOf(pattern)))
  const params: Record<string, string> = {}
  if (known.length > 0) {
    const path = withoutTrailingSlash(pathOf(request.url))
    for (const [fromEnd, name] of known) {
      const decoded = decodeSegment(segmentFromEnd(path, fromEnd))
      if (decoded === undefined || decoded === '') throw nothingHere()
      params[name] = decoded
    }
  }
  if (!isAsSent(params, sentParams(request))) throw nothingHere()
  return params
}

/** A server that routes before the framework marks the requests that its router has matched. */
interface Routing {
  /** True if a request came in by a server of that kind. */
  readonly hasSent: ((request: Request) => boolean) | undefined
}

/**
 * Checks the address of any request. A server hands on a request that its router did not match with
 * `..` taken out of its path, so that it seems to ask for another address.
 * @throws ApiError `uri_too_long`, `invalid_request`, `not_found`
 */
export function assertAddress(request: Request, { hasSent }: Routing): void {
  if (request.url.length > urlBytesMax) {
    throw new ApiError('uri_too_long', `expected an address of at most ${urlBytesMax} bytes`)
  }
  assertOneHost(request)
  assertOneFrame(request)
  if (sentParams(request) === undefined && hasSent?.(request) === true) throw nothingHere()
}
