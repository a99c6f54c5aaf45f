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
import type { AnswerBudget, AnswerHold } from './answer-budget.ts'
import type { Answers, Exchange } from './answers.ts'
import { assertContentType } from './bodies.ts'
import type { BodyBudget } from './body-budget.ts'
import type { Crowd, Origins } from './crowd.ts'
import { readIdempotencyKey, slotOf } from './idempotency.ts'
import { dropBody, leavesMuch, openIntake, type Intake } from './intake.ts'
import { assertNoContentCoding } from './message.ts'
import type { Operation, Perform, Route } from './operation.ts'
import type { Params } from './paths.ts'
import { prepare, prepareOnce, type Asked, type Prepared, type Runner } from './run-once.ts'

export interface Pipeline extends Runner {
  readonly answers: Answers
  readonly bodyBudget: BodyBudget
  readonly answerBudget: AnswerBudget
  readonly isCrowded: Crowd
  readonly nextTraceId: () => string
  /** By their names. */
  readonly operations: Map<string, Operation>
  /** The server, once one listens for this application. */
  readonly server: {
    origins: Origins | undefined
    /** Of the host's own: it marks what it has matched, and hands on the rest as well. */
    hasRouter: boolean
  }
}

/** With an idempotency key the type of a body comes after what the key has done before. */
function readBytes(
  { route: { body }, request }: Asking,
  intake: Intake | undefined,
  key: string | undefined,
): MaybeLater<Uint8Array | undefined> {
  if (body === undefined || intake === undefined) {
    return andThen(dropBody(request), () => undefined)
  }
  if (key === undefined) assertContentType(request.headers.get('content-type'), body.contentType)
  return intake.read()
}

/** What is asked for, by whoever asks when the body has come. */
async function receive(
  pipeline: Pipeline,
  asking: Asking,
  intake: Intake | undefined,
  first: Caller,
  room: Room,
): Promise<Prepared> {
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
  if (key === undefined) return await prepare(pipeline, asked)
  const body = bytes ?? new Uint8Array()
  return await prepareOnce(pipeline, asked, slotOf(deps, caller, route, request, params, key, body))
}

/**
 * Ends the connection of who is not admitted and does not wait (hardening H126), and of who still
 * sends much that nobody will read.
 */
export function finish(pipeline: Pipeline, exchange: Exchange, response: Response): Response {
  const { request, isAdmitted, isBodyRead } = exchange
  const endsCrowded = !isAdmitted && pipeline.isCrowded(request, pipeline.server.origins)
  if (endsCrowded || (!isBodyRead && leavesMuch(request))) {
    response.headers.set('connection', 'close')
  }
  return response
}

/** What one request takes until it is answered. */
interface Held {
  readonly room: AnswerHold
  /** Once, whatever came of it. */
  readonly release: () => void
}

function hold(pipeline: Pipeline, { body }: Operation, exchange: Exchange, ordinal: number) {
  const budget = body && pipeline.bodyBudget(ordinal)
  const { bodyBytesMax: bytesMax } = pipeline.deps.settings
  const intake = budget && openIntake(exchange.request, { hold: budget, bytesMax })
  const room = pipeline.answerBudget(ordinal)
  const release = () => {
    budget?.release()
    exchange.isBodyRead = intake?.isRead() === true
  }
  return { intake, held: { room, release } satisfies Held }
}

/** The end of one request: runs it, and answers. */
const performerOf =
  (pipeline: Pipeline, exchange: Exchange, held: Held, { tell }: Prepared): Perform =>
  async (run, replay) => {
    const { room } = held
    try {
      const reply = await tell(run, replay)
      held.release()
      const response = pipeline.answers.reply(exchange, reply, room)
      return finish(pipeline, exchange, response) as never
    } catch (thrown) {
      held.release()
      room.release()
      throw thrown
    }
  }

/**
 * Admits the caller of one request, and reads what came with it.
 * @returns what its handler gets; what goes wrong is thrown
 */
export async function begin(
  pipeline: Pipeline,
  route: Route,
  exchange: Exchange,
  params: Params,
): Promise<{ readonly perform: Perform }> {
  const { request } = exchange
  const asking = { route, request, params }
  const admitted = admit(pipeline, asking)
  const caller = admitted instanceof Promise ? await admitted : admitted
  exchange.isAdmitted = true
  const { intake, held } = hold(pipeline, route, exchange, caller.credential.ordinal)
  try {
    const prepared = await receive(pipeline, asking, intake, caller, held.room)
    const perform = performerOf(pipeline, exchange, held, prepared)
    const read = { perform, params, body: prepared.body }
    return read
  } catch (thrown) {
    held.release()
    held.room.release()
    throw thrown
  }
}
