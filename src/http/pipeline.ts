/**
 * What happens around every operation, in the order of contract section 2:
 * authenticate (401), rate (429), kind of caller and permission held at all (403), content coding
 * (415), room for the body (413, 503), what an idempotency key has done before (409), content type
 * and body (415, 400), handle.
 *
 * Nobody's body is read before its caller is known and admitted. Up to then nothing is waited for,
 * so that the server has no time to keep much of it.
 * @module
 */
import { hexOf } from '../bytes.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import { holdsAnywhere } from '../domain/access.ts'
import { ApiError, tooManyRequests, unauthenticated } from '../errors.ts'
import { shortBodyBytesMax, traceIdCharsMax, writeAttemptsMax } from '../limits.ts'
import { AlongTaken, changedByOthers, CredentialMoved, type Standing } from '../records/write.ts'
import type { Room } from '../records/room.ts'
import type { Change } from '../store/contract.ts'
import type { AnswerBudget } from './answer-budget.ts'
import type { Answers, Exchange } from './answers.ts'
import { assertContentType, parseJsonBody } from './bodies.ts'
import type { BodyBudget } from './body-budget.ts'
import {
  findDone,
  keeperOf,
  notKept,
  readIdempotencyKey,
  slotOf,
  underWay,
  type Slot,
} from './idempotency.ts'
import { openIntake, type Intake } from './intake.ts'
import { assertNoContentCoding } from './message.ts'
import type { Params } from './paths.ts'
import { parseQuery } from './query.ts'
import type { RateLimit } from './rate.ts'
import type { Call, Done, Reply, Route } from './route.ts'

export interface Pipeline {
  readonly deps: Deps
  readonly answers: Answers
  /**
   * The caller of a live key; `undefined` for every other text.
   * @param isFresh whether nothing that is kept will do
   */
  readonly authenticate: (key: string, isFresh?: boolean) => Promise<Caller | undefined>
  readonly rate: RateLimit
  readonly bodyBudget: BodyBudget
  readonly answerBudget: AnswerBudget
  /** Of idempotency keys for which this process runs an operation, in hexadecimal. */
  readonly slotsUnderWay: Set<string>
  readonly nextTraceId: () => string
}

const keyHeader = 'svc-api-key'
const traceHeader = 'svc-trace-id'
const visibleAscii = /^[\x21-\x7e]+$/

/** Taken from the request when it is short visible ASCII, else made (contract section 1). */
export function traceIdOf(pipeline: Pipeline, request: Request): string {
  const given = request.headers.get(traceHeader)
  const usable = given !== null && given.length <= traceIdCharsMax && visibleAscii.test(given)
  return usable ? given : pipeline.nextTraceId()
}

/** The key that every header agrees on: which one of two counts is nobody's guess. */
function keyOf(request: Request, aliases: readonly string[]): string | undefined {
  let key = request.headers.get(keyHeader) ?? undefined
  for (const alias of aliases) {
    const other = request.headers.get(alias)
    if (other === null) continue
    if (key !== undefined && key !== other) return undefined
    key = other
  }
  return key
}

async function findCaller(
  { deps, authenticate }: Pipeline,
  request: Request,
  isFresh = false,
): Promise<Caller> {
  // No key is looked up like a wrong one: both refusals cost the same (contract section 2).
  const caller = await authenticate(keyOf(request, deps.settings.keyHeaders) ?? '', isFresh)
  if (caller !== undefined) return caller
  throw unauthenticated()
}

function assertPermitted(route: Route, caller: Caller, params: Params): void {
  const { permission, callers } = route
  if (callers !== undefined && !callers.includes(caller.type)) {
    throw new ApiError('forbidden', `expected a credential of type ${callers.join(' or ')}`)
  }
  if (permission === undefined || holdsAnywhere(caller.grants, permission)) return
  if (route.isOwn?.(caller, params) === true) return
  throw new ApiError('forbidden', `expected a credential with the permission ${permission}`)
}

/** What the caller may do now: a body takes time, and a write may find its credential changed. */
async function callerNow(
  pipeline: Pipeline,
  { route, request, params }: Pick<Asked, 'route' | 'request' | 'params'>,
  isFresh = false,
): Promise<Caller> {
  const caller = await findCaller(pipeline, request, isFresh)
  assertPermitted(route, caller, params)
  return caller
}

/** A write that finds its credential changed is decided anew: 401 or 403 only for what is gone. */
async function handleStanding(
  pipeline: Pipeline,
  asked: Asked,
  call: Call,
  along?: Standing['along'],
): Promise<Reply> {
  let { caller } = call
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    try {
      const housed = { ...caller, room: asked.room }
      return await asked.route.handle({ ...call, caller: along ? { ...housed, along } : housed })
    } catch (thrown) {
      if (!(thrown instanceof CredentialMoved)) throw thrown
    }
    caller = await callerNow(pipeline, asked, true)
  }
  throw changedByOthers()
}

/** One request for a route, by a caller that may ask for it. */
interface Asked {
  readonly route: Route
  readonly request: Request
  readonly params: Params
  readonly caller: Caller
  /** As it was sent; `undefined` where none is read. */
  readonly bytes: Uint8Array | undefined
  /** For what is opened to answer it, and for the answer. */
  readonly room: Room
}

const parsedBody = async ({ deps }: Pipeline, { route, bytes }: Asked): Promise<unknown> =>
  route.body === undefined || bytes === undefined
    ? undefined
    : parseJsonBody(bytes, route.body, deps.turns)

const queryOf = ({ route, request }: Asked) =>
  parseQuery(route.query === undefined ? '' : request.url)

/** The items of one request are counted once, however often its write is decided anew. */
function itemCounter({ rate }: Pipeline, { credential }: Caller): Call['countItems'] {
  let isCounted = false
  return count => {
    if (isCounted) return
    isCounted = true
    admit(rate.add(credential.ordinal, count - 1))
  }
}

async function callOf(pipeline: Pipeline, asked: Asked): Promise<Call> {
  const { route, request, params, caller } = asked
  const query = queryOf(asked)
  if (route.body !== undefined) {
    assertContentType(request.headers.get('content-type'), route.body.contentType)
  }
  const countItems = itemCounter(pipeline, caller)
  return { caller, params, query, body: await parsedBody(pipeline, asked), countItems }
}

async function replay(pipeline: Pipeline, asked: Asked, done: Done): Promise<Reply> {
  const { route, params, room } = asked
  if (route.replay === undefined) throw notKept()
  const reply = await route.replay({
    caller: { ...asked.caller, room },
    params,
    query: queryOf(asked),
    body: () => parsedBody(pipeline, asked),
    countItems: itemCounter(pipeline, asked.caller),
    done,
  })
  room.needs(reply.json?.length ?? 0)
  return { ...reply, isReplay: true }
}

/** What another process has done first stands in the way of the same in this one. */
const mayBeDone = (thrown: unknown): boolean =>
  thrown instanceof AlongTaken || (thrown instanceof ApiError && thrown.kind === 'conflict')

/** @throws what the operation throws, unless another process has done it meanwhile */
async function runForSlot(
  pipeline: Pipeline,
  asked: Asked,
  slot: Slot,
  first: readonly Change[],
): Promise<Reply> {
  const { deps } = pipeline
  let leaving = first
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    const along = keeperOf(deps, slot, leaving)
    try {
      return await handleStanding(pipeline, asked, await callOf(pipeline, asked), along)
    } catch (thrown) {
      if (!mayBeDone(thrown)) throw thrown
      const found = await findDone(deps, slot)
      const caller = await callerNow(pipeline, asked)
      if ('done' in found) return replay(pipeline, { ...asked, caller }, found.done)
      if (!(thrown instanceof AlongTaken)) throw thrown
      leaving = found.leaving
    }
  }
  throw changedByOthers()
}

/** @throws ApiError `conflict` while another request of this process is under way for the slot */
async function runOnce(pipeline: Pipeline, asked: Asked, slot: Slot): Promise<Reply> {
  const found = await findDone(pipeline.deps, slot)
  if ('done' in found) return replay(pipeline, asked, found.done)
  const key = hexOf(slot.unique)
  const { slotsUnderWay } = pipeline
  if (slotsUnderWay.has(key)) throw underWay()
  slotsUnderWay.add(key)
  try {
    return await runForSlot(pipeline, asked, slot, found.leaving)
  } finally {
    slotsUnderWay.delete(key)
  }
}

/** With an idempotency key the type of a body comes after what the key has done before. */
async function readBytes(
  { body }: Route,
  request: Request,
  intake: Intake,
  key: string | undefined,
): Promise<Uint8Array | undefined> {
  if (body === undefined) {
    await intake.drop()
    return undefined
  }
  if (key === undefined) assertContentType(request.headers.get('content-type'), body.contentType)
  return intake.read()
}

async function run(
  pipeline: Pipeline,
  named: Omit<Asked, 'caller' | 'bytes'>,
  intake: Intake,
  first: Caller,
): Promise<Reply> {
  const { deps } = pipeline
  const { route, request, params } = named
  assertNoContentCoding(request)
  const key = readIdempotencyKey(route, request)
  const bytes = await readBytes(route, request, intake, key)
  if (bytes === undefined || bytes.length <= shortBodyBytesMax) deps.turns.noteRequest()
  const caller = bytes === undefined ? first : await callerNow(pipeline, named)
  const asked = { ...named, caller, bytes }
  if (key === undefined) return handleStanding(pipeline, asked, await callOf(pipeline, asked))
  const body = bytes ?? new Uint8Array()
  return runOnce(pipeline, asked, slotOf(deps, caller, route, request, params, key, body))
}

/** @throws ApiError `too_many_requests` where there are seconds to wait */
function admit(waitSeconds: number): void {
  if (waitSeconds === 0) return
  throw tooManyRequests('This credential has made too many requests.', waitSeconds)
}

/** @returns the answer to one request of a route; what goes wrong is thrown */
export async function answerRoute(
  pipeline: Pipeline,
  route: Route,
  exchange: Exchange,
  params: Params,
): Promise<Response> {
  const { request } = exchange
  const caller = await findCaller(pipeline, request)
  admit(pipeline.rate.enter(caller.credential.ordinal))
  assertPermitted(route, caller, params)
  exchange.isAdmitted = true
  const hold = pipeline.bodyBudget(caller.credential.ordinal)
  const intake = openIntake(request, { hold, bytesMax: pipeline.deps.settings.bodyBytesMax })
  const room = pipeline.answerBudget(caller.credential.ordinal)
  try {
    const reply = await run(pipeline, { route, request, params, room }, intake, caller)
    return pipeline.answers.reply(exchange, reply, room)
  } catch (thrown) {
    room.release()
    throw thrown
  } finally {
    hold.release()
    exchange.isBodyRead = intake.isRead()
  }
}
