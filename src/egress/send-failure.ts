/**
 * Failures of a request of the vault to others, as a closed list.
 *
 * An error of the runtime holds the whole address, so only its code is read, and none is logged.
 * @module
 */
import type { DestinationFault } from './destination.ts'

export type SendFailure =
  | DestinationFault['failure']
  /** The name has no address, or none was found in time. */
  | 'unresolved'
  /** No handshake: the certificate, its name, its time, or a version below TLS 1.2. */
  | 'tls'
  | 'timeout'
  | 'too_large'
  /** Refused, unreachable, or ended before a whole answer. */
  | 'connection'

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''

/** Codes of failures before any byte of the request was sent. */
const neverConnected: readonly string[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
]

/** True if the same request may go to another address: nothing of it has left. */
export const isUnconnected = (thrown: unknown): boolean => neverConnected.includes(codeOf(thrown))

/** Names of errors in certificates are words with underscores, as in `CERT_HAS_EXPIRED`. */
const tlsCode = /^(?:EPROTO|[A-Z0-9]+(?:_[A-Z0-9]+)+)$/
/** The parser of answers names its errors in mixed case, as in `InvalidContentLength`. */
const answerCode = /^(?!Connection)[A-Z][a-z]|^[A-Z]+[a-z]/

/** Returns the failure for an error of `fetch` that no time-out of ours has caused. */
export function failureOf(thrown: unknown): SendFailure {
  const code = codeOf(thrown)
  if (code === 'ResponseHeadersTooLarge') return 'too_large'
  if (tlsCode.test(code)) return 'tls'
  return answerCode.test(code) ? 'malformed' : 'connection'
}
