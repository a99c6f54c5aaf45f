/**
 * Paths of requests: taken from the address as it came, decoded exactly once.
 *
 * A path that does not decode (a bad percent code, bytes that are not UTF-8) leads nowhere: it is
 * an unknown address. Source: RFC 3986 section 2.4; hardening H28, H76, H87.
 * @module
 */

/** Names of a pattern to what stands in their place, decoded. */
export type Params = Readonly<Record<string, string>>

const none: Params = {}

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

const withoutTrailingSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

/** Of a pattern whose only parameter ends it, as of most: nothing is cut into pieces. */
function compileLast(pattern: string): (path: string) => Params | undefined {
  const at = pattern.lastIndexOf('/') + 1
  const before = pattern.slice(0, at)
  const name = pattern.slice(at + 1)
  return path => {
    const given = withoutTrailingSlash(path)
    if (!given.startsWith(before) || given.includes('/', at)) return undefined
    const decoded = decodeSegment(given.slice(at))
    return decoded === undefined || decoded === '' ? undefined : { [name]: decoded }
  }
}

/**
 * Reads the parameters of paths that a pattern such as `/tokens/:id` matches, with or without a
 * trailing slash. No segment of a match is empty.
 * @returns a function that gives `undefined` for every other path
 */
export function compilePath(pattern: string): (path: string) => Params | undefined {
  const expected = pattern.split('/')
  if (!pattern.includes(':')) {
    return path => (withoutTrailingSlash(path) === pattern ? none : undefined)
  }
  if (pattern.indexOf(':') > pattern.lastIndexOf('/')) return compileLast(pattern)
  return path => {
    const given = withoutTrailingSlash(path).split('/')
    if (given.length !== expected.length) return undefined
    const params: Record<string, string> = {}
    for (const [index, segment] of expected.entries()) {
      const text = given[index] ?? ''
      if (!segment.startsWith(':')) {
        if (text !== segment) return undefined
        continue
      }
      const decoded = decodeSegment(text)
      if (decoded === undefined || decoded === '') return undefined
      params[segment.slice(1)] = decoded
    }
    return params
  }
}
