/**
 * The rights of pages of other origins: the CORS protocol of the Fetch standard.
 *
 * Credentials are a header and never a cookie, so any origin is the default. Source: contract
 * section 1.
 * @module
 */
import { agentHeadersMax, preflightSecondsMax } from '../limits/limits.ts'
import type { Settings } from '../settings/settings.ts'
import { headerNamesOf } from './request.ts'

export type HeaderFields = Readonly<Record<string, string>>

export interface Cors {
  /** On every answer. */
  readonly always: HeaderFields
  /** Adds what depends on the origin that asks. */
  readonly decorate: (headers: Headers, request: Request) => void
  /** Lets pages read one more header of an answer, where they may read any. */
  readonly expose: (headers: Headers, name: string) => void
  /** Headers of the answer to a preflight; `undefined` for another OPTIONS request. */
  readonly preflight: (request: Request) => HeaderFields | undefined
}

const allowOrigin = 'access-control-allow-origin'
const exposeHeaders = 'access-control-expose-headers'
const exposed = { [exposeHeaders]: 'SVC-TRACE-ID, Location' }
const agentHeader = /^[a-z0-9-]{1,40}-client-user-agent$/
const headerEnd = /^[a-z0-9-]{1,40}$/

/**
 * Headers that published clients send beside those of the interface, and that
 * tracers and common clients add to every request of a page; none is read but `last-event-id`.
 * Source: W3C Trace Context and Baggage; the documentation of Sentry, Datadog and Zipkin.
 */
const clientHeaders = [
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'x-datadog-trace-id',
  'x-datadog-parent-id',
  'x-datadog-origin',
  'x-datadog-sampling-priority',
  'x-datadog-sampled',
  'x-datadog-tags',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
  'x-requested-with',
  'cache-control',
  'pragma',
  'x-fern-language',
  'x-fern-sdk-name',
  'x-fern-sdk-version',
  'x-fern-runtime',
  'x-fern-runtime-version',
  'idempotency-key',
  'x-request-id',
  'last-event-id',
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

/** True for a header by which a published client names itself, also by a set prefix. */
const isOfClient = (name: string, prefixes: readonly string[]): boolean =>
  agentHeader.test(name) ||
  prefixes.some(
    prefix => name.startsWith(`${prefix}-`) && headerEnd.test(name.slice(prefix.length + 1)),
  )

/** Picks, of the headers that a page asks to send, those that published clients send. */
function clientHeadersOf(asked: string, prefixes: readonly string[]): readonly string[] {
  const names = asked
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
  const others = names.filter(name => isOfClient(name, prefixes)).slice(0, agentHeadersMax)
  return [...clientHeaders.filter(name => names.includes(name)), ...others]
}

export function corsOf(settings: Settings): Cors {
  const { key, trace, idempotency, reason } = headerNamesOf(settings)
  // The first name of each list is the interface's own, written out here in upper case.
  const own = ['Content-Type', 'SVC-TRACE-ID', 'SVC-IDEMPOTENCY-KEY', 'SVC-REASON']
  const allowed = [
    'SVC-API-KEY',
    ...key.slice(1),
    ...own,
    ...trace.slice(1),
    ...idempotency.slice(1),
    ...reason.slice(1),
  ]
  return {
    ...originRules(settings),
    expose(headers, name) {
      const names = headers.get(exposeHeaders)
      if (names !== null) headers.set(exposeHeaders, `${names}, ${name}`)
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
