/**
 * The listener for operators: liveness, readiness and metrics of the vault. It needs no key, and
 * shows nothing of any token.
 * @module
 */
import { isIP } from 'node:net'
import type { TcpAddress } from '../../settings/config.ts'
import { ApiError } from '../../lib/errors.ts'
import { makeEndAnswer } from '../../http/flood-guard.ts'
import { describeError } from '../../http/problem.ts'
import { portMax } from '../../limits/limits.ts'
import { coverBytes, shareTextBytesMax } from '../../limits/operation-limits.ts'
import { singleFlight } from '../../lib/serial.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'
import { explainListening, opsFlags } from '../listen/listen-failure.ts'
import { inUrl } from '../listen/listen.ts'
import type { PrintedNumbers } from './metric-kinds.ts'
import { mayBeSent, type Failing, type ProcessReport } from './process-report.ts'

/** Takes a share of the master key, as text; wipes it. @throws ApiError for an invalid share */
type TakeShare = (text: Uint8Array) => Promise<object>

/** `uri-host [ ":" port ]`, with an IPv6 address in brackets (RFC 9110 section 7.2). */
const hostPattern = /^(?:\[([^[\]]*:[^[\]]*)\]|([^:[\]]+))(?::(\d{0,5}))?$/

/**
 * True if no page of another site can make its browser send this `Host`: an address, a name of this
 * machine, or the configured host. Any other name may belong to a site that resolves it to this
 * machine (DNS rebinding). A request without `Host` is not from a browser (RFC 9112 section 3.2).
 */
function isOwnHost(host: string | null, configured: string): boolean {
  if (host === null) return true
  const [whole, inet6, name = '', port = ''] = hostPattern.exec(host.toLowerCase()) ?? []
  if (whole === undefined || Number(port) > portMax) return false
  if ((inet6 ?? name) === configured.toLowerCase()) return true
  if (inet6 !== undefined) return isIP(inet6) === 6 && !inet6.includes('%')
  return isIP(name) === 4 || name === 'localhost'
}

/** Skips the host without parsing it: a configured name need not be valid in a URL. */
const pathOf = (url: string): string => /^(?:http:\/\/[^/?]*)?([^?]*)/.exec(url)?.[1] ?? ''

/**
 * Refuses requests that a page of another origin may send, even if it cannot read the answer: as a
 * script that it loads, one tells by its status.
 */
function refusalOf({ headers }: Request, configured: string): Response | undefined {
  if (!isOwnHost(headers.get('host'), configured)) {
    return say(421, 'ask by an address, localhost or the host that --ops-host names')
  }
  const from = headers.get('sec-fetch-site')?.toLowerCase()
  // Another port of this host is of the same site.
  const isForeign = from === 'cross-site' || from === 'same-site'
  return isForeign ? say(403, 'no page of another origin asks here') : undefined
}

export interface OpsServer {
  readonly address: string
  readonly stop: () => Promise<void>
}

const otherVault = new ApiError('invalid_request', 'these shares do not open this vault')

const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

const say = (status: number, text: string): Response =>
  new Response(`${text}\n`, { status, headers: plain })

function readiness(failing: Failing): Response {
  const names = failing.join(', ')
  if (!mayBeSent(failing)) return say(503, `not ready: ${names}`)
  return say(200, failing.length === 0 ? 'ready' : `ready, but: ${names}`)
}

const liveness = (isAlive: boolean): Response =>
  isAlive ? say(200, 'alive') : say(503, 'a worker does not answer')

const json = (status: number, facts: object): Response =>
  Response.json(facts, { status, headers: { 'cache-control': 'no-store' } })

/** Errors about the share are shown; others might reveal something of the machine. */
async function unseal(request: Request, take: TakeShare): Promise<Response> {
  if (request.method !== 'POST') return say(405, 'expected POST')
  // A page of any origin could make a browser on this machine send it.
  if (request.headers.has('origin')) return say(403, 'no browser unseals a vault')
  const text = new Uint8Array(await request.arrayBuffer())
  try {
    return json(200, await take(text))
  } catch (error) {
    const { kind, message } = error instanceof ApiError ? error : otherVault
    return json(describeError(new ApiError(kind, message)).status, { failed: message })
  }
}

/** The server reuses its receive buffer: after a share, a longer body without one overwrites it. */
async function coverReceived(address: string): Promise<void> {
  const body = '-'.repeat(coverBytes)
  const init = { method: 'POST', body, redirect: 'manual', proxy: false }
  // The server may be ending, and then holds no share.
  await fetch(address, init as RequestInit).catch(() => undefined)
}

async function tellNumbers(print: () => Promise<PrintedNumbers>): Promise<Response> {
  const { text, contentType } = await print()
  return new Response(text, { headers: { ...plain, 'content-type': contentType } })
}

/** Answers of each path; concurrent requests share the work of one. */
function answersOf(told: ProcessReport): Readonly<Record<string, () => Promise<Response>>> {
  const isAlive = singleFlight(told.isAlive)
  const failing = singleFlight(told.failing)
  const print = singleFlight(async () => {
    // Loaded only on request.
    const { printNumbers } = await import('./metric-kinds.ts')
    return printNumbers(await told.numbers())
  })
  return {
    '/healthz': async () => liveness(await isAlive()),
    '/readyz': async () => readiness(await failing()),
    '/metrics': () => tellNumbers(print),
  }
}

/** @throws the system's own error if the address is not available */
export function startOps(
  { host: hostname, port }: TcpAddress,
  told: ProcessReport,
  takeShare?: TakeShare,
): OpsServer {
  const answers = answersOf(told)
  const answerTo = (request: Request): MaybeLater<Response> => {
    const { method, url } = request
    const refusal = refusalOf(request, hostname)
    if (refusal !== undefined) return refusal
    const path = pathOf(url).replace(/(?<=.)\/$/, '')
    if (path === '/sys/unseal' && takeShare !== undefined) {
      return unseal(request, takeShare).finally(() => coverReceived(address))
    }
    const answer = answers[path]
    if (answer === undefined) return say(404, 'there is /healthz, /readyz and /metrics')
    if (method !== 'GET' && method !== 'HEAD') return say(405, 'expected GET')
    return answer()
  }
  const end = makeEndAnswer()
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    development: false,
    maxRequestBodySize: shareTextBytesMax,
    fetch: (request, origins) =>
      andThen(answerTo(request), response => end(request, response, origins)),
    // The server's own answer would print the error.
    error: () => say(500, 'this cannot be told'),
  })
  const address = `http://${inUrl(server.hostname)}:${server.port}`
  return {
    address,
    stop: () => server.stop(true),
  }
}

/** @throws CommandFailure if the address is not available */
export async function listenOps(
  address: TcpAddress,
  told: ProcessReport,
  takeShare?: TakeShare,
): Promise<OpsServer> {
  try {
    return startOps(address, told, takeShare)
  } catch (error) {
    throw await explainListening(error, address, opsFlags)
  }
}
