/**
 * One request runs once: its write is decided anew while others are in its way, and under an
 * idempotency key what was done before is told instead.
 *
 * @module
 */
import { hexOf } from '../bytes.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError } from '../errors.ts'
import { writeAttemptsMax } from '../limits.ts'
import { andThen, type MaybeLater } from '../maybe-later.ts'
import type { Room } from '../records/room.ts'
import { AlongTaken, changedByOthers, CredentialMoved } from '../records/write.ts'
import type { Change } from '../store/contract.ts'
import { callerNow, type Admission, type Asking } from './admission.ts'
import { assertContentType, parseJsonBody } from './bodies.ts'
import { findDone, keeperOf, notKept, underWay, type Slot } from './idempotency.ts'
import { parseQuery } from './query.ts'
import type { Call, Done, Repetition, Replay, Reply, Run } from './operation.ts'

/** A request that was read, and is now to be answered by what its handler says. */
export interface Prepared {
  /** As its schema describes it; absent without one, and of a repetition. */
  readonly body?: unknown
  readonly tell: (run: Run, replay?: Replay) => Promise<Reply>
}

export interface Runner extends Admission {
  /** Of idempotency keys for which this process runs an operation, in hexadecimal. */
  readonly slotsUnderWay: Set<string>
}

/** One request for a route, by a caller that may ask for it. */
export interface Asked extends Asking {
  readonly caller: Caller
  /** As it was sent; `undefined` where none is read. */
  readonly bytes: Uint8Array | undefined
  readonly countItems: Call['countItems']
  /** For what is opened to answer it, and for the answer. */
  readonly room: Room
}

function parsedBody({ deps }: Runner, { route, bytes, caller }: Asked): MaybeLater<unknown> {
  if (route.body === undefined || bytes === undefined) return undefined
  return parseJsonBody(bytes, route.body, () => deps.turns.next(caller.credential.ordinal))
}

const queryOf = ({ route, request }: Asking) =>
  parseQuery(route.query === undefined ? '' : request.url)

interface ReadCall {
  readonly call: Call
  readonly body: unknown
}

/** @throws ApiError `invalid_request`, `unsupported_media_type` */
function readCall(runner: Runner, asked: Asked): MaybeLater<ReadCall> {
  const { route, request, caller, countItems } = asked
  const query = queryOf(asked)
  if (route.body !== undefined && asked.bytes !== undefined) {
    assertContentType(request.headers.get('content-type'), route.body.contentType)
  }
  const call: Call = { caller, query, countItems }
  return andThen(parsedBody(runner, asked), body => ({ call, body }))
}

async function tellAgain(
  asked: Asked,
  done: Done,
  body: Repetition['body'],
  replay: Replay | undefined,
): Promise<Reply> {
  const { countItems, room } = asked
  if (replay === undefined) throw notKept()
  const query = queryOf(asked)
  const caller = { ...asked.caller, room }
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
  readonly leaving: readonly Change[]
}

/** A request that is to run, with what runs it, and what answers where it was done before. */
interface Running {
  readonly asked: Asked
  readonly call: Call
  readonly body: unknown
  readonly run: Run
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
  const { slot } = keeping
  const found = await findDone(runner.deps, slot)
  const caller = await callerNow(runner, asked)
  if ('done' in found) {
    return { reply: await tellAgain({ ...asked, caller }, found.done, () => body, replay) }
  }
  if (!(thrown instanceof AlongTaken)) throw thrown
  return { caller, keeping: { slot, leaving: found.leaving } }
}

/** Runs what is asked for, in tries where writes find something changed. */
async function runUntilLanded(runner: Runner, running: Running, first?: Keeping): Promise<Reply> {
  const { asked, call, run } = running
  const { room } = asked
  let { caller } = asked
  let keeping = first
  for (let tries = 0; tries < writeAttemptsMax; tries += 1) {
    const along =
      keeping === undefined ? undefined : keeperOf(runner.deps, keeping.slot, keeping.leaving)
    try {
      return await run({ ...call, caller: { ...caller, room, along } })
    } catch (thrown) {
      const next = await afterFailure(runner, running, keeping, thrown)
      if ('reply' in next) return next.reply
      caller = next.caller
      keeping = next.keeping
    }
  }
  throw changedByOthers()
}

/** A request without an idempotency key. @throws ApiError where its query or body is refused */
export const prepare = (runner: Runner, asked: Asked, first?: Keeping): MaybeLater<Prepared> =>
  andThen(readCall(runner, asked), ({ call, body }) => ({
    body,
    tell: (run, replay) => runUntilLanded(runner, { asked, call, body, run, replay }, first),
  }))

/**
 * A request with an idempotency key.
 * @throws ApiError `conflict` while another request of this process is under way for the slot
 */
export async function prepareOnce(runner: Runner, asked: Asked, slot: Slot): Promise<Prepared> {
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
    const { body, tell } = await prepare(runner, asked, { slot, leaving: found.leaving })
    return { body, tell: (run, replay) => tell(run, replay).finally(leave) }
  } catch (thrown) {
    leave()
    throw thrown
  }
}
