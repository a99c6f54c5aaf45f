/**
 * What comes with a request whose caller was admitted: its body, and its turn at the store.
 * @module
 */
import { shortBodyBytesMax } from '../limits/limits.ts'
import { callerNowMs } from '../limits/work-limits.ts'
import type { Caller } from '../rules/caller.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import type { Budget } from '../records/budgeted.ts'
import { callerNow, itemCounter, type RouteRequest } from './admission.ts'
import type { Exchange } from './answers.ts'
import { assertContentType, bringsBody, dropBody, type BodyReader } from './bodies.ts'
import {
  readIdempotencyKey,
  slotOf,
  prepare,
  prepareOnce,
  type AdmittedRequest,
  type Prepared,
  type Runner,
} from './idempotency.ts'
import { assertNoContentCoding } from './request.ts'
import type { StoreTurn } from './store-turns.ts'

/** With an idempotency key the type of a body comes after what the key has done before. */
function readBytes(
  { route: { body }, request }: RouteRequest,
  intake: BodyReader | undefined,
  key: string | undefined,
): MaybeLater<Uint8Array | undefined> {
  const isLeftOut = body?.isOptional === true && !bringsBody(request) && request.body === null
  if (body === undefined || intake === undefined || isLeftOut) {
    return andThen(dropBody(request), () => undefined)
  }
  if (key === undefined) assertContentType(request.headers.get('content-type'), body.contentType)
  return intake.read()
}

/** What a request is read for. */
export interface Receiving {
  readonly asking: RouteRequest
  readonly intake: BodyReader | undefined
  readonly exchange: Exchange
  /** Who was admitted, before the body had come. */
  readonly first: Caller
  readonly room: Budget
  readonly seat: StoreTurn | undefined
}

/** Who was admitted, or who it is now where that is no moment ago. */
function callerSince(
  runner: Runner,
  { asking, first }: Receiving,
  admittedMs: number,
): MaybeLater<Caller> {
  const isNow = runner.deps.elapsedMs() - admittedMs < callerNowMs
  return isNow ? first : callerNow(runner, asking)
}

/** What is asked for, by the operation, when the body has come and it may begin. */
export function receive(runner: Runner, receiving: Receiving): MaybeLater<Prepared> {
  const { deps } = runner
  const { asking, intake, exchange, first, seat } = receiving
  assertNoContentCoding(asking.request)
  const key = readIdempotencyKey(deps, asking.route, asking.request)
  const bytes = readBytes(asking, intake, key)
  const turn = bytes === undefined ? seat?.take() : undefined
  if (bytes === undefined && turn === undefined) {
    return prepareFor(runner, receiving, first, undefined, key)
  }
  const admittedMs = deps.elapsedMs()
  exchange.isBodyAwaited = bytes !== undefined
  return andThen(bytes, async read => {
    exchange.isBodyAwaited = false
    exchange.bytesIn = read?.length ?? 0
    const begun = turn ?? seat?.take()
    if (begun !== undefined) await begun
    const caller = callerSince(runner, receiving, admittedMs)
    const now = caller instanceof Promise ? await caller : caller
    return prepareFor(runner, receiving, now, read, key)
  })
}

function prepareFor(
  runner: Runner,
  { asking, room, exchange: { shown } }: Receiving,
  caller: Caller,
  bytes: Uint8Array | undefined,
  key: string | undefined,
): MaybeLater<Prepared> {
  const { deps } = runner
  const { route, request, params } = asking
  if (bytes === undefined || bytes.length <= shortBodyBytesMax) deps.turns.noteRequest()
  const countItems = itemCounter(runner, caller)
  const asked: AdmittedRequest = { route, request, params, caller, bytes, countItems, room, shown }
  if (key === undefined) return prepare(runner, asked)
  const body = bytes ?? new Uint8Array()
  return prepareOnce(runner, asked, slotOf(deps, caller, route, request, params, key, body))
}
