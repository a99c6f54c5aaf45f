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
  /** Adds the header that says of an answer that it is given again. */
  readonly exposeReplay: (headers: Headers) => void
  /** What a preflight is told; `undefined` for an OPTIONS request that is none. */
  readonly preflight: (request: Request) => Fields | undefined
}

const allowOrigin = 'access-control-allow-origin'
const exposeHeaders = 'access-control-expose-headers'
const exposed = { [exposeHeaders]: 'SVC-TRACE-ID, Location' }
const agentHeader = /^[a-z0-9-]{1,40}-client-user-agent$/
const headerEnd = /^[a-z0-9-]{1,40}$/

/** What generated clients of this family send beside the headers of the interface; none is read. */
const clientHeaders = [
  'x-fern-language',
  'x-fern-sdk-name',
  'x-fern-sdk-version',
  'x-fern-runtime',
  'x-fern-runtime-version',
  'idempotency-key',
  'x-request-id',
]

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

/** By which clients of this family name themselves, or under a prefix that is set. */
const isOfClient = (name: string, prefixes: readonly string[]): boolean =>
  agentHeader.test(name) ||
  prefixes.some(
    prefix => name.startsWith(`${prefix}-`) && headerEnd.test(name.slice(prefix.length + 1)),
  )

/** Of the headers that are asked for: those that clients of this family send. */
function clientHeadersOf(asked: string, prefixes: readonly string[]): readonly string[] {
  const names = asked
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
  const others = names.filter(name => isOfClient(name, prefixes)).slice(0, agentHeadersMax)
  return [...clientHeaders.filter(name => names.includes(name)), ...others]
}

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
    exposeReplay(headers) {
      const names = headers.get(exposeHeaders)
      if (names !== null) headers.set(exposeHeaders, `${names}, SVC-IDEMPOTENT-REPLAY`)
    },
    preflight({ headers }) {
      if (!headers.has('origin') || !headers.has('access-control-request-method')) return undefined
      const asked = headers.get('access-control-request-headers') ?? ''
      const others = clientHeadersOf(asked, settings.headerPrefix)
      return {
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': [...allowed, ...others].join(', '),
        'access-control-max-age': String(preflightSecondsMax),
      }
    },
  }
}
