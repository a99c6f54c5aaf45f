/**
 * What happens around every operation, in the order of contract section 2:
 * authenticate (401), permission held at all (403), content type and body (415, 413, 400), handle.
 *
 * @module
 */
import type { Caller } from '../domain/caller.ts'
import { holdsAnywhere } from '../domain/access.ts'
import type { Log } from '../deps.ts'
import { ApiError } from '../errors.ts'
import { traceIdCharsMax, urlBytesMax } from '../limits.ts'
import { readJsonBody } from './bodies.ts'
import { problemResponse, toApiError } from './problem.ts'
import { parseQuery } from './query.ts'
import type { Reply, Route } from './route.ts'

export interface Pipeline {
  /** The caller of a live key; `undefined` for every other text. */
  readonly authenticate: (key: string) => Promise<Caller | undefined>
  readonly nextTraceId: () => string
  readonly log: Log
}

const keyHeader = 'svc-api-key'
const traceHeader = 'svc-trace-id'
const jsonType = 'application/json; charset=utf-8'
const visibleAscii = /^[\x21-\x7e]+$/

/** Taken from the request when it is short visible ASCII, else made (contract section 1). */
export function traceIdOf(pipeline: Pipeline, request: Request): string {
  const given = request.headers.get(traceHeader)
  const usable = given !== null && given.length <= traceIdCharsMax && visibleAscii.test(given)
  return usable ? given : pipeline.nextTraceId()
}

/** One body for no key, an unknown, an expired and a deleted one. */
const unauthenticated = () =>
  new ApiError('unauthenticated', 'expected a live API key in the header SVC-API-KEY')

async function findCaller(pipeline: Pipeline, request: Request): Promise<Caller> {
  const key = request.headers.get(keyHeader)
  const caller = key === null ? undefined : await pipeline.authenticate(key)
  if (caller === undefined) throw unauthenticated()
  return caller
}

function assertPermitted(route: Route, caller: Caller): void {
  const { permission } = route
  if (permission === undefined || holdsAnywhere(caller.grants, permission)) return
  throw new ApiError('forbidden', `expected a credential with the permission ${permission}`)
}

function respond(reply: Reply, traceId: string): Response {
  const headers: Record<string, string> = { 'cache-control': 'no-store', [traceHeader]: traceId }
  if (reply.location !== undefined) headers['location'] = reply.location
  if (reply.json === undefined) return new Response(null, { status: reply.status, headers })
  headers['content-type'] = jsonType
  return new Response(reply.json, { status: reply.status, headers })
}

type Params = Readonly<Record<string, string>>

async function answer(
  pipeline: Pipeline,
  route: Route,
  request: Request,
  params: Params,
): Promise<Reply> {
  if (request.url.length > urlBytesMax) {
    throw new ApiError('uri_too_long', `expected an address of at most ${urlBytesMax} bytes`)
  }
  const caller = await findCaller(pipeline, request)
  assertPermitted(route, caller)
  const query = parseQuery(route.query === undefined ? '' : request.url)
  const body = route.body === undefined ? undefined : await readJsonBody(request, route.body)
  return route.handle({ caller, params, query, body })
}

/** The handler of one route: never throws, never echoes. */
export const handlerOf =
  (pipeline: Pipeline, route: Route) =>
  async (request: Request, params: Params): Promise<Response> => {
    const traceId = traceIdOf(pipeline, request)
    try {
      return respond(await answer(pipeline, route, request, params), traceId)
    } catch (thrown) {
      return problemResponse(toApiError(thrown), traceId, pipeline.log)
    }
  }
