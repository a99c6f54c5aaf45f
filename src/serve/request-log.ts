/**
 * The request log: one line an answer, without anything that a request or its answer carries.
 *
 * Of what a caller chose it holds the trace id, and not even that where it could be a secret.
 * @module
 */
import type { Seen } from '../deps.ts'
import { loggable } from '../rules/loggable.ts'
import type { LogSettings } from '../settings.ts'
import { isTextWanted, printTime, type Level, type LogPlace } from './log.ts'

interface RequestLogParts extends LogPlace {
  readonly elapsedMs: () => number
  /** Which of several processes this is. */
  readonly worker?: number | undefined
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const levelOf = (status: number): Level => {
  if (status < 400) return 'info'
  return status < 500 ? 'warning' : 'error'
}

/**
 * One in so many, without a pattern that regular traffic could fall in with: a linear congruential
 * generator of 32 bits (Numerical Recipes, section 7.1).
 */
function makeDraw(oneIn: number): () => boolean {
  const below = 2 ** 32 / oneIn
  let state = 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state < below
  }
}

interface Shown extends Omit<Seen, 'startedMs'> {
  readonly time: string
  readonly level: Level
  readonly durationMs: number
}

/** Written by hand, since it is written for each request: no other member needs an escape. */
function asJson(shown: Shown): string {
  const { time, level, traceId, method, route, operation, status, durationMs, refusal } = shown
  const { bytesIn, bytesOut, caller } = shown
  const member = (name: string, text: string | undefined): string =>
    text === undefined ? '' : `,"${name}":"${text}"`
  return (
    `{"time":"${time}","level":"${level}","event":"request","trace_id":${JSON.stringify(traceId)}` +
    `,"method":"${method}","route":${route === undefined ? 'null' : `"${route}"`}` +
    `${member('operation', operation)},"status":${status},"duration_ms":${durationMs}` +
    `,"bytes_in":${bytesIn},"bytes_out":${bytesOut}` +
    member('application_id', caller?.applicationId) +
    member('session_id', caller?.sessionId) +
    member('refusal', refusal)
  )
}

function asText(shown: Shown): string {
  const { time, level, traceId, method, route = '-', status, durationMs, refusal } = shown
  const { bytesIn, bytesOut, caller } = shown
  const who = caller?.sessionId ?? caller?.applicationId ?? '-'
  const size = `in=${bytesIn} out=${bytesOut}`
  const why = refusal === undefined ? '' : ` refusal=${refusal}`
  const times = `${durationMs}ms ${size}`
  return `${time} ${level} ${status} ${method} ${route} ${times} by=${who} trace=${traceId}${why}`
}

/** @returns what is told of each answer; `undefined` where nothing is to be logged */
export function makeRequestLog(
  settings: LogSettings,
  { wallMs, elapsedMs, isTerminal, write, worker }: RequestLogParts,
): ((seen: Seen) => void) | undefined {
  const { logRequests, logSample } = settings
  if (logRequests === 'off') return undefined
  const isDrawn = makeDraw(logSample)
  const isText = isTextWanted(settings, { isTerminal })
  const inJson = worker === undefined ? '}\n' : `,"worker":${worker}}\n`
  const inText = worker === undefined ? '\n' : ` worker=${worker}\n`
  return seen => {
    const { status, startedMs, traceId, method } = seen
    if (status < 400 && (logRequests === 'errors' || !isDrawn())) return
    const shown = {
      ...seen,
      time: printTime(wallMs()),
      level: levelOf(status),
      durationMs: Math.round((elapsedMs() - startedMs) * 1_000) / 1_000,
      // A caller chooses it, and some choose what belongs nowhere.
      traceId: loggable(traceId),
      method: knownMethods.has(method) ? method : 'other',
    }
    write(isText ? asText(shown) + inText : asJson(shown) + inJson)
  }
}
