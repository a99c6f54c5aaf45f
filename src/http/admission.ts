/**
 * Admission: finds the caller of a live key, and checks its rate and permission.
 *
 * Source: contract section 2.
 * @module
 */
import type { Deps } from '../deps.ts'
import { holdsAnywhere } from '../rules/access.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError, tooManyRequests, unauthenticated } from '../lib/errors.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import type { Exchange } from './exchange.ts'
import { isReading, type Operation } from './operation.ts'
import type { RateLimit } from './rate-limit.ts'
import { agreedHeader, headerNamesOf, type Params } from './request.ts'

export interface Admission {
  readonly deps: Deps
  /**
   * The caller of a live key; `undefined` for every other text.
   * @param isFresh the store is read, even if the caller is cached
   * @param isPatient the store is waited for as long as a write may take
   */
  readonly authenticate: (
    key: string,
    isFresh?: boolean,
    isPatient?: boolean,
  ) => MaybeLater<Caller | undefined>
  readonly rate: RateLimit
}

/** A missing key is looked up like a wrong one: both refusals cost the same. */
export function findCaller(
  { deps, authenticate }: Admission,
  operation: Operation,
  request: Request,
  isFresh = false,
): MaybeLater<Caller | undefined> {
  const key = agreedHeader(request, headerNamesOf(deps.settings).key) ?? ''
  const isPatient = !isReading(operation)
  return andThen(authenticate(key, isFresh, isPatient), caller => {
    if (caller?.hasManyConditions !== true) return caller
    // It counts what has happened to the caller while it waited.
    return deps.turns.next(caller).then(() => authenticate(key, false, isPatient))
  })
}

function assertPermitted(operation: Operation, caller: Caller, params: Params): void {
  const { permission, callers } = operation
  if (callers !== undefined && !callers.includes(caller.type)) {
    throw new ApiError('forbidden', `expected a credential of type ${callers.join(' or ')}`)
  }
  if (permission === undefined || holdsAnywhere(caller.grants, permission)) return
  if (operation.isOwn?.(caller, params) === true) return
  throw new ApiError('forbidden', `expected a credential with the permission ${permission}`)
}

/** @throws ApiError `too_many_requests` if there are seconds to wait */
function assertNoWait(waitSeconds: number): void {
  if (waitSeconds === 0) return
  throw tooManyRequests(
    'This credential has made too many requests: wait as Retry-After says.',
    waitSeconds,
  )
}

/**
 * Lets in the caller that was found, which counts against its rate.
 * @throws ApiError `unauthenticated`, `too_many_requests`, `forbidden`, in this order
 */
export function admit(
  { rate }: Admission,
  operation: Operation,
  x: Exchange,
  caller: Caller | undefined,
): Caller {
  if (caller === undefined) throw unauthenticated()
  x.caller = caller
  assertNoWait(rate.enter(caller.credential.ordinal))
  assertPermitted(operation, caller, x.params)
  x.isAdmitted = true
  return caller
}

/** Checks the caller again: a body takes time, and a write may find its credential changed. */
export async function callerNow(
  admission: Admission,
  operation: Operation,
  { request, params }: Exchange,
  isFresh = false,
): Promise<Caller> {
  const caller = await findCaller(admission, operation, request, isFresh)
  if (caller === undefined) throw unauthenticated()
  assertPermitted(operation, caller, params)
  return caller
}

/**
 * Counts the items of a request, once however often its write is decided anew.
 * @throws ApiError `too_many_requests`
 */
export function countItems({ rate }: Admission, x: Exchange, caller: Caller, count: number): void {
  if (x.isCounted) return
  x.isCounted = true
  assertNoWait(rate.add(caller.credential.ordinal, count - 1))
}
