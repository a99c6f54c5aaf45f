/**
 * Paths of requests: taken from the address as it came, decoded exactly once.
 *
 * A path that does not decode (a bad percent code, bytes that are not UTF-8) leads nowhere: it is
 * an unknown address. Source: RFC 3986 section 2.4; hardening H28, H76, H87.
 * @module
 */
import { ApiError } from '../errors.ts'
import { urlBytesMax } from '../limits.ts'
import { assertOneHost } from './request.ts'

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

/** What the server, if it has routed the request, has made of the parameters. */
const sentParams = (request: Request): Params | undefined =>
  (request as Partial<Bun.BunRequest>).params

/**
 * What the server dropped or moved on the way (`a\..\b`) is not what was asked for. A path without
 * parameters it has matched as it was sent.
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

/** Whether a server routes before the framework, which marks what its own router has matched. */
interface Routing {
  /** Whether a request came in by a server of that kind. */
  readonly hasSent: (request: Request) => boolean
}

/**
 * What must hold of the address of any request. A server hands on what its router did not match
 * with `..` taken out of the path, so that it seems to ask for what it did not.
 * @throws ApiError `uri_too_long`, `invalid_request`, `not_found`
 */
export function assertAddress(request: Request, { hasSent }: Routing): void {
  if (request.url.length > urlBytesMax) {
    throw new ApiError('uri_too_long', `expected an address of at most ${urlBytesMax} bytes`)
  }
  assertOneHost(request)
  if (sentParams(request) === undefined && hasSent(request)) throw nothingHere()
}
