/**
 * Admission: finds the caller of a live key, and checks its rate and permission.
 * @module
 */
import { hexOf } from '../lib/bytes.ts'
import { rateBucketsMax, strangersPerTurnMax, traceIdCharsMax } from '../limits/limits.ts'
import { credentialCacheEntriesMax, credentialCacheMsMax } from '../limits/work-limits.ts'
import type { Deps } from '../deps.ts'
import { holdsAnywhere } from '../rules/access.ts'
import type { Caller, Loaded } from '../rules/caller.ts'
import type { Store } from '../store/contract.ts'
import { ApiError, tooManyRequests, unauthenticated } from '../lib/errors.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Exchange } from './exchange.ts'
import type { Origin, Origins } from './keep-alive.ts'
import { isReading, type Operation } from './operation.ts'
import { agreedHeader, headerNamesOf, type Params, visibleAscii } from './request.ts'

/*
 * The rate limit of each credential: a token bucket, by a clock that always goes on.
 *
 * A call counts as one, and a bulk operation for each of its items. decision: one with more items
 * than a bucket holds may owe the rest, where nothing is owed yet; later calls wait for it.
 * Counted in this process alone; what is counted is bounded, and the least recent credential is
 * forgotten first. Source: contract sections 2 and 14.
 */

interface TokenBucket {
  /** Below 0 is owed. */
  readonly tokens: number
  readonly atMs: number
}

/** Both give the seconds after which to try again; 0 where it is free now, and is counted. */
interface RateLimit {
  readonly enter: (ordinal: number) => number
  /** Counts the items of a call that has entered. */
  readonly add: (ordinal: number, count: number) => number
}

function forgetOldest(buckets: Map<number, TokenBucket>): void {
  const [oldest] = buckets.keys()
  if (oldest !== undefined) buckets.delete(oldest)
}

/** @param perSecond of one credential in a second, at once or spread; `undefined`: any number */
export function makeRateLimit(perSecond: number | undefined, elapsedMs: () => number): RateLimit {
  if (perSecond === undefined) return { enter: () => 0, add: () => 0 }
  const buckets = new Map<number, TokenBucket>()
  const take = (ordinal: number, count: number, mayOwe: boolean): number => {
    const atMs = elapsedMs()
    const known = buckets.get(ordinal)
    const gained = known === undefined ? 0 : ((atMs - known.atMs) / 1_000) * perSecond
    const tokens = known === undefined ? perSecond : Math.min(perSecond, known.tokens + gained)
    const isFree = tokens >= count || (mayOwe && tokens >= 0)
    // Set again, it is the most recent one of the map.
    buckets.delete(ordinal)
    buckets.set(ordinal, { tokens: isFree ? tokens - count : tokens, atMs })
    if (buckets.size > rateBucketsMax) forgetOldest(buckets)
    return isFree ? 0 : Math.max(1, Math.ceil((Math.min(count, perSecond) - tokens) / perSecond))
  }
  return {
    enter: ordinal => take(ordinal, 1, false),
    add: (ordinal, count) => (count <= 0 ? 0 : take(ordinal, count, count > perSecond - 1)),
  }
}

/*
 * The guard of an event loop turn against requests that are not admitted: without a live key, above
 * its rate or without the permission.
 *
 * The server runs whatever one read of a connection holds, and reads on while more comes: requests
 * that are sent without waiting for answers keep all others waiting, for seconds. So from a bound
 * on, a connection that brings one such request right behind another is ended with an answer, and
 * what it sent behind that is never run. Who waits for answers brings one a turn, and is never
 * ended, also where a proxy sends for many; nor is a connection that nothing tells from another.
 * Source: hardening H126.
 */

/** Counts a request. @returns whether its connection must end with the answer */
export type FloodGuard = (request: Request, origins: Origins | undefined) => boolean

export function makeFloodGuard(): FloodGuard {
  let count = 0
  let last: Origin | null = null
  const beginTurn = (): void => {
    count = 0
  }
  return (request, origins) => {
    // Runs once all that is read in this turn has been answered, or waits for something.
    if (count === 0) setImmediate(beginTurn)
    count += 1
    if (count < strangersPerTurnMax || origins === undefined) return false
    const origin = origins.requestIP(request)
    const isSame = origin?.port === last?.port && origin?.address === last?.address
    last = origin
    return origin !== null && isSame && count > strangersPerTurnMax
  }
}

/*
 * The callers of live keys, kept while the store's generation stands.
 *
 * So a change that bumps the generation is seen by the next look-up, in every process that shares
 * the store. What has expired is looked up like what was never there, so that refusing both costs
 * the same (contract section 2). In a database of others its administrator may hold the generation
 * still, so nothing is kept for long.
 *
 * decision: keys are kept as they are. Digesting them for each request cost 5 % of a read, and who
 * reads this process's memory finds them in requests too. Only keys that were found live are kept:
 * these are random, so no caller decides what they are hashed to.
 */

/** Characters by which a kept key is found: some 46 random bits of base58. */
const keySlotChars = 8

const holds = ({ keepUntilMs }: Loaded<unknown>, nowMs: number): boolean =>
  keepUntilMs === undefined || nowMs < keepUntilMs

/** Few keys share their last characters; of those that do, the last one found is kept. */
const cacheSlotOf = (key: string): string => key.slice(-keySlotChars)

/** Takes as long whatever differs: an answer's time says nothing of how much of a key is right. */
function isSameKey(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

interface Entry<T> extends Loaded<T> {
  readonly key: string
}

/**
 * Returns a look-up of a key: `isFresh` reads it anew even if it is kept, `isPatient` waits as long
 * as a write may.
 * @param load reads the store, for the instant of the look-up; gives `undefined` where there is
 * nothing, which is not kept
 */
export function cacheByGeneration<T>(
  { store, now }: { readonly store: Pick<Store, 'generation'>; readonly now: () => number },
  load: (key: string, nowMs: number) => Promise<Loaded<T> | undefined>,
): (key: string, isFresh?: boolean, isPatient?: boolean) => MaybeLater<T | undefined> {
  let generation = -1
  let cached = new Map<string, Entry<T>>()

  async function loadAnew(key: string, nowMs: number): Promise<T | undefined> {
    // A key that is read under this generation must not land in the map of a later one.
    const into = cached
    const loaded = await load(key, nowMs)
    if (loaded !== undefined && loaded.keepUntilMs !== 0) {
      const keepUntilMs = Math.min(loaded.keepUntilMs ?? Infinity, nowMs + credentialCacheMsMax)
      into.set(cacheSlotOf(key), { ...loaded, key, keepUntilMs })
    }
    return loaded?.value
  }

  function findAt(current: number, key: string, isFresh: boolean): MaybeLater<T | undefined> {
    if (current !== generation || cached.size >= credentialCacheEntriesMax) {
      generation = current
      cached = new Map()
    }
    const nowMs = now()
    const known = isFresh ? undefined : cached.get(cacheSlotOf(key))
    if (known !== undefined && isSameKey(known.key, key) && holds(known, nowMs)) return known.value
    return loadAnew(key, nowMs)
  }

  return (key, isFresh = false, isPatient = false) => {
    const current = store.generation(isPatient)
    return current instanceof Promise
      ? current.then(known => findAt(known, key, isFresh))
      : findAt(current, key, isFresh)
  }
}

/*
 * The checks of a caller: a live key, within its rate, with the permission.
 *
 * Source: contract section 2.
 */

export interface Admission {
  readonly deps: Deps
  /**
   * The caller of a live key; `undefined` for every other text.
   * @param isFresh whether nothing that is kept will do
   * @param isPatient whether a store is waited for as long as by a write
   */
  readonly authenticate: (
    key: string,
    isFresh?: boolean,
    isPatient?: boolean,
  ) => MaybeLater<Caller | undefined>
  readonly rate: RateLimit
}

/** Unique for this process and every other: a random prefix and a count. */
export function traceIds({ randomBytes }: Deps): () => string {
  const prefix = hexOf(randomBytes(8))
  let count = 0
  return () => `${prefix}-${(count += 1).toString(36)}`
}

/** That of the request where it is short visible ASCII; else one is made (contract section 1). */
export function givenTraceId({ settings }: Deps, { headers }: Request): string | undefined {
  for (const name of headerNamesOf(settings).trace) {
    const given = headers.get(name)
    if (given !== null && given.length <= traceIdCharsMax && visibleAscii.test(given)) return given
  }
  return undefined
}

/** No key is looked up like a wrong one: both refusals cost the same (contract section 2). */
export function findCaller(
  { deps, authenticate }: Admission,
  operation: Operation,
  request: Request,
  isFresh = false,
): MaybeLater<Caller | undefined> {
  const key = agreedHeader(request, headerNamesOf(deps.settings).key) ?? ''
  return authenticate(key, isFresh, !isReading(operation))
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

/** @throws ApiError `too_many_requests` where there are seconds to wait */
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
