/**
 * The request log: one line per answer, without any content of the request or the answer.
 *
 * The only value chosen by the caller is the trace id, which is left out if it could be a secret.
 * The id of a token is logged as a keyed digest (`logDigest`).
 * @module
 */
import type { AnswerEvent, SeenMore } from '../../deps.ts'
import { loggable } from '../../rules/loggable.ts'
import type { LogSettings } from '../../settings/serving-settings.ts'
import { priorityOf } from './journal.ts'
import { isTextWanted, printTime, type Level, type LogPlace } from './log.ts'

interface RequestLogParts extends LogPlace {
  readonly elapsedMs: () => number
  /** Number of this process, if there are several. */
  readonly worker?: number | undefined
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const levelOf = (status: number): Level => {
  if (status < 400) return 'info'
  return status < 500 ? 'warning' : 'error'
}

/**
 * Draws one in `oneIn`, without a pattern that regular traffic could align with: a linear
 * congruential generator of 32 bits (Numerical Recipes, section 7.1).
 */
function makeDraw(oneIn: number): () => boolean {
  const below = 2 ** 32 / oneIn
  let state = 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state < below
  }
}

/** Parts of a line that differ from the observed values. */
interface Line {
  readonly time: string
  readonly level: Level
  /** Milliseconds, to the microsecond. */
  readonly duration: string
  readonly method: string
  /** Trace id, as it may be shown. */
  readonly traceId: string
}

/** Printing a non-integer number takes the engine twice as long. */
function durationText(ms: number): string {
  const us = Math.round(ms * 1_000)
  const part = us % 1_000
  const whole = (us - part) / 1_000
  return part === 0 ? `${whole}` : `${whole}.${String(part).padStart(3, '0')}`
}

/**
 * Keeps the last text for as long as its inputs stay the same: most lines resemble the one before.
 * The text is flattened: the engine keeps a concatenated one in pieces, which each line would have
 * to walk through.
 */
function keepLast<T extends readonly unknown[]>(make: (...of: T) => string): (...of: T) => string {
  let last: T | undefined
  let text = ''
  return (...of) => {
    const was = last
    if (was === undefined || of.some((value, at) => value !== was[at])) {
      last = of
      text = Buffer.from(make(...of)).toString()
    }
    return text
  }
}

/** Prints the counts that are not 0. */
function countsOf(shown: AnswerEvent['shown'], quote: '"' | ''): string {
  if (shown === undefined) return ''
  const { reveal, mask, redact } = shown
  let text = reveal > 0 ? `${quote}reveal${quote}:${reveal}` : ''
  if (mask > 0) text += `${text === '' ? '' : ','}${quote}mask${quote}:${mask}`
  if (redact > 0) text += `${text === '' ? '' : ','}${quote}redact${quote}:${redact}`
  return text
}

const member = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":"${text}"`

type Text = string | undefined

const printWhat = (method: string, route: Text, operation: Text, status: number): string =>
  `,"method":"${method}","route":${route === undefined ? 'null' : `"${route}"`}` +
  `${member('operation', operation)},"status":${status},"duration_ms":`

const printWhose = (address: Text, applicationId: Text, keyId: Text, sessionId: Text): string =>
  member('client_address', address) +
  member('application_id', applicationId) +
  member('key_id', keyId) +
  member('session_id', sessionId)

type Print = (seen: AnswerEvent, more: SeenMore, line: Line) => string

/** Printed by hand, as it runs for each request; no other member needs escaping. */
function printJson(): Print {
  const what = keepLast(printWhat)
  const whose = keepLast(printWhose)
  return (seen, more, { time, level, traceId, method, duration }) => {
    const { caller, refusal } = seen
    const { objectId, tokenDigest } = more
    const counts = countsOf(seen.shown, '"')
    const text =
      `{"time":"${time}","level":"${level}","event":"request","trace_id":` +
      (seen.isTraceMade ? `"${traceId}"` : JSON.stringify(traceId)) +
      what(method, seen.route, seen.operation, seen.status) +
      `${duration},"bytes_in":${seen.bytesIn},"bytes_out":${seen.bytesOut}` +
      whose(more.clientAddress, caller?.applicationId, caller?.keyId, caller?.sessionId)
    const about = objectId === undefined ? text : text + member('object_id', objectId)
    const token = tokenDigest === undefined ? about : `${about},"token_digest":"${tokenDigest}"`
    const shown = counts === '' ? token : `${token},"shown":{${counts}}`
    return refusal === undefined ? shown : shown + member('refusal', refusal)
  }
}

function asText(seen: AnswerEvent, more: SeenMore, { time, level, ...line }: Line): string {
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
  const what = `${status} ${line.method} ${route} ${line.duration}ms`
  return `${time} ${level} ${what}${facts.join('')}`
}

/** @returns the observer of answers; `undefined` if nothing is logged */
export function makeRequestLog(
  settings: LogSettings,
  { wallMs, elapsedMs, isTerminal, isJournal, write, worker }: RequestLogParts,
): ((seen: AnswerEvent) => void) | undefined {
  const { logRequests, logSample } = settings
  if (logRequests === 'off') return undefined
  const isDrawn = makeDraw(logSample)
  const isText = isTextWanted(settings, { isTerminal })
  const priority = priorityOf(settings, isJournal)
  const timeOf = keepLast(printTime)
  const asJson = printJson()
  const inJson = worker === undefined ? '}\n' : `,"worker":${worker}}\n`
  const inText = worker === undefined ? '\n' : ` worker=${worker}\n`
  return seen => {
    const { status, startedMs, traceId, method } = seen
    if (status < 400 && (logRequests === 'errors' || !isDrawn())) return
    const line: Line = {
      time: timeOf(wallMs()),
      level: levelOf(status),
      duration: durationText(elapsedMs() - startedMs),
      // A caller chooses it, and some put secrets there.
      traceId: seen.isTraceMade ? traceId : loggable(traceId),
      method: knownMethods.has(method) ? method : 'other',
    }
    const more = seen.more()
    const text = isText ? asText(seen, more, line) + inText : asJson(seen, more, line) + inJson
    write(priority(line.level) + text)
  }
}
