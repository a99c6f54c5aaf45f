/**
 * What must hold of the header of a request, whatever it asks for.
 *
 * @module
 */
import { ownText } from '../text/own.ts'
import { ApiError } from '../errors.ts'

/** A name or an address, and a port: RFC 9110 section 7.2, RFC 3986 section 3.2.2. */
const nameOrAddress =
  /^(?:(?:[\w\-.~!$&'()*+;=]|%[\da-f]{2})*|\[(?:[\da-f:.]+|v[\da-f]+\.[\w\-.~!$&'()*+;=:]+)\])$/i
const port = /:\d*$/

/** Of one service nearly all requests name the same host, which need not be looked at again. */
let known: string | null = null

/**
 * RFC 9112 section 3.2: more than one `Host`, or one that names no host, is 400, since two who read
 * it may take it for two hosts. The server joins equal header lines by a comma, which no name of a
 * host has here (`decision:`). decision: an empty one is taken, as one where a target has no
 * authority must be (RFC 9110 section 7.2): nothing here depends on which host is asked.
 * @throws ApiError `invalid_request`
 */
export function assertOneHost({ headers }: Request): void {
  const host = headers.get('host')
  if (host === known || host === null) return
  if (!nameOrAddress.test(host.replace(port, ''))) {
    throw new ApiError('invalid_request', 'expected one Host header')
  }
  known = ownText(host)
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
