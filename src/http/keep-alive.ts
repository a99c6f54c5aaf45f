/**
 * The time that a connection waits for its next request, which is told to its other end: a proxy
 * that sends on a connection which ends at that moment has no answer to give.
 *
 * Facts about the server: what is set for a request holds until the head of the next one is whole,
 * which begins with the server's own time again; so a first head or a body that does not go on has
 * that, and the head of a next request the longer one.
 * Source: RFC 9112 section 9.3; RFC 9110 section 7.6.1; RFC 2068 section 19.7.1, for the hint.
 * @module
 */
import { keepAliveSlackSeconds } from '../limits/operation-limits.ts'

export interface Origin {
  readonly address: string
  readonly port: number
}

/** A listening server: it tells one connection from another. */
export interface Origins {
  /** `null` on a socket of the file system: nothing tells one connection from another there. */
  requestIP(request: Request): Origin | null
}

/** The same, and how long its connections last. */
export interface Connections extends Origins {
  /** After how long the connection of a request ends where nothing is sent on it; 0 is never. */
  timeout(request: Request, seconds: number): void
}

interface Connected {
  readonly request: Request
  /** The server that has its connection; absent within the process. */
  readonly server: Connections | undefined
}

export interface KeepAlive {
  /** Headers of every answer, but for those that end their connection. */
  readonly fields: Readonly<Record<string, string>>
  /** Has the connection of an exchange wait, once nothing of its answer is left to send. */
  readonly extend: (exchange: Connected) => void
}

/** @param seconds absent where a host, or the system, decides it */
export function makeKeepAlive(seconds: number | undefined): KeepAlive {
  if (seconds === undefined) return { fields: {}, extend: () => {} }
  return {
    fields: { connection: 'keep-alive', 'keep-alive': `timeout=${seconds}` },
    extend({ request, server }) {
      server?.timeout(request, seconds + keepAliveSlackSeconds)
    },
  }
}

/**
 * True if a body came in chunks, behind which there may be more fields. The server refuses those
 * with an answer of its own, behind ours: a proxy that has kept the connection would take that for
 * the answer to what somebody else has sent on it. Source: RFC 9112 sections 7.1.2 and 9.2.
 */
const isChunked = ({ headers }: Request): boolean => headers.has('transfer-encoding')

const closeOption = /(^|,)[ \t]*close[ \t]*(,|$)/i

/**
 * True if the server ends the connection, which the answer has to say: as its caller asks, or
 * behind HTTP/1.0, which alone may name no host. The server does not tell the version otherwise.
 * Source: RFC 9112 sections 3.2, 9.3 and 9.6.
 */
function isEndedByServer({ headers, url }: Request): boolean {
  const options = headers.get('connection')
  if (options !== null && closeOption.test(options)) return true
  return url.startsWith('/') && !headers.has('host')
}

/** True if no other request can follow on its connection. */
export const isLast = (request: Request): boolean => isChunked(request) || isEndedByServer(request)

/** Has an answer end its connection. */
export function endConnection({ headers }: Response): void {
  headers.set('connection', 'close')
  headers.delete('keep-alive')
}

/** For answers that are sent without an exchange. */
export function endBehindLast(request: Request, response: Response): Response {
  if (isLast(request)) endConnection(response)
  return response
}
