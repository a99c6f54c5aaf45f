/**
 * What must hold of the header of a request, whatever it asks for.
 *
 * @module
 */
import { ApiError } from '../errors.ts'

/**
 * RFC 9112 section 3.2: more than one `Host` is 400, since two who read it may take it for two
 * hosts. The server joins equal header lines by a comma, which no name of a host has (`decision:`).
 * @throws ApiError `invalid_request`
 */
export function assertOneHost({ headers }: Request): void {
  if (headers.get('host')?.includes(',') !== true) return
  throw new ApiError('invalid_request', 'expected one Host header')
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
