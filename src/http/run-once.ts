/**
 * One request runs once: its write is decided anew while others are in its way, and under an
 * idempotency key what was done before is told instead.
 *
 * @module
 */
import { hexOf } from '../bytes.ts'
import type { Caller } from '../domain/caller.ts'
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
import type { Call, Done, Reply, Repetition } from './route.ts'

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

function callOf(runner: Runner, asked: Asked): MaybeLater<Call> {
  const { route, request, params, caller, countItems } = asked
  const query = queryOf(asked)
  if (route.body !== undefined && asked.bytes !== undefined) {
    assertContentType(request.headers.get('content-type'), route.body.contentType)
  }
  return andThen(parsedBody(runner, asked), body => ({ caller, params, query, body, countItems }))
}

async function replay(asked: Asked, done: Done, body: Repetition['body']): Promise<Reply> {
  const { route, params, countItems, room } = asked
  if (route.replay === undefined) throw notKept()
  const query = queryOf(asked)
  const caller = { ...asked.caller, room }
  const reply = await route.replay({ caller, params, query, body, countItems, done })
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

/** What a try that did not land leaves to do: to answer, or to try again with what stands now. */
type Next =
  { readonly reply: Reply } | { readonly caller: Caller; readonly keeping: Keeping | undefined }

/** @throws what was thrown, unless another process has done it, or it may be tried again */
async function afterFailure(
  runner: Runner,
  asked: Asked,
  { body }: Call,
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
    return { reply: await replay({ ...asked, caller }, found.done, () => body) }
  }
  if (!(thrown instanceof AlongTaken)) throw thrown
  return { caller, keeping: { slot, leaving: found.leaving } }
}

/**
 * Runs what is asked for, in tries where writes find something changed.
 * @param first  where its effect is to be kept; absent without an idempotency key
 * @throws what its operation throws
 */
export async function run(runner: Runner, asked: Asked, first?: Keeping): Promise<Reply> {
  const called = callOf(runner, asked)
  const call = called instanceof Promise ? await called : called
  const { room } = asked
  let { caller } = asked
  let keeping = first
  for (let tries = 0; tries < writeAttemptsMax; tries += 1) {
    const along =
      keeping === undefined ? undefined : keeperOf(runner.deps, keeping.slot, keeping.leaving)
    try {
      return await asked.route.handle({ ...call, caller: { ...caller, room, along } })
    } catch (thrown) {
      const next = await afterFailure(runner, asked, call, keeping, thrown)
      if ('reply' in next) return next.reply
      caller = next.caller
      keeping = next.keeping
    }
  }
  throw changedByOthers()
}

/**
 * A request with an idempotency key.
 * @throws ApiError `conflict` while another request of this process is under way for the slot
 */
export async function runOnce(runner: Runner, asked: Asked, slot: Slot): Promise<Reply> {
  const found = await findDone(runner.deps, slot)
  if ('done' in found) return replay(asked, found.done, () => parsedBody(runner, asked))
  const key = hexOf(slot.unique)
  const { slotsUnderWay } = runner
  if (slotsUnderWay.has(key)) throw underWay()
  slotsUnderWay.add(key)
  try {
    return await run(runner, asked, { slot, leaving: found.leaving })
  } finally {
    slotsUnderWay.delete(key)
  }
}
