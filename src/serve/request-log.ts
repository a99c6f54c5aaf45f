/**
 * The request log: one line an answer, without anything that a request or its answer carries.
 *
 * Of what a caller chose it holds the trace id, and not even that where it could be a secret. The
 * id of a token is there as a keyed digest (`logDigest`).
 * @module
 */
import type { Seen, SeenMore } from '../deps.ts'
import { loggable } from '../rules/loggable.ts'
import type { LogSettings } from '../serving-settings.ts'
import { priorityOf } from './journal.ts'
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

/** What of a line is not as it was seen. */
interface Line {
  readonly time: string
  readonly level: Level
  readonly durationMs: number
  readonly method: string
  /** As it may be shown. */
  readonly traceId: string
}

/** Those that are not 0. */
function countsOf(shown: Seen['shown'], quote: '"' | ''): string {
  if (shown === undefined) return ''
  let text = ''
  if (shown.reveal > 0) text += `,${quote}reveal${quote}:${shown.reveal}`
  if (shown.mask > 0) text += `,${quote}mask${quote}:${shown.mask}`
  if (shown.redact > 0) text += `,${quote}redact${quote}:${shown.redact}`
  return text.slice(1)
}

const member = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":"${text}"`

/** Written by hand, since it is written for each request: no other member needs an escape. */
function asJson(seen: Seen, more: SeenMore, line: Line): string {
  const { route, caller, isTraceMade } = seen
  const { traceId } = line
  const counts = countsOf(seen.shown, '"')
  return (
    `{"time":"${line.time}","level":"${line.level}","event":"request","trace_id":` +
    `${isTraceMade ? `"${traceId}"` : JSON.stringify(traceId)},"method":"${line.method}"` +
    `,"route":${route === undefined ? 'null' : `"${route}"`}` +
    `${member('operation', seen.operation)},"status":${seen.status}` +
    `,"duration_ms":${line.durationMs},"bytes_in":${seen.bytesIn},"bytes_out":${seen.bytesOut}` +
    member('client_address', more.clientAddress) +
    member('application_id', caller?.applicationId) +
    member('key_id', caller?.keyId) +
    member('session_id', caller?.sessionId) +
    member('object_id', more.objectId) +
    member('token_digest', more.tokenDigest) +
    (counts === '' ? '' : `,"shown":{${counts}}`) +
    member('refusal', seen.refusal)
  )
}

function asText(seen: Seen, more: SeenMore, { time, level, ...line }: Line): string {
  const { route = '-', status, refusal, caller } = seen
  const named = {
    in: seen.bytesIn,
    out: seen.bytesOut,
    by: caller?.sessionId ?? caller?.applicationId ?? '-',
    trace: line.traceId,
    from: more.clientAddress,
    key: caller?.keyId,
    object: more.objectId,
    token: more.tokenDigest,
    shown: countsOf(seen.shown, '') || undefined,
    refusal,
  }
  const facts = Object.entries(named).flatMap(([name, fact]) =>
    fact === undefined ? [] : [` ${name}=${fact}`],
  )
  const what = `${status} ${line.method} ${route} ${line.durationMs}ms`
  return `${time} ${level} ${what}${facts.join('')}`
}

/** @returns what is told of each answer; `undefined` where nothing is to be logged */
export function makeRequestLog(
  settings: LogSettings,
  { wallMs, elapsedMs, isTerminal, isJournal, write, worker }: RequestLogParts,
): ((seen: Seen) => void) | undefined {
  const { logRequests, logSample } = settings
  if (logRequests === 'off') return undefined
  const isDrawn = makeDraw(logSample)
  const isText = isTextWanted(settings, { isTerminal })
  const priority = priorityOf(settings, isJournal)
  const inJson = worker === undefined ? '}\n' : `,"worker":${worker}}\n`
  const inText = worker === undefined ? '\n' : ` worker=${worker}\n`
  return seen => {
    const { status, startedMs, traceId, method } = seen
    if (status < 400 && (logRequests === 'errors' || !isDrawn())) return
    const line: Line = {
      time: printTime(wallMs()),
      level: levelOf(status),
      durationMs: Math.round((elapsedMs() - startedMs) * 1_000) / 1_000,
      // A caller chooses it, and some choose what belongs nowhere.
      traceId: seen.isTraceMade ? traceId : loggable(traceId),
      method: knownMethods.has(method) ? method : 'other',
    }
    const more = seen.more()
    const text = isText ? asText(seen, more, line) + inText : asJson(seen, more, line) + inJson
    write(priority(line.level) + text)
  }
}
