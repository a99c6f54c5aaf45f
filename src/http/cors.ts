/**
 * Which browsers may call, and what they may see: the CORS protocol of the Fetch standard.
 *
 * Credentials are a header and never a cookie, so any origin is the default. Source: contract
 * section 1.
 * @module
 */
import { agentHeadersMax, preflightSecondsMax } from '../limits.ts'
import { headerNamesOf } from './header-names.ts'
import type { Settings } from '../settings.ts'

type Fields = Readonly<Record<string, string>>

export interface Cors {
  /** On every answer, whoever asks. */
  readonly always: Fields
  /** Adds what depends on the origin that asks. */
  readonly decorate: (headers: Headers, request: Request) => void
  /** What a preflight is told; `undefined` for an OPTIONS request that is none. */
  readonly preflight: (request: Request) => Fields | undefined
}

const allowOrigin = 'access-control-allow-origin'
const exposed = { 'access-control-expose-headers': 'SVC-TRACE-ID, Location' }
const agentHeader = /^[a-z0-9-]{1,40}-client-user-agent$/

function originRules({ corsOrigins }: Settings): Pick<Cors, 'always' | 'decorate'> {
  if (corsOrigins.includes('*')) {
    return { always: { [allowOrigin]: '*', ...exposed }, decorate: () => {} }
  }
  if (corsOrigins.length === 0) return { always: {}, decorate: () => {} }
  const origins = new Set(corsOrigins)
  return {
    always: { vary: 'Origin', ...exposed },
    decorate(headers, request) {
      const origin = request.headers.get('origin')
      if (origin !== null && origins.has(origin)) headers.set(allowOrigin, origin)
    },
  }
}

/** Of the headers that are asked for: those by which clients of this family name themselves. */
const agentHeadersOf = (asked: string): readonly string[] =>
  asked
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => agentHeader.test(name))
    .slice(0, agentHeadersMax)

export function corsOf(settings: Settings): Cors {
  const { key, trace, idempotency } = headerNamesOf(settings)
  const own = ['Content-Type', 'SVC-TRACE-ID', 'SVC-IDEMPOTENCY-KEY']
  const allowed = [
    'SVC-API-KEY',
    ...key.slice(1),
    ...own,
    ...trace.slice(1),
    ...idempotency.slice(1),
  ]
  return {
    ...originRules(settings),
    preflight({ headers }) {
      if (!headers.has('origin') || !headers.has('access-control-request-method')) return undefined
      const agents = agentHeadersOf(headers.get('access-control-request-headers') ?? '')
      return {
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': [...allowed, ...agents].join(', '),
        'access-control-max-age': String(preflightSecondsMax),
      }
    },
  }
}
