/**
 * `fetch` over a Unix socket, for Bun, Node.js and Deno:
 *
 *     createClient({ address: 'http://vault', key, fetch: overSocket('/run/coffer/socket') })
 * @module
 */
import { request as open, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Fetch } from './call.ts'

/** Answers without a body (RFC 9110 section 6.4.1): `Response` accepts none. */
const bodiless = [204, 205, 304]

function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 0 } = message
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const body = bodiless.includes(status) ? null : (Readable.toWeb(message) as ReadableStream)
  return new Response(body, { status, headers })
}

/**
 * A `fetch` over a Unix socket, for `createClient`.
 *
 * @param path  the socket that `coffer serve --socket` listens on
 * @throws Error (the call) of the system, if nothing listens there
 * @example
 * createClient({ address: 'http://vault', key, fetch: overSocket('/run/coffer/coffer.sock') })
 */
export const overSocket =
  (path: string): Fetch =>
  (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const sent = open(
        url,
        {
          socketPath: path,
          method,
          headers: Object.fromEntries(new Headers(headers)),
          ...(signal ? { signal } : {}),
        },
        message => {
          try {
            resolve(responseOf(message))
          } catch (thrown) {
            // No `Response` has this status. An error thrown here would end the process.
            message.destroy()
            reject(thrown)
          }
        },
      )
      // Deno retries a request ended on a connection that it kept; that is ended here.
      sent.on('socket', socket => {
        if (signal?.aborted === true) socket.destroy()
      })
      sent.on('error', reject)
      sent.end(body ?? undefined)
    })
