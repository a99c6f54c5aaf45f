/**
 * Runs an operation: its write is decided anew while others are in its way, and under an
 * idempotency key the effect of an earlier request is replayed instead.
 * @module
 */
import { rightsAgainMs, writeAttemptsMax } from '../limits/work-limits.ts'
import { ApiError } from '../lib/errors.ts'
import { forgetShown } from '../records/budgeted.ts'
import { EffectKept, changedByOthers, CredentialChanged, type Past } from '../records/write-rows.ts'
import type { Caller } from '../rules/caller.ts'
import { callerNow, countItems, type Admission } from './admission.ts'
import { auditOfWrite } from './audited.ts'
import type { Exchange } from './exchange.ts'
import { keeperOf, lookUp, notKept, type Slot } from './idempotency.ts'
import type { Operation, OperationCall, Reply } from './operation.ts'
import { readQuery, streamedBy } from './request.ts'

/** Returns the call that the operation gets for one try. */
function callOf(
  admission: Admission,
  operation: Operation,
  x: Exchange,
  caller: Caller,
  keepEffect?: OperationCall['caller']['keepEffect'],
): OperationCall {
  const { answerLease: budget, shown, rowsTested, inPageTurn } = x
  const isAbandoned = (): boolean => x.request.signal.aborted
  const audit = auditOfWrite(admission, operation, x)
  return {
    caller: { ...caller, budget, shown, rowsTested, isAbandoned, inPageTurn, keepEffect, audit },
    params: x.params,
    query: x.query,
    countItems: count => countItems(admission, x, caller, count),
    isEnding: () => isAbandoned() || x.isServerEnding(),
    waitAside: wait => (x.storeTurn === undefined ? wait() : x.storeTurn.aside(wait)),
    async assertStillPermitted() {
      await callerNow(admission, operation, x)
    },
    streamed: operation.success.streamExample === undefined ? undefined : streamedBy(x.request),
  }
}

/** Answers for what an earlier request did, as that stands now. Nothing is done again. */
export async function replayOperation(
  admission: Admission,
  operation: Operation,
  x: Exchange,
  caller: Caller,
  done: Past,
  body: () => unknown,
): Promise<Reply> {
  if (operation.replay === undefined) throw notKept()
  x.query = readQuery(operation, x.request)
  const reply = await operation.replay(callOf(admission, operation, x, caller), done, body)
  x.answerLease?.reserve(Buffer.byteLength(reply.json ?? ''))
  return { ...reply, isReplay: true }
}

/** The same request may have landed first in another process: then it conflicts in this one. */
const mayBeDone = (thrown: unknown): boolean =>
  thrown instanceof EffectKept || (thrown instanceof ApiError && thrown.kind === 'conflict')

/** A caller, and when its rights were read, by `elapsedMs`. */
interface FoundCaller {
  readonly caller: Caller
  readonly atMs: number
}

/** A write that landed has required them, and an answer that goes on checks them itself. */
const mustCheckRights = (
  { deps }: Admission,
  x: Exchange,
  atMs: number,
  reply: Reply | undefined,
): boolean =>
  !x.isAudited && reply?.stream === undefined && deps.elapsedMs() - atMs >= rightsAgainMs

/**
 * Checks the rights behind what took long, also a refusal: it may tell of what was read after they
 * ended.
 * @throws ApiError `unauthenticated`, `forbidden`; CredentialChanged if other rights must decide
 */
async function assertSameRights(
  admission: Admission,
  operation: Operation,
  x: Exchange,
  caller: Caller,
): Promise<void> {
  try {
    const now = await callerNow(admission, operation, x)
    if (now !== caller && !Bun.deepEquals(now.grants, caller.grants)) throw new CredentialChanged()
  } catch (thrown) {
    forgetShown(x.shown)
    throw thrown
  }
}

/**
 * Runs an operation until its write lands, or another process has done the same under its key.
 * @throws what the operation throws, unless it may be tried again; `conflict` after many tries
 */
export async function runOperation(
  admission: Admission,
  operation: Operation,
  x: Exchange,
  first: FoundCaller,
  slot: Slot | undefined,
  body: unknown,
): Promise<Reply> {
  let { caller, atMs } = first
  for (let tries = 1; ; tries += 1) {
    let reply: Reply | undefined
    try {
      const keepEffect = slot && keeperOf(admission.deps, slot)
      const call = callOf(admission, operation, x, caller, keepEffect)
      // decision: in here, since one more promise for each request would cost it time.
      try {
        return (reply = await operation.run(call, body))
      } finally {
        if (mustCheckRights(admission, x, atMs, reply)) {
          await assertSameRights(admission, operation, x, caller)
        }
      }
    } catch (thrown) {
      if (thrown instanceof CredentialChanged) {
        // 401 or 403 if the key or its permission is gone; if either changed, all is decided anew.
        atMs = admission.deps.elapsedMs()
        caller = await callerNow(admission, operation, x, true)
      } else {
        if (slot === undefined || !mayBeDone(thrown)) throw thrown
        await lookUp(admission.deps, slot)
        caller = await callerNow(admission, operation, x)
        const { done } = slot
        if (done !== undefined)
          return replayOperation(admission, operation, x, caller, done, () => body)
        if (!(thrown instanceof EffectKept)) throw thrown
      }
      if (tries === writeAttemptsMax) throw changedByOthers()
    }
  }
}
