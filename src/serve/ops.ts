/**
 * The listener for whoever runs the vault: whether it lives, whether it may be sent requests, and
 * numbers. It asks for no key, and holds nothing of a token.
 * @module
 */
import { isIP } from 'node:net'
import type { TcpAddress } from '../config.ts'
import { ApiError } from '../errors.ts'
import { describeError } from '../gate/problem.ts'
import { shareTextBytesMax } from '../operation-limits.ts'
import { inUrl } from './listen.ts'
import type { Metrics } from './metrics.ts'

/** What may keep a vault from being sent requests, and `clock_ahead`, which is told alone. */
export interface Checks {
  readonly sealed: () => boolean
  readonly stopping: () => boolean
  /** Whether the store cannot be read, or takes no writes any more. */
  readonly store: () => boolean
  /** Whether the clock is not that of the database that others share. */
  readonly clock: () => boolean
  /** Whether what expires soon is refused, since the vault is ahead of its clock. */
  readonly clock_ahead: () => boolean
  /** Whether too little space is left for writes. */
  readonly disk: () => boolean
  /** Whether so many rows are not folded that writes wait for it. */
  readonly fold: () => boolean
  /** Whether a backup comes far too late; absent where none are made. */
  readonly backup?: () => boolean
}

/** Takes a share of the master key, as text; wipes it. @throws ApiError for one it does not take */
type TakeShare = (text: Uint8Array) => Promise<object>

/** `uri-host [ ":" port ]`, an address of IPv6 between brackets (RFC 9110 section 7.2). */
const hostPattern = /^(?:\[([^[\]]*:[^[\]]*)\]|([^:[\]]+))(?::(\d{0,5}))?$/
const portMax = 65_535

/**
 * Whether a `Host` is one that no page of another site can have its browser send: an address, a
 * name of this machine itself, or the host that was set. Any other name may be of a site that has
 * it lead here (DNS rebinding). Without one it is no browser (RFC 9112 section 3.2).
 */
function isOwnHost(host: string | null, configured: string): boolean {
  if (host === null) return true
  const [whole, inet6, name = '', port = ''] = hostPattern.exec(host.toLowerCase()) ?? []
  if (whole === undefined || Number(port) > portMax) return false
  if ((inet6 ?? name) === configured.toLowerCase()) return true
  if (inet6 !== undefined) return isIP(inet6) === 6 && !inet6.includes('%')
  return isIP(name) === 4 || name === 'localhost'
}

/** Nothing of the host before it is read: not every name that may be set is one of a URL. */
const pathOf = (url: string): string => /^(?:http:\/\/[^/?]*)?([^?]*)/.exec(url)?.[1] ?? ''

/** What no page of another site may ask for, even if it cannot read the answer. */
function refusalOf({ headers }: Request, configured: string): Response | undefined {
  if (!isOwnHost(headers.get('host'), configured)) {
    return say(421, 'ask by an address, localhost or the host that --ops-host names')
  }
  const isForeign = headers.get('sec-fetch-site')?.toLowerCase() === 'cross-site'
  return isForeign ? say(403, 'no page of another site asks here') : undefined
}

/** Whoever asks while it is being printed gets the same: asking more often is no more work. */
function printOnce(print: () => Promise<PrintedMetrics>): () => Promise<PrintedMetrics> {
  let printing: Promise<PrintedMetrics> | undefined
  return () =>
    (printing ??= print().finally(() => {
      printing = undefined
    }))
}

export interface OpsServer {
  readonly address: string
  readonly stop: () => Promise<void>
}

const otherVault = new ApiError('invalid_request', 'these shares do not open this vault')

const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

const say = (status: number, text: string): Response =>
  new Response(`${text}\n`, { status, headers: plain })

/** A check that itself fails has failed. */
function failsOf(checks: Checks): readonly string[] {
  return Object.entries(checks).flatMap(([name, fails]: [string, () => boolean]) => {
    try {
      return fails() ? [name] : []
    } catch {
      return [name]
    }
  })
}

/** All else is served, and another vault of the same store is ahead as well. */
const toldAlone: ReadonlySet<string> = new Set(['clock_ahead'])

function readiness(checks: Checks): Response {
  const fails = failsOf(checks)
  const names = fails.join(', ')
  if (!fails.every(name => toldAlone.has(name))) return say(503, `not ready: ${names}`)
  return say(200, fails.length === 0 ? 'ready' : `ready, but: ${names}`)
}

const json = (status: number, facts: object): Response =>
  Response.json(facts, { status, headers: { 'cache-control': 'no-store' } })

/** What is wrong with a share is told; all else might be of the machine. */
async function unseal(request: Request, take: TakeShare): Promise<Response> {
  if (request.method !== 'POST') return say(405, 'expected POST')
  // A page of any origin may have a browser on this machine send it.
  if (request.headers.has('origin')) return say(403, 'no browser unseals a vault')
  const text = new Uint8Array(await request.arrayBuffer())
  try {
    return json(200, await take(text))
  } catch (error) {
    const { kind, message } = error instanceof ApiError ? error : otherVault
    return json(describeError(new ApiError(kind, message)).status, { failed: message })
  }
}

type PrintedMetrics = Awaited<ReturnType<Metrics['print']>>

async function tellMetrics(print: () => Promise<PrintedMetrics>): Promise<Response> {
  const { text, contentType } = await print()
  return new Response(text, { headers: { ...plain, 'content-type': contentType } })
}

/**
 * @param listen the server of the process
 * @throws the system's own error when the address cannot be had
 */
export function startOps(
  { host: hostname, port }: TcpAddress,
  checks: Checks,
  metrics: Pick<Metrics, 'print'>,
  takeShare?: TakeShare,
): OpsServer {
  const print = printOnce(() => metrics.print())
  const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
    '/healthz': () => say(200, 'alive'),
    '/readyz': () => readiness(checks),
    '/metrics': () => tellMetrics(print),
  }
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    development: false,
    maxRequestBodySize: shareTextBytesMax,
    fetch(request) {
      const { method, url } = request
      const refusal = refusalOf(request, hostname)
      if (refusal !== undefined) return refusal
      const path = pathOf(url).replace(/(?<=.)\/$/, '')
      if (path === '/sys/unseal' && takeShare !== undefined) return unseal(request, takeShare)
      const answer = answers[path]
      if (answer === undefined) return say(404, 'there is /healthz, /readyz and /metrics')
      if (method !== 'GET' && method !== 'HEAD') return say(405, 'expected GET')
      return answer()
    },
    // The server's own answer would print what was thrown.
    error: thrown =>
      thrown instanceof ApiError && thrown.kind === 'unavailable'
        ? say(503, thrown.message)
        : say(500, 'this cannot be told'),
  })
  return {
    address: `http://${inUrl(server.hostname)}:${server.port}`,
    stop: () => server.stop(true),
  }
}
