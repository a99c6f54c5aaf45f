/**
 * What happens around every operation, in the order of contract section 2:
 * authenticate (401), rate (429), kind of caller and permission held at all (403), a kept reply,
 * content type and body (415, 413, 400), handle.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import { holdsAnywhere } from '../domain/access.ts'
import { ApiError, unauthenticated } from '../errors.ts'
import { traceIdCharsMax, writeAttemptsMax } from '../limits.ts'
import { changedByOthers, CredentialMoved } from '../records/write.ts'
import type { Answers, Exchange } from './answers.ts'
import { readJsonBody } from './bodies.ts'
import { findReply, findSlot, runOnce } from './idempotency.ts'
import type { Params } from './paths.ts'
import { parseQuery } from './query.ts'
import type { Call, Reply, Route } from './route.ts'

export interface Pipeline {
  readonly deps: Deps
  readonly answers: Answers
  /**
   * The caller of a live key; `undefined` for every other text.
   * @param isFresh whether nothing that is kept will do
   */
  readonly authenticate: (key: string, isFresh?: boolean) => Promise<Caller | undefined>
  /** Whether the credential at that ordinal may call once more; one that may is counted. */
  readonly isWithinRate: (ordinal: number) => boolean
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

function assertPermitted(route: Route, caller: Caller): void {
  const { permission, callers } = route
  if (callers !== undefined && !callers.includes(caller.type)) {
    throw new ApiError('forbidden', `expected a credential of type ${callers.join(' or ')}`)
  }
  if (permission === undefined || holdsAnywhere(caller.grants, permission)) return
  throw new ApiError('forbidden', `expected a credential with the permission ${permission}`)
}

/** What the caller may do now: a body takes its time, and a write may find its credential changed. */
async function callerNow(pipeline: Pipeline, route: Route, request: Request, isFresh = false) {
  const caller = await findCaller(pipeline, request, isFresh)
  assertPermitted(route, caller)
  return caller
}

/** A write that finds its credential changed is decided anew: 401 or 403 only for what is gone. */
async function handleStanding(
  pipeline: Pipeline,
  route: Route,
  request: Request,
  call: Call,
): Promise<Reply> {
  let { caller } = call
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    try {
      return await route.handle({ ...call, caller })
    } catch (thrown) {
      if (!(thrown instanceof CredentialMoved)) throw thrown
    }
    caller = await callerNow(pipeline, route, request, true)
  }
  throw changedByOthers()
}

async function run(
  pipeline: Pipeline,
  route: Route,
  request: Request,
  first: Caller,
  params: Params,
): Promise<Reply> {
  const { deps } = pipeline
  const slot = await findSlot(deps, first, route, request, params)
  const kept = slot === undefined ? undefined : await findReply(deps, slot)
  if (kept !== undefined) return kept
  const query = parseQuery(route.query === undefined ? '' : request.url)
  const { bodyBytesMax } = deps.settings
  const body =
    route.body === undefined ? undefined : await readJsonBody(request, route.body, bodyBytesMax)
  const caller = body === undefined ? first : await callerNow(pipeline, route, request)
  const call = { caller, params, query, body }
  const handle = () => handleStanding(pipeline, route, request, call)
  return slot === undefined ? handle() : runOnce(deps, slot, handle)
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
  if (!pipeline.isWithinRate(caller.credential.ordinal)) {
    throw new ApiError('too_many_requests', 'This credential has made too many requests.')
  }
  assertPermitted(route, caller)
  exchange.isAdmitted = true
  return pipeline.answers.reply(exchange, await run(pipeline, route, request, caller, params))
}
