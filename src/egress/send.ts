/**
 * Requests of the vault to addresses that others gave: one POST, to an address that was checked.
 *
 * A name is resolved once; each of its addresses must be one that may be reached; and the
 * connection goes to one of exactly these, while the certificate is checked for the name. So no
 * second look-up can lead elsewhere. The answer is read within bounds.
 * @module
 */
import { isIP, isIPv4 } from 'node:net'
import { resolveMsMax, sendMsMax, sentAnswerBytesMax } from '../limits/limits.ts'
import {
  idleConnectionSeconds,
  idleConnectionsMax,
  triedAddressesMax,
} from '../limits/work-limits.ts'
import { authorityOf, type Destination } from './destination.ts'
import { failureOf, isUnconnected, type SendFailure } from './send-failure.ts'
import type { MayReach } from './public-address.ts'
import { readRetryAfter } from './retry-after.ts'

export interface EgressDeps {
  /** Returns all IPv4 and IPv6 addresses of a name. */
  readonly resolve: (name: string) => Promise<readonly string[]>
  readonly mayReach: MayReach
  /** Unix milliseconds. */
  readonly now: () => number
  /** Calls `end` after that time. @returns a function that prevents it */
  readonly startTimer: (ms: number, end: () => void) => () => void
  /** Certificates of authorities, in PEM, instead of those that the runtime trusts. */
  readonly authorities?: string | undefined
}

interface Outgoing {
  readonly destination: Destination
  /** By name in lower case; `host` is set here. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

export type Sent =
  | {
      /** From 200 on; a redirect is not followed. */
      readonly status: number
      readonly retryAfterSeconds: number | undefined
      readonly body: Uint8Array
    }
  | { readonly failure: SendFailure }

export type Send = (outgoing: Outgoing) => Promise<Sent>

const failed = (failure: SendFailure): Sent => ({ failure })

/** Resolves to `undefined` after that time. */
async function within<T>(
  { startTimer }: EgressDeps,
  ms: number,
  task: Promise<T>,
): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const stop = startTimer(ms, () => resolve(undefined))
  return Promise.race([task, promise]).finally(stop)
}

/** Returns the addresses to try, in their order: IPv6 is where a vault more often has no route. */
async function addressesOf(
  deps: EgressDeps,
  { host }: Destination,
): Promise<readonly string[] | SendFailure> {
  const found =
    isIP(host) === 0
      ? await within(deps, resolveMsMax, deps.resolve(host)).catch(() => undefined)
      : [host]
  if (found === undefined || found.length === 0) return 'unresolved'
  if (!found.every(deps.mayReach)) return 'address_refused'
  const [four, six] = [found.filter(isIPv4), found.filter(address => !isIPv4(address))]
  return [...four, ...six].slice(0, triedAddressesMax)
}

/** Reads the whole body. @returns undefined if it is too long; its connection is then closed */
async function readBody({ headers, body }: Response): Promise<Uint8Array | undefined> {
  const said = Number(headers.get('content-length') ?? 0)
  if (said > sentAnswerBytesMax) {
    await body?.cancel()
    return undefined
  }
  const chunks: Uint8Array[] = []
  let read = 0
  for await (const chunk of body ?? []) {
    read += chunk.length
    if (read > sentAnswerBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Makes the one function by which requests leave; it keeps a pool of connections of its own. */
export function makeSend(deps: EgressDeps): Send {
  const session = new Bun.FetchSession({
    keepAlive: { idleTimeout: idleConnectionSeconds, maxIdleSockets: idleConnectionsMax },
  })

  /** Sends to one address. Variables of the environment change none of this. */
  const post = (
    { destination, headers, body }: Outgoing,
    address: string,
    signal: AbortSignal,
  ): Promise<Response> => {
    const { host, port, target } = destination
    return session.fetch(`https://${authorityOf({ host: address, port })}${target}`, {
      method: 'POST',
      headers: { 'user-agent': 'Coffer', ...headers, host: authorityOf({ host, port }) },
      body,
      signal,
      redirect: 'manual',
      proxy: false,
      decompress: false,
      verbose: false,
      protocol: 'http1.1',
      tls: { serverName: host, rejectUnauthorized: true, ca: deps.authorities },
    })
  }

  async function sendTo(outgoing: Outgoing, address: string, signal: AbortSignal): Promise<Sent> {
    const response = await post(outgoing, address, signal)
    const body = await readBody(response)
    if (body === undefined) return failed('too_large')
    const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'), deps.now())
    return { status: response.status, retryAfterSeconds, body }
  }

  /** Goes on to the next address only while nothing of the request has left. */
  async function sendToFirst(
    outgoing: Outgoing,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<Sent> {
    for (const address of addresses) {
      try {
        return await sendTo(outgoing, address, signal)
      } catch (error) {
        if (signal.aborted) return failed('timeout')
        if (!isUnconnected(error)) return failed(failureOf(error))
      }
    }
    return failed('connection')
  }

  return async outgoing => {
    const ending = new AbortController()
    const stop = deps.startTimer(sendMsMax, () => ending.abort())
    try {
      const addresses = await addressesOf(deps, outgoing.destination)
      if (typeof addresses === 'string') return failed(addresses)
      return await sendToFirst(outgoing, addresses, ending.signal)
    } finally {
      stop()
    }
  }
}
