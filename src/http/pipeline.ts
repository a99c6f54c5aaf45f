/**
 * What happens around every operation, in the order of contract section 2: rate of the address
 * where it is bounded (429), authenticate (401), rate (429), kind of caller and permission held at
 * all (403), content coding (415), then
 *
 * - without an idempotency key: content type (415), room for the body (413, 503), query and body
 *   (400), handle;
 * - with one: its form (400), room for the body (413, 503), what it has done before (409, or the
 *   answer), query (400), content type (415), body (400), handle.
 *
 * Nobody's body is read before its caller is known and admitted. Up to then nothing is waited for,
 * so that the server has no time to keep much of it. Who it is is asked again when the body has
 * come, if that took any time.
 * @module
 */
import { Elysia } from 'elysia'
import { pagesOrdinal } from '../limits/work-limits.ts'
import type { Caller } from '../rules/caller.ts'
import { andThen, orElse, type MaybeLater } from '../lib/waiting.ts'
import {
  admit,
  givenTraceId,
  type RouteRequest,
  type Connections,
  type FloodGuard,
} from './admission.ts'
import type { AnswerBudget, AnswerLease, BodyBudget, BodyLease } from './budgets.ts'
import type { Answers, Exchange, StaticPage } from './answers.ts'
import { leavesMuch, makeBodyReader, type BodyReader } from './bodies.ts'
import { endConnection, isChunked, type KeepAlive } from './keep-alive.ts'
import type { Prepared, Runner } from './idempotency.ts'
import type { ClientAddress, EnterAddress } from './client-address.ts'
import { receive } from './receive.ts'
import type { StoreTurn, StoreTurns } from './store-turns.ts'
import { answeredBy, seenOf } from './seen.ts'
import type { InFlight } from './in-flight.ts'
import { assertAddress, readParams, type Params } from './request.ts'
import type { Operation, Perform, Reply, Route } from './operation.ts'
import { toApiError } from './problem.ts'

export interface Pipeline extends Runner {
  readonly answers: Answers
  readonly bodyBudget: BodyBudget
  readonly answerBudget: AnswerBudget
  /** Absent where no store is waited for. */
  readonly storeTurns: StoreTurns | undefined
  readonly isCrowded: FloodGuard
  readonly clientAddress: ClientAddress
  readonly enterAddress: EnterAddress
  readonly nextTraceId: () => string
  readonly tally: InFlight
  readonly keepAlive: KeepAlive
  /** Writes on which day keys were used; the serving process calls it now and then. */
  readonly writeKeyUses: () => Promise<void>
  /** By their names. */
  readonly operations: Map<string, Operation>
  /** The server, once one listens for this application. */
  readonly server: {
    origins: Connections | undefined
    /** Of a host: whether it has sent a request, of which its router marks what it has matched. */
    hasSent: ((request: Request) => boolean) | undefined
  }
}

/**
 * The end of every exchange, once. Ends the connection of who is not admitted and does not wait
 * (hardening H126), of who still sends much that nobody will read, and of who sent chunks.
 */
export function finish(pipeline: Pipeline, exchange: Exchange, response: Response): Response {
  pipeline.tally.leave(exchange)
  const { request, isAdmitted, isBodyRead } = exchange
  pipeline.deps.observe?.(seenOf(pipeline, exchange, response.status))
  pipeline.deps.explain?.(answeredBy(exchange, response))
  const endsCrowded = !isAdmitted && pipeline.isCrowded(request, pipeline.server.origins)
  const isRefused = exchange.refusal !== undefined && response.headers.get('connection') === 'close'
  const leavesMore = isChunked(request) || (!isBodyRead && leavesMuch(request))
  if (endsCrowded || isRefused || leavesMore) endConnection(response)
  else if (!exchange.isInPieces) pipeline.keepAlive.extend(exchange)
  return response
}

/** Ends an exchange by an error of the closed union. */
const refuse = (pipeline: Pipeline, exchange: Exchange, thrown: unknown): Response =>
  finish(pipeline, exchange, pipeline.answers.problem(exchange, toApiError(thrown)))

/**
 * Ends an exchange by what anybody may see. Nobody's key counts it, so all such answers together
 * have the turns and the room of one credential.
 */
export function answerPage(pipeline: Pipeline, exchange: Exchange, page: StaticPage): Response {
  const room = pipeline.answerBudget(pagesOrdinal)
  try {
    if (exchange.request.method !== 'HEAD') room.needs(page.bytes.length)
    const next = (): Promise<void> => pipeline.deps.turns.next(pagesOrdinal)
    return finish(pipeline, exchange, pipeline.answers.page(exchange, page, room, next))
  } catch (thrown) {
    room.release()
    return refuse(pipeline, exchange, thrown)
  }
}

/** Before anything is waited for: the connection may end meanwhile. */
function noteAddress({ deps, clientAddress }: Pipeline, exchange: Exchange): void {
  if (deps.asksMore !== true) return
  exchange.clientAddress ??= clientAddress(exchange.request, exchange.server)
}

/** What one request takes until it is answered. */
interface Leases {
  readonly body: BodyLease | undefined
  readonly intake: BodyReader | undefined
  readonly room: AnswerLease
  readonly seat: StoreTurn | undefined
}

function hold(pipeline: Pipeline, route: Route, { request }: Exchange, ordinal: number): Leases {
  const budget = route.body && pipeline.bodyBudget(ordinal)
  const { bodyBytesMax: bytesMax } = pipeline.deps.settings
  const intake = budget && makeBodyReader(request, { hold: budget, bytesMax })
  const seat = pipeline.storeTurns?.(ordinal, route)
  return { body: budget, intake, room: pipeline.answerBudget(ordinal), seat }
}

/** Nothing more is read, here or in the store. */
function releaseBody(exchange: Exchange, { body, intake, seat }: Leases): void {
  seat?.release()
  body?.release()
  exchange.isBodyRead = intake?.isRead() === true
}

function releaseAll(exchange: Exchange, held: Leases): void {
  releaseBody(exchange, held)
  held.room.release()
}

function answer(pipeline: Pipeline, exchange: Exchange, held: Leases, reply: Reply): Response {
  releaseBody(exchange, held)
  return finish(pipeline, exchange, pipeline.answers.reply(exchange, reply, held.room))
}

function answerFailed(
  pipeline: Pipeline,
  exchange: Exchange,
  held: Leases,
  thrown: unknown,
): Response {
  releaseAll(exchange, held)
  return refuse(pipeline, exchange, thrown)
}

/** The end of one request: runs it, and answers. */
const performerOf =
  (pipeline: Pipeline, exchange: Exchange, held: Leases, { tell }: Prepared): Perform =>
  (run, replay) => {
    try {
      const reply = tell(run, replay)
      if (!(reply instanceof Promise)) return answer(pipeline, exchange, held, reply) as never
      noteAddress(pipeline, exchange)
      return reply
        .then(later => answer(pipeline, exchange, held, later))
        .catch((thrown: unknown) => answerFailed(pipeline, exchange, held, thrown)) as never
    } catch (thrown) {
      return answerFailed(pipeline, exchange, held, thrown) as never
    }
  }

/** What a handler gets. */
interface Begun {
  readonly perform: Perform
  readonly params: Params
  readonly body?: unknown
}

function beginAs(
  pipeline: Pipeline,
  asking: RouteRequest,
  exchange: Exchange,
  first: Caller,
): MaybeLater<Begun> {
  exchange.isAdmitted = true
  const held = hold(pipeline, asking.route, exchange, first.credential.ordinal)
  const begun = (prepared: Prepared): Begun => ({
    perform: performerOf(pipeline, exchange, held, prepared),
    params: asking.params,
    body: prepared.body,
  })
  const giveBack = (thrown: unknown): never => {
    releaseAll(exchange, held)
    throw thrown
  }
  const { intake, room, seat } = held
  const receiving = { asking, intake, exchange, first, room, seat }
  return orElse(() => andThen(receive(pipeline, receiving), begun), giveBack)
}

/**
 * Admits the caller of one request, and reads what came with it.
 * @returns what its handler gets; what goes wrong is thrown
 */
function begin(
  pipeline: Pipeline,
  route: Route,
  exchange: Exchange,
  params: Params,
): MaybeLater<Begun> {
  const asking = { route, request: exchange.request, params, noted: exchange }
  exchange.params = params
  const caller = admit(pipeline, asking)
  const begun =
    caller instanceof Promise
      ? caller.then(later => beginAs(pipeline, asking, exchange, later))
      : beginAs(pipeline, asking, exchange, caller)
  if (begun instanceof Promise) noteAddress(pipeline, exchange)
  return begun
}

/*
 * The same as hooks of the framework: the macros `operation` and `page` begin an exchange and check
 * the address, and the first of them also admits and reads.
 *
 * A request that is refused ends before its handler, by an answer and not by an error: thrown
 * through the framework, a refusal of a wrong key takes a third more processor time, and hooks of a
 * host would have errors to answer that are not theirs.
 */

/** What a hook is given. @public the declarations of routes name it */
export interface Hooked {
  readonly request: Request
  /** The pattern under which the route was registered, with every prefix. */
  readonly route: string
}

/** HEAD is GET, of which the server sends no body (RFC 9110 section 9.3.2). */
const readAs = (method: string): string => (method === 'HEAD' ? 'GET' : method)

/** It must be finished. */
export function makeExchange(
  pipeline: Pipeline,
  request: Request,
  route?: string,
  operation?: Pick<Operation, 'name' | 'about'>,
): Exchange {
  const { tally, deps, server, nextTraceId } = pipeline
  const givenId = givenTraceId(deps, request)
  return tally.enter({
    request,
    server: server.origins,
    traceId: givenId ?? nextTraceId(),
    isTraceMade: givenId === undefined,
    isAdmitted: false,
    isBodyRead: false,
    isBodyAwaited: false,
    isKept: false,
    isInPieces: false,
    operation: operation?.name,
    about: operation?.about,
    route,
    bytesIn: 0,
    bytesOut: 0,
    startedMs: deps.observe === undefined ? 0 : deps.elapsedMs(),
    shown: deps.asksMore === true ? { reveal: 0, mask: 0, redact: 0 } : undefined,
  })
}

/** The operation where it was first asked for; prefixes of a host are part of its path. */
function makeRoute(operation: Operation, basePath: string) {
  let known: Route | undefined
  return ({ method }: Request, pattern: string): Route => {
    const path = pattern.startsWith(basePath) ? pattern.slice(basePath.length) : pattern
    return (known ??= { ...operation, method: readAs(method), path })
  }
}

/** Not a name, since a host may have given any name to something of its own. */
const refusal = Symbol('refusal')

/** What a request that was refused leaves in the place of what its handler would get. */
interface Refused {
  readonly [refusal]?: Response
}

/** The type is that of what a handler gets, since none runs after a refusal. */
const refused = (pipeline: Pipeline, exchange: Exchange, thrown: unknown): never =>
  ({ [refusal]: refuse(pipeline, exchange, thrown) }) satisfies Refused as never

const answerRefused = (context: object): never => (context as Refused)[refusal] as never

/**
 * Whether a request came in by a server, and not from within the process. By a socket of the file
 * system all are taken to, as nothing tells; so is one whose connection has ended.
 */
const hasSent = (server: Bun.Server<unknown> | null, request: Request): boolean =>
  server?.port === undefined || request.signal.aborted || server.requestIP(request) !== null

export function hooks(pipeline: Pipeline) {
  const { deps, operations, server } = pipeline
  return new Elysia()
    .onStart(({ server: listening }) => {
      server.origins = listening ?? undefined
      server.hasSent = request => hasSent(listening, request)
    })
    .macro({
      operation: (operation: Operation) => {
        const routeOf = makeRoute(operation, deps.settings.basePath)
        operations.set(operation.name, operation)
        return {
          detail: { operationId: operation.name },
          resolve({ request, route }: Hooked): MaybeLater<{ perform: Perform }> {
            const exchange = makeExchange(pipeline, request, route, operation)
            return orElse(
              () => {
                pipeline.enterAddress(request, server.origins)
                assertAddress(request, server)
                const params = readParams(route, request)
                return begin(pipeline, routeOf(request, route), exchange, params)
              },
              thrown => refused(pipeline, exchange, thrown),
            )
          },
          beforeHandle: answerRefused,
        }
      },
      page: (_isPage: true) => ({
        resolve({ request, route }: Hooked): { exchange: Exchange } {
          const exchange = makeExchange(pipeline, request, route)
          try {
            pipeline.enterAddress(request, server.origins)
            assertAddress(request, server)
            readParams(route, request)
            return { exchange }
          } catch (thrown) {
            return refused(pipeline, exchange, thrown)
          }
        },
        beforeHandle: answerRefused,
      }),
    })
}
