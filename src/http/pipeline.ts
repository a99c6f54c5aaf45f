/**
 * The path of every request: its checks in the order of contract section 2, its answer or problem,
 * and the end of its exchange.
 * @module
 */
import { shortBodyBytesMax } from '../limits/limits.ts'
import { briefBodyBytesMax, callerNowMs, pagesOrdinal } from '../limits/work-limits.ts'
import { nothingShown } from '../records/budgeted.ts'
import type { Caller } from '../rules/caller.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import { admit, callerNow, findCaller, type Admission } from './admission.ts'
import { auditRefusal, auditReply } from './audited.ts'
import type { AnswerBudget, BodyBudget } from './budgets.ts'
import type { Answers, StaticPage } from './answers.ts'
import { leavesMuch } from './bodies.ts'
import type { ClientAddress, EnterAddress } from './client-address.ts'
import { giveBack, type Exchange } from './exchange.ts'
import type { FloodGuard } from './flood-guard.ts'
import { openSlot, readIdempotencyKey } from './idempotency.ts'
import type { InFlight } from './in-flight.ts'
import { endConnection, isLast, type Connections, type KeepAlive } from './keep-alive.ts'
import type { Operation } from './operation.ts'
import { toApiError } from './problem.ts'
import { assertBodyType, bodyRuleFor, parseByRule, readBody } from './read-body.ts'
import { assertAddress, assertNoContentCoding, noQuery, readParams, readQuery } from './request.ts'
import { replayOperation, runOperation } from './run-operation.ts'
import { answeredBy, seenOf } from './seen.ts'
import { readInTurn, type StoreTurns } from './store-turns.ts'
import { readStatedReason } from './stated-reason.ts'
import { startStream } from './stream-answer.ts'
import { givenTraceId } from './trace-id.ts'

/** Parts that all requests share. */
export interface Pipeline extends Admission {
  /** Idempotency keys for which this process runs an operation, in hexadecimal. */
  readonly slotsUnderWay: Set<string>
  readonly answers: Answers
  readonly bodyBudget: BodyBudget
  readonly answerBudget: AnswerBudget
  /** Absent where no store is waited for. */
  readonly storeTurns: StoreTurns | undefined
  readonly countAdmitted: FloodGuard
  readonly countUnadmitted: FloodGuard
  readonly clientAddress: ClientAddress
  readonly enterAddress: EnterAddress
  readonly nextTraceId: () => string
  readonly inFlight: InFlight
  readonly keepAlive: KeepAlive
  /** Writes on which day keys were used; the serving process calls it now and then. */
  readonly writeKeyUses: () => Promise<void>
  /** By their names. */
  readonly operations: Map<string, Operation>
  /** The server, once one listens for this application. */
  readonly server: {
    origins: Connections | undefined
    /** True if a host's server, whose router marks what it has matched, has sent a request. */
    hasSent: ((request: Request) => boolean) | undefined
  }
}

/** Begins an exchange, which `handle` or `answer` ends. @param route the pattern of its address */
export function beginExchange(
  pipeline: Pipeline,
  request: Request,
  route?: string,
  operation?: Operation,
): Exchange {
  const { inFlight, deps, server, nextTraceId, clientAddress } = pipeline
  const givenId = givenTraceId(deps, request)
  return inFlight.enter({
    request,
    server: server.origins,
    traceId: givenId ?? nextTraceId(),
    isTraceMade: givenId === undefined,
    operation,
    route,
    startedMs: deps.observe === undefined ? 0 : deps.elapsedMs(),
    clientAddress: clientAddress(request, server.origins),
    shown: nothingShown(),
    rowsTested: { count: 0 },
    isServerEnding: inFlight.isEnding,
    params: {},
    query: noQuery,
    caller: undefined,
    statedReason: undefined,
    isAdmitted: false,
    isBodyAwaited: false,
    isBodyRead: false,
    isCounted: false,
    isKept: false,
    isAudited: false,
    isInPieces: false,
    stream: undefined,
    endStream: undefined,
    bytesIn: 0,
    bytesOut: 0,
    aboutId: undefined,
    refusal: undefined,
    detail: undefined,
    bodyLease: undefined,
    answerLease: undefined,
    storeTurn: undefined,
    inPageTurn: undefined,
    keyLease: undefined,
  })
}

/**
 * Ends an exchange, exactly once. Its connection ends as well if the caller does not wait for
 * answers (hardening H126), still sends much that nobody will read, has sent chunks, or gets a
 * refusal that says so; and if the server ends it.
 */
function finish(pipeline: Pipeline, x: Exchange, response: Response): Response {
  if (x.endStream === undefined) pipeline.inFlight.leave(x)
  const { request, isAdmitted, isBodyRead } = x
  pipeline.deps.observe?.(seenOf(pipeline.deps, x, response.status))
  pipeline.deps.explain?.(answeredBy(x, response))
  const count = isAdmitted ? pipeline.countAdmitted : pipeline.countUnadmitted
  const endsFlood = count(request, x.server)
  const isRefused = x.refusal !== undefined && response.headers.get('connection') === 'close'
  const leavesMore = !isBodyRead && leavesMuch(request)
  if (endsFlood || isRefused || leavesMore || isLast(request)) endConnection(response)
  else if (!x.isInPieces) pipeline.keepAlive.extend(x)
  return response
}

/** The one place where a thrown error becomes an answer; `addresses.ts` makes the 405 itself. */
function refuse(pipeline: Pipeline, x: Exchange, thrown: unknown): MaybeLater<Response> {
  const error = toApiError(thrown)
  const end = () => finish(pipeline, x, pipeline.answers.problem(x, error))
  const entering = auditRefusal(pipeline, x, error)
  return entering === undefined
    ? end()
    : entering.then(end, failed => unentered(pipeline, x, failed))
}

/** Refuses what could not be entered as telling of data: then nothing is told. */
function unentered(pipeline: Pipeline, x: Exchange, failed: unknown): MaybeLater<Response> {
  x.shown.isTold = false
  x.isAudited = false
  return refuse(pipeline, x, failed) // 507
}

/**
 * Checks every request before its key: the rate of the address that it comes from, if that is
 * bounded, and the address that it asks for.
 * @throws ApiError `too_many_requests`, `uri_too_long`, `invalid_request`, `not_found`
 */
export function assertReachable(pipeline: Pipeline, x: Exchange): void {
  pipeline.enterAddress(x.request, x.server)
  assertAddress(x.request, pipeline.server)
  if (x.route !== undefined) x.params = readParams(x.route, x.request)
}

/** Takes shares of this process's memory and of the store, which `giveBack` ends. */
function takeLeases(pipeline: Pipeline, operation: Operation, x: Exchange, caller: Caller): void {
  const { ordinal } = caller.credential
  if (operation.body !== undefined) x.bodyLease = pipeline.bodyBudget(caller)
  x.answerLease = pipeline.answerBudget(ordinal)
  const { storeTurns } = pipeline
  x.storeTurn = storeTurns?.(caller, operation)
  if (storeTurns === undefined || operation.readsPages === true) return
  const { method, permission } = operation
  const reading = { method, permission, readsPages: true } as const
  x.inPageTurn = read => readInTurn(storeTurns(caller, reading), read)
}

/** Begins what goes on, if its answer does and somebody reads it. */
function streamOf(pipeline: Pipeline, x: Exchange): ReadableStream<Uint8Array> | undefined {
  const { stream, request } = x
  if (stream === undefined || request.method === 'HEAD' || request.signal.aborted) return undefined
  return startStream(pipeline, x, stream)
}

/**
 * Answers a request for an operation, in the order of contract section 2. No body is read before
 * its caller is admitted; when it has come, the caller is looked up again. With an idempotency key,
 * the content type of the body is checked after what the key has done before.
 *
 * decision: in one function with its own `catch`. Thrown through two more async functions, the
 * refusal of a wrong key took 8 % more processor time in process.
 */
export async function handle(
  pipeline: Pipeline,
  operation: Operation,
  x: Exchange,
): Promise<Response> {
  const { deps, answers } = pipeline
  const { request } = x
  try {
    assertReachable(pipeline, x) // 429, 414, 400, 404
    const found = await findCaller(pipeline, operation, request)
    let caller = admit(pipeline, operation, x, found) // 401, 429, 403
    takeLeases(pipeline, operation, x, caller)
    x.statedReason = readStatedReason(deps, request) // 400
    assertNoContentCoding(request) // 415
    const key = readIdempotencyKey(deps, operation, request) // 400
    const rule = bodyRuleFor(operation, request)
    if (key === undefined) assertBodyType(rule, request) // 415
    const admittedMs = deps.elapsedMs()
    const bytes = await readBody(pipeline, rule, x) // 413, 503, 408, 400
    await x.storeTurn?.take() // 503
    if (operation.readsPages || (bytes?.length ?? 0) > briefBodyBytesMax) {
      await deps.turns.soon(caller)
    }
    const isLate = deps.elapsedMs() - admittedMs >= callerNowMs
    if (isLate) caller = await callerNow(pipeline, operation, x) // 401, 403
    if ((bytes?.length ?? 0) <= shortBodyBytesMax) deps.turns.noteRequest()
    const slot = key ? await openSlot(pipeline, operation, x, caller, key, bytes) : undefined // 409
    const parse = () => parseByRule(pipeline, rule, caller, bytes)
    if (slot?.done !== undefined) {
      const told = await replayOperation(pipeline, operation, x, caller, slot.done, parse)
      await callerNow(pipeline, operation, x) // 401, 403
      await auditReply(pipeline, operation, x, told) // 507
      return finish(pipeline, x, answers.reply(x, told))
    }
    x.query = readQuery(operation, request) // 400
    if (key !== undefined) assertBodyType(rule, request) // 415
    const body = await parse() // 400
    const rights = { caller, atMs: admittedMs }
    const reply = await runOperation(pipeline, operation, x, rights, slot, body)
    x.stream = reply.stream
    const entering = auditReply(pipeline, operation, x, reply)
    if (entering !== undefined) await entering // 507
    return finish(pipeline, x, answers.reply(x, reply, streamOf(pipeline, x)))
  } catch (thrown) {
    const refused = refuse(pipeline, x, thrown)
    return refused instanceof Promise ? await refused : refused
  } finally {
    giveBack(x)
  }
}

/** Answers a request for no operation: as `make` does, or with a refusal for what it throws. */
export async function answer(
  pipeline: Pipeline,
  x: Exchange,
  make: (x: Exchange) => MaybeLater<Response>,
): Promise<Response> {
  try {
    return finish(pipeline, x, await make(x))
  } catch (thrown) {
    const refused = refuse(pipeline, x, thrown)
    return refused instanceof Promise ? await refused : refused
  } finally {
    giveBack(x)
  }
}

/**
 * Answers with a page that anybody may see. It counts against no key, so all pages together have
 * the turns and the memory of one credential.
 */
export const answerPage = (
  pipeline: Pipeline,
  x: Exchange,
  read: (request: Request) => MaybeLater<StaticPage>,
): Promise<Response> =>
  answer(pipeline, x, async () => {
    assertReachable(pipeline, x)
    const page = await read(x.request)
    x.answerLease = pipeline.answerBudget(pagesOrdinal)
    if (x.request.method !== 'HEAD') x.answerLease.reserve(page.bytes.length)
    return pipeline.answers.page(x, page, () => pipeline.deps.turns.next(pagesOrdinal))
  })
