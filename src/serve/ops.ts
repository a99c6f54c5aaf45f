/**
 * The listener for whoever runs the vault: whether it lives, whether it may be sent requests, and
 * numbers. It asks for no key, and holds nothing of a token.
 * @module
 */
import type { TcpAddress } from '../config.ts'
import type { Metrics } from './metrics.ts'

/** What may keep a vault from being sent requests. */
export interface Checks {
  readonly stopping: () => boolean
  /** Whether the store cannot be read, or takes no writes any more. */
  readonly store: () => boolean
  /** Whether too little space is left for writes. */
  readonly disk: () => boolean
  /** Whether so many rows are not folded that writes wait for it. */
  readonly fold: () => boolean
  /** Whether a backup comes far too late; absent where none are made. */
  readonly backup?: () => boolean
}

export interface OpsServer {
  readonly address: string
  readonly stop: () => Promise<void>
}

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

function readiness(checks: Checks): Response {
  const fails = failsOf(checks)
  return fails.length === 0 ? say(200, 'ready') : say(503, `not ready: ${fails.join(', ')}`)
}

async function printMetrics(metrics: Metrics): Promise<Response> {
  const { text, contentType } = await metrics.print()
  return new Response(text, { headers: { ...plain, 'content-type': contentType } })
}

/**
 * @param listen the server of the process
 * @throws the system's own error when the address cannot be had
 */
export function startOps(
  { host: hostname, port }: TcpAddress,
  checks: Checks,
  metrics: Metrics,
): OpsServer {
  const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
    '/healthz': () => say(200, 'alive'),
    '/readyz': () => readiness(checks),
    '/metrics': () => printMetrics(metrics),
  }
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    development: false,
    fetch({ method, url }) {
      const answer = answers[new URL(url, 'http://localhost').pathname]
      if (answer === undefined) return say(404, 'there is /healthz, /readyz and /metrics')
      if (method !== 'GET' && method !== 'HEAD') return say(405, 'expected GET')
      return answer()
    },
    // The server's own answer would print what was thrown.
    error: () => say(500, 'this cannot be told'),
  })
  return {
    address: `http://${server.hostname}:${server.port}`,
    stop: () => server.stop(true),
  }
}
