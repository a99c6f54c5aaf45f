/**
 * Idempotency keys: what the first success of a key has done is kept, and told to every repetition.
 *
 * A key counts for one credential, method, path and query. What is kept is a sealed row of the
 * tenant that lands in the very write of the operation: a caller who repeats after a crash finds
 * the first effect or none, and of two processes one write lands. It holds ids and verdicts, never
 * data: answers are made anew from what stands. A failure leaves nothing.
 * decision: the credential is the row of the application or session: the holder of its new key
 * repeats what it did with the old one, and sees what it may see now. Source: contract section 1.
 * @module
 */
import { hexOf, utf8 } from '../lib/bytes.ts'
import { uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError, invalid } from '../lib/errors.ts'
import {
  idempotencyEffectBytesMax,
  idempotencyKeyCharsMax,
  idempotencyKeptMs,
  retryAfterSeconds,
} from '../limits/limits.ts'
import { writeAttemptsMax } from '../limits/work-limits.ts'
import { isExpired } from '../records/deadline.ts'
import { unsealEveryValue, unsealRow, sealRow, type RowSealer } from '../records/seal-row.ts'
import {
  standing,
  type Effect,
  AlongTaken,
  changedByOthers,
  CredentialMoved,
} from '../records/write-rows.ts'
import type { Budgeted, Budget } from '../records/budgeted.ts'
import type { Change, Row } from '../store/contract.ts'
import {
  agreedHeader,
  headerNamesOf,
  parseQuery,
  type Params,
  type QueryParameters,
  rawQuery,
  visibleAscii,
} from './request.ts'
import {
  isKept,
  type EarlierEffect,
  type Route,
  type OperationCall,
  type KeptRoute,
} from './operation.ts'
import type { Repetition, Replay, Reply, RunOperation } from './operation.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import { callerNow, type Admission, type RouteRequest } from './admission.ts'
import { assertContentType, parseJsonBody } from './bodies.ts'
import { digestOf, documentText } from './body-digest.ts'
import { assertParameterNames } from './strict-body.ts'

/** The place where it is kept what one key has done. */
interface Slot {
  readonly sealer: RowSealer
  readonly unique: Uint8Array
  /** Hexadecimal digest of the body as it was sent. */
  readonly body: string
  /** Of the JSON document that it is, however written; `undefined` where it is none. */
  readonly document: () => Promise<string | undefined>
}

const shownName = 'SVC-IDEMPOTENCY-KEY'
/**
 * The key of a request; `undefined` without one, and for methods that need none.
 * @throws ApiError `invalid_request` for a key that is too long or not visible ASCII, and for two
 *   that differ
 */
export function readIdempotencyKey(
  { settings }: Pick<Deps, 'settings'>,
  route: KeptRoute,
  request: Request,
): string | undefined {
  if (!isKept(route)) return undefined
  const key = agreedHeader(request, headerNamesOf(settings).idempotency)
  if (key === undefined) return undefined
  if (key === null) throw invalid(shownName, 'expected one key: the headers for it differ')
  if (key.length <= idempotencyKeyCharsMax && visibleAscii.test(key)) return key
  const expected = `expected 1 to ${idempotencyKeyCharsMax} visible ASCII characters`
  throw invalid(shownName, expected)
}

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'idempotency',
})

/**
 * @param params what the pattern of the route holds: a trailing slash is nothing
 * @param body as it was sent; empty where none is read
 */
export function slotOf(
  { keys, turns }: Pick<Deps, 'keys' | 'turns'>,
  { tenantId, credential }: Pick<Caller, 'tenantId' | 'credential'>,
  route: Pick<Route, 'method' | 'path'>,
  request: Pick<Request, 'url'>,
  params: Params,
  key: string,
  body: Uint8Array,
): Slot {
  const what = [route.method, key, route.path, ...Object.values(params), rawQuery(request.url)]
  const fields = [String(credential.ordinal), ...what]
  const letOthersIn = () => turns.next(credential.ordinal)
  let document: Promise<string | undefined> | undefined
  return {
    // A rotation makes other scopes, and a slot outlives the try that found it.
    get sealer() {
      return sealerOf(keys, tenantId)
    },
    unique: uniqueDigest(keys.tenant(tenantId), 'idempotency', ...fields),
    body: digestOf(keys, tenantId, key, 'bytes', body),
    document: () =>
      (document ??= documentText(body, letOthersIn).then(
        text => text && digestOf(keys, tenantId, key, 'document', text),
      )),
  }
}

/** The value of a row. */
interface IdempotencyRecord {
  readonly body: string
  /** Absent where the body was no JSON. */
  readonly document?: string
  /** Absent where it was too long. */
  readonly effect?: Effect
}

const conflict = (message: string) => new ApiError('conflict', message)

/** The one conflict that passes by itself: so it says when to ask again. */
const underWay = () =>
  new ApiError(
    'conflict',
    'A request with this idempotency key is under way.',
    undefined,
    undefined,
    retryAfterSeconds,
  )

const notKept = () => conflict('This was done before, and its answer could not be kept.')

/** Clients write a retry anew: it is the same where it is the same document. */
const isSameBody = async (slot: Slot, { body, document }: IdempotencyRecord): Promise<boolean> =>
  body === slot.body || (document !== undefined && document === (await slot.document()))

async function doneBy(slot: Slot, row: Row): Promise<EarlierEffect> {
  const kept = JSON.parse(unsealRow(slot.sealer, row).text(0)) as IdempotencyRecord
  const { effect } = kept
  if (!(await isSameBody(slot, kept))) throw conflict('idempotency key used with another body')
  if (effect === undefined) throw notKept()
  return { effect, ordinal: row.ordinal }
}

/** What was done before, or what must leave for what will be. */
type SlotLookup = { readonly done: EarlierEffect } | { readonly leaving: readonly Change[] }

/** @throws ApiError `conflict` where it was done with another body, or cannot be told again */
async function findDone({ store, settled }: Deps, slot: Slot): Promise<SlotLookup> {
  const row = await store.find(slot.unique)
  if (row === undefined) return { leaving: [] }
  if (!isExpired(row, settled())) return { done: await doneBy(slot, await standing(store, row)) }
  return { leaving: [{ remove: row.ordinal, ifVersion: row.version }] }
}

/** @returns what lands along with an operation: its effect, in the place of what leaves */
const keeperOf =
  (deps: Deps, { slot, document, leaving }: Keeping) =>
  (effect: Effect): readonly Change[] => {
    const isShort = Buffer.byteLength(JSON.stringify(effect)) <= idempotencyEffectBytesMax
    const kept: IdempotencyRecord = {
      body: slot.body,
      ...(document === undefined ? {} : { document }),
      ...(isShort ? { effect } : {}),
    }
    const deadlineMs = deps.now() + idempotencyKeptMs
    const rowHeader = { uniques: [slot.unique], terms: [], deadlineMs }
    const values = [utf8(JSON.stringify(kept))]
    return [...leaving, { insert: sealRow(slot.sealer, deps.randomBytes, rowHeader, 1, values) }]
  }

/**
 * Opens all parts of a row.
 * @returns whether it can be found and ends by itself
 * @throws ApiError `storage_corrupt` when it is none of an idempotency key of that tenant
 */
export function isKeptEffect(keys: Keys, tenantId: string, row: Row): boolean {
  const sealer = sealerOf(keys, tenantId)
  unsealEveryValue(sealer, row)
  return row.uniques.length === 1 && row.terms.length === 0 && row.deadlineMs !== undefined
}

/*
 * One request runs once: its write is decided anew while others are in its way, and under an
 * idempotency key what was done before is told instead.
 */

/** A request that was read, and is now to be answered by what its handler says. */
export interface Prepared {
  /** As its schema describes it; absent without one, and of a repetition. */
  readonly body?: unknown
  readonly tell: (run: RunOperation, replay?: Replay) => MaybeLater<Reply>
}

export interface Runner extends Admission {
  /** Of idempotency keys for which this process runs an operation, in hexadecimal. */
  readonly slotsUnderWay: Set<string>
}

/** One request for a route, by a caller that may ask for it. */
export interface AdmittedRequest extends RouteRequest {
  readonly caller: Caller
  /** As it was sent; `undefined` where none is read. */
  readonly bytes: Uint8Array | undefined
  readonly countItems: OperationCall['countItems']
  /** For what is opened to answer it, and for the answer. */
  readonly room: Budget
  readonly shown: Budgeted['shown']
}

function parsedBody(
  { deps }: Runner,
  { route, bytes, caller }: AdmittedRequest,
): MaybeLater<unknown> {
  if (route.body === undefined || bytes === undefined) return undefined
  return parseJsonBody(bytes, route.body, () => deps.turns.next(caller.credential.ordinal))
}

/** @throws ApiError `invalid_request`, also for a name that is nearly one of its schema */
function parsedQuery({ route, request }: RouteRequest): QueryParameters {
  const query = parseQuery(route.query === undefined ? '' : request.url)
  if (route.query !== undefined && query.size > 0) assertParameterNames(route.query, query.keys())
  return query
}

interface ReadCall {
  readonly call: OperationCall
  readonly body: unknown
}

/** @throws ApiError `invalid_request`, `unsupported_media_type` */
function readCall(runner: Runner, asked: AdmittedRequest): MaybeLater<ReadCall> {
  const { route, request, caller, countItems } = asked
  const query = parsedQuery(asked)
  if (route.body !== undefined && asked.bytes !== undefined) {
    assertContentType(request.headers.get('content-type'), route.body.contentType)
  }
  const call: OperationCall = { caller, query, countItems }
  return andThen(parsedBody(runner, asked), body => ({ call, body }))
}

async function tellAgain(
  asked: AdmittedRequest,
  done: EarlierEffect,
  body: Repetition['body'],
  replay: Replay | undefined,
): Promise<Reply> {
  const { countItems, room, shown } = asked
  if (replay === undefined) throw notKept()
  const query = parsedQuery(asked)
  const caller = { ...asked.caller, room, shown }
  const reply = await replay({ caller, query, body, countItems, done })
  room.needs(reply.json?.length ?? 0)
  return { ...reply, isReplay: true }
}

/** What another process has done first stands in the way of the same in this one. */
const mayBeDone = (thrown: unknown): boolean =>
  thrown instanceof AlongTaken || (thrown instanceof ApiError && thrown.kind === 'conflict')

/** Where the effect of an operation is to be kept, and what must leave from there. */
interface Keeping {
  readonly slot: Slot
  /** As the slot says it, once it is made. */
  readonly document: string | undefined
  readonly leaving: readonly Change[]
}

/** A request that is to run, with what runs it, and what answers where it was done before. */
interface Running {
  readonly asked: AdmittedRequest
  readonly call: OperationCall
  readonly body: unknown
  readonly run: RunOperation
  readonly replay: Replay | undefined
}

/** What a try that did not land leaves to do: to answer, or to try again with what stands now. */
type Next =
  { readonly reply: Reply } | { readonly caller: Caller; readonly keeping: Keeping | undefined }

/** @throws what was thrown, unless another process has done it, or it may be tried again */
async function afterFailure(
  runner: Runner,
  { asked, body, replay }: Running,
  keeping: Keeping | undefined,
  thrown: unknown,
): Promise<Next> {
  if (thrown instanceof CredentialMoved) {
    // 401 or 403 only for what is gone: a write that finds its credential changed is decided anew.
    return { caller: await callerNow(runner, asked, true), keeping }
  }
  if (keeping === undefined || !mayBeDone(thrown)) throw thrown
  const { slot, document } = keeping
  const found = await findDone(runner.deps, slot)
  const caller = await callerNow(runner, asked)
  if ('done' in found) {
    return { reply: await tellAgain({ ...asked, caller }, found.done, () => body, replay) }
  }
  if (!(thrown instanceof AlongTaken)) throw thrown
  return { caller, keeping: { slot, document, leaving: found.leaving } }
}

/** Runs what is asked for, in tries where writes find something changed. */
function runUntilLanded(
  runner: Runner,
  running: Running,
  keeping: Keeping | undefined,
  current = running.asked.caller,
  tries = 1,
): MaybeLater<Reply> {
  const { asked, call, run } = running
  const along = keeping && keeperOf(runner.deps, keeping)
  const caller = { ...current, room: asked.room, shown: asked.shown, along }
  try {
    const reply = run({ caller, query: call.query, countItems: call.countItems })
    if (!(reply instanceof Promise)) return reply
    return reply.catch((thrown: unknown) => tryAgain(runner, running, keeping, tries, thrown))
  } catch (thrown) {
    return tryAgain(runner, running, keeping, tries, thrown)
  }
}

async function tryAgain(
  runner: Runner,
  running: Running,
  keeping: Keeping | undefined,
  tries: number,
  thrown: unknown,
): Promise<Reply> {
  const next = await afterFailure(runner, running, keeping, thrown)
  if ('reply' in next) return next.reply
  if (tries === writeAttemptsMax) throw changedByOthers()
  return runUntilLanded(runner, running, next.keeping, next.caller, tries + 1)
}

/** A request without an idempotency key. @throws ApiError where its query or body is refused */
export const prepare = (
  runner: Runner,
  asked: AdmittedRequest,
  first?: Keeping,
): MaybeLater<Prepared> =>
  andThen(readCall(runner, asked), ({ call, body }) => ({
    body,
    tell: (run, replay) => runUntilLanded(runner, { asked, call, body, run, replay }, first),
  }))

/**
 * A request with an idempotency key.
 * @throws ApiError `conflict` while another request of this process is under way for the slot
 */
export async function prepareOnce(
  runner: Runner,
  asked: AdmittedRequest,
  slot: Slot,
): Promise<Prepared> {
  const found = await findDone(runner.deps, slot)
  if ('done' in found) {
    const body = () => parsedBody(runner, asked)
    return { tell: (_run, replay) => tellAgain(asked, found.done, body, replay) }
  }
  const key = hexOf(slot.unique)
  const { slotsUnderWay } = runner
  if (slotsUnderWay.has(key)) throw underWay()
  slotsUnderWay.add(key)
  const leave = () => slotsUnderWay.delete(key)
  try {
    const document = await slot.document()
    const { body, tell } = await prepare(runner, asked, { slot, document, leaving: found.leaving })
    const tellOnce: Prepared['tell'] = async (run, replay) => {
      try {
        return await tell(run, replay)
      } finally {
        leave()
      }
    }
    return { body, tell: tellOnce }
  } catch (thrown) {
    leave()
    throw thrown
  }
}
