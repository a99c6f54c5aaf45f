/**
 * Who may ask for what: the caller of a key, within its rate, with a permission that it holds.
 *
 * Source: contract section 2.
 * @module
 */
import type { Deps } from '../deps.ts'
import { holdsAnywhere } from '../rules/access.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError, tooManyRequests, unauthenticated } from '../errors.ts'
import { traceIdCharsMax } from '../limits.ts'
import { andThen, type MaybeLater } from '../maybe-later.ts'
import { agreedHeader, headerNamesOf } from './header-names.ts'
import type { Params } from './paths.ts'
import type { RateLimit } from './rate.ts'
import type { Call, Route } from './operation.ts'

export interface Admission {
  readonly deps: Deps
  /**
   * The caller of a live key; `undefined` for every other text.
   * @param isFresh whether nothing that is kept will do
   */
  readonly authenticate: (key: string, isFresh?: boolean) => MaybeLater<Caller | undefined>
  readonly rate: RateLimit
}

/** What is asked for. */
export interface Asking {
  readonly route: Route
  readonly request: Request
  readonly params: Params
}

const visibleAscii = /^[\x21-\x7e]+$/

/** Taken from the request when it is short visible ASCII, else made (contract section 1). */
export function traceIdOf(
  { deps, nextTraceId }: Pick<Admission, 'deps'> & { readonly nextTraceId: () => string },
  { headers }: Request,
): string {
  for (const name of headerNamesOf(deps.settings).trace) {
    const given = headers.get(name)
    if (given !== null && given.length <= traceIdCharsMax && visibleAscii.test(given)) return given
  }
  return nextTraceId()
}

/** No key is looked up like a wrong one: both refusals cost the same (contract section 2). */
const findCaller = ({ deps, authenticate }: Admission, request: Request, isFresh = false) =>
  authenticate(agreedHeader(request, headerNamesOf(deps.settings).key) ?? '', isFresh)

function assertPermitted(route: Route, caller: Caller, params: Params): void {
  const { permission, callers } = route
  if (callers !== undefined && !callers.includes(caller.type)) {
    throw new ApiError('forbidden', `expected a credential of type ${callers.join(' or ')}`)
  }
  if (permission === undefined || holdsAnywhere(caller.grants, permission)) return
  if (route.isOwn?.(caller, params) === true) return
  throw new ApiError('forbidden', `expected a credential with the permission ${permission}`)
}

/** @throws ApiError `too_many_requests` where there are seconds to wait */
function assertNoWait(waitSeconds: number): void {
  if (waitSeconds === 0) return
  throw tooManyRequests('This credential has made too many requests.', waitSeconds)
}

/**
 * The caller of a request, which counts against its rate.
 * @throws ApiError `unauthenticated`, `too_many_requests`, `forbidden`, in this order
 */
export const admit = (
  admission: Admission,
  { route, request, params }: Asking,
): MaybeLater<Caller> =>
  andThen(findCaller(admission, request), caller => {
    if (caller === undefined) throw unauthenticated()
    assertNoWait(admission.rate.enter(caller.credential.ordinal))
    assertPermitted(route, caller, params)
    return caller
  })

/** What the caller may do now: a body takes time, and a write may find its credential changed. */
export async function callerNow(
  admission: Admission,
  { route, request, params }: Asking,
  isFresh = false,
): Promise<Caller> {
  const caller = await findCaller(admission, request, isFresh)
  if (caller === undefined) throw unauthenticated()
  assertPermitted(route, caller, params)
  return caller
}

/** The items of one request are counted once, however often its write is decided anew. */
export function itemCounter({ rate }: Admission, { credential }: Caller): Call['countItems'] {
  let isCounted = false
  return count => {
    if (isCounted) return
    isCounted = true
    assertNoWait(rate.add(credential.ordinal, count - 1))
  }
}
