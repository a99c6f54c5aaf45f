/**
 * Addresses to which a tenant or an operator has the vault send: parsed once, so that what is
 * checked is what is connected to.
 *
 * A text has to pass a strict grammar, and the URL parser has to read the same host in it: the two
 * differ where an address is disguised (https://2130706433, https://0x7f.1, full-width digits).
 * @module
 */
import { isIP, isIPv4 } from 'node:net'
import { destinationCharsMax, hostNameCharsMax, portMax } from '../limits/limits.ts'

export interface Destination {
  /** A name in lower case without a dot at its end, or an address; IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Path and query; begins with a slash. It may hold a secret of its receiver. */
  readonly target: string
}

export interface DestinationFault {
  readonly failure: 'not_https' | 'address_refused' | 'malformed'
  /** For the person who gave the address; holds nothing of it. */
  readonly expected: string
}

const httpsPort = 443

const malformed = (expected: string): DestinationFault => ({ failure: 'malformed', expected })

const disguised: DestinationFault = {
  failure: 'address_refused',
  expected: 'a name, or an IP address in its usual form, such as 192.0.2.1 or [2001:db8::1]',
}

/** Visible ASCII without the backslash, which URL parsers take for a slash. */
const plainText = /^[!-[\]-~]+$/
const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^#]*)(#.*)?$/i
const authority = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([1-9]\d{0,4}))?$/i
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** URL parsers read a host that ends so as an IPv4 address. */
const numeric = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/

/** Returns the host as a `Destination` has it. @param written in lower case */
function hostOf(written: string): string | DestinationFault {
  if (written.startsWith('[')) {
    const address = written.slice(1, -1)
    return isIP(address) === 6 ? address : disguised
  }
  if (numeric.test(written)) return isIPv4(written) ? written : disguised
  const name = written.replace(/\.$/, '')
  const isName = name.length <= hostNameCharsMax && name.split('.').every(part => label.test(part))
  return isName ? name : malformed('a host name such as hooks.example.com')
}

/** Returns host and port in the form of a URL or of the header `Host`; no port where it is 443. */
export function authorityOf({ host, port }: Pick<Destination, 'host' | 'port'>): string {
  const written = isIP(host) === 6 ? `[${host}]` : host
  return port === httpsPort ? written : `${written}:${port}`
}

/** Returns path and query as a URL parser reads them, if it reads that host and port as well. */
function targetOf(text: string, host: string, port: number): string | DestinationFault {
  const url = URL.parse(text)
  if (url === null) return malformed('an address such as https://hooks.example.com/path')
  const isSame = url.host.replace(/\.(?=$|:)/, '') === authorityOf({ host, port })
  return isSame ? url.pathname + url.search : disguised
}

/** Parses an address of the form `https://host[:port][/path][?query]`. */
export function parseDestination(text: string): Destination | DestinationFault {
  if (text.length > destinationCharsMax) {
    return malformed(`at most ${destinationCharsMax} characters`)
  }
  if (!plainText.test(text)) {
    return malformed('an address in ASCII: write names as xn--…, and the rest percent-encoded')
  }
  const [, scheme, where, , fragment] = parts.exec(text) ?? []
  if (scheme === undefined || where === undefined) {
    return malformed('an address such as https://hooks.example.com/path')
  }
  if (scheme.toLowerCase() !== 'https') {
    return { failure: 'not_https', expected: 'an address that begins with https://' }
  }
  if (where.includes('@')) return malformed('an address without user name and password')
  if (fragment !== undefined) return malformed('an address without a fragment (#…)')
  const [, written, portText = `${httpsPort}`] = authority.exec(where) ?? []
  const port = Number(portText)
  if (written === undefined || port > portMax) {
    return malformed('a host name, and after a colon perhaps a port from 1 to 65535')
  }
  const host = hostOf(written.toLowerCase())
  if (typeof host !== 'string') return host
  const target = targetOf(text, host, port)
  return typeof target === 'string' ? { host, port, target } : target
}
