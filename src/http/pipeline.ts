/**
 * What happens around every operation, in the order of contract section 2: authenticate (401), rate
 * (429), kind of caller and permission held at all (403), content coding (415), then
 *
 * - without an idempotency key: content type (415), room for the body (413, 503), query and body
 *   (400), handle;
 * - with one: its form (400), room for the body (413, 503), what it has done before (409, or the
 *   answer), query (400), content type (415), body (400), handle.
 *
 * Nobody's body is read before its caller is known and admitted. Up to then nothing is waited for,
 * so that the server has no time to keep much of it. Who it is is asked again when the body has
 * come, if that took any time.
 * @module
 */
import { callerNowMs, shortBodyBytesMax } from '../limits.ts'
import type { Caller } from '../domain/caller.ts'
import { andThen, type MaybeLater } from '../maybe-later.ts'
import type { Room } from '../records/room.ts'
import { admit, callerNow, itemCounter, type Asking } from './admission.ts'
import type { AnswerBudget } from './answer-budget.ts'
import type { Answers, Exchange } from './answers.ts'
import { assertContentType } from './bodies.ts'
import type { BodyBudget } from './body-budget.ts'
import { readIdempotencyKey, slotOf } from './idempotency.ts'
import { bringsBody, dropBody, openIntake, type Intake } from './intake.ts'
import { assertNoContentCoding } from './message.ts'
import type { Params } from './paths.ts'
import type { Reply, Route } from './route.ts'
import { run, runOnce, type Asked, type Runner } from './run-once.ts'

export interface Pipeline extends Runner {
  readonly answers: Answers
  readonly bodyBudget: BodyBudget
  readonly answerBudget: AnswerBudget
  readonly nextTraceId: () => string
}

/** With an idempotency key the type of a body comes after what the key has done before. */
function readBytes(
  { route: { body }, request }: Asking,
  intake: Intake | undefined,
  key: string | undefined,
): MaybeLater<Uint8Array | undefined> {
  const isLeftOut = body?.isOptional === true && !bringsBody(request) && request.body === null
  if (body === undefined || intake === undefined || isLeftOut) {
    return andThen(dropBody(request), () => undefined)
  }
  if (key === undefined) assertContentType(request.headers.get('content-type'), body.contentType)
  return intake.read()
}

/** What is asked for, by whoever asks when the body has come. */
async function replyTo(
  pipeline: Pipeline,
  asking: Asking,
  intake: Intake | undefined,
  first: Caller,
  room: Room,
): Promise<Reply> {
  const { deps } = pipeline
  const { route, request, params } = asking
  assertNoContentCoding(request)
  const key = readIdempotencyKey(deps, route, request)
  const admittedMs = deps.elapsedMs()
  const reading = readBytes(asking, intake, key)
  const bytes = reading instanceof Promise ? await reading : reading
  if (bytes === undefined || bytes.length <= shortBodyBytesMax) deps.turns.noteRequest()
  const isNow = bytes === undefined || deps.elapsedMs() - admittedMs < callerNowMs
  const caller = isNow ? first : await callerNow(pipeline, asking)
  const countItems = itemCounter(pipeline, caller)
  const asked: Asked = { route, request, params, caller, bytes, countItems, room }
  if (key === undefined) return await run(pipeline, asked)
  const body = bytes ?? new Uint8Array()
  return await runOnce(pipeline, asked, slotOf(deps, caller, route, request, params, key, body))
}

/** @returns the answer to one request of a route; what goes wrong is thrown */
export async function answerRoute(
  pipeline: Pipeline,
  route: Route,
  exchange: Exchange,
  params: Params,
): Promise<Response> {
  const { request } = exchange
  const asking = { route, request, params }
  const admitted = admit(pipeline, asking)
  const caller = admitted instanceof Promise ? await admitted : admitted
  exchange.isAdmitted = true
  const { ordinal } = caller.credential
  const hold = route.body && pipeline.bodyBudget(ordinal)
  const { bodyBytesMax: bytesMax } = pipeline.deps.settings
  const intake = hold && openIntake(request, { hold, bytesMax })
  const room = pipeline.answerBudget(ordinal)
  try {
    const reply = await replyTo(pipeline, asking, intake, caller, room)
    return pipeline.answers.reply(exchange, reply, room)
  } catch (thrown) {
    room.release()
    throw thrown
  } finally {
    hold?.release()
    exchange.isBodyRead = intake?.isRead() === true
  }
}
