/**
 * Questions of workers about the whole vault, which the process that leads them answers: lines of
 * JSON on the channel between them.
 * @module
 */
import type { Log, Reports } from '../../deps.ts'
import { ApiError, placesOf } from '../../lib/errors.ts'
import { reportAnswerMsMax } from '../../limits/operation-limits.ts'
import { isUnavailable, stateUnknown } from '../watch/state-unknown.ts'

/** Question of a worker. */
export interface ReportQuestion {
  readonly id: number
  readonly wants: keyof Reports
}

/** Answer to a worker; `null` if there is none. */
export interface ReportAnswer {
  readonly id: number
  readonly report: object | null
  /** True if there is none by a fault of the program, of which the leading process has a line. */
  readonly isFault?: boolean
}

export interface AskedReports extends Reports {
  readonly hear: (answer: ReportAnswer) => void
}

/** Has the leading process make the answers of `/status`. */
export function makeAskedReports(): AskedReports {
  const waiting = new Map<number, (answer: Omit<ReportAnswer, 'id'>) => void>()
  let last = 0
  const ask = (wants: keyof Reports) => async (): Promise<object> => {
    last += 1
    const question: ReportQuestion = { id: last, wants }
    const { promise, resolve } = Promise.withResolvers<Omit<ReportAnswer, 'id'>>()
    const overdue = setTimeout(() => resolve({ report: null }), reportAnswerMsMax)
    waiting.set(question.id, resolve)
    try {
      process.stdout.write(`${JSON.stringify(question)}\n`)
      const { report, isFault = false } = await promise
      if (report !== null) return report
      throw isFault ? new ApiError('internal', 'no report was made') : stateUnknown()
    } finally {
      clearTimeout(overdue)
      waiting.delete(question.id)
    }
  }
  return {
    status: ask('status'),
    history: ask('history'),
    settings: ask('settings'),
    hear: answer => waiting.get(answer.id)?.(answer),
  }
}

/** Parts of the leading process that answers. */
interface AnsweringParts {
  /** Absent until they are made. */
  readonly reports: () => Reports | undefined
  readonly log: Log
}

async function answerTo(
  { reports, log }: AnsweringParts,
  { id, wants }: ReportQuestion,
): Promise<ReportAnswer> {
  try {
    return { id, report: (await reports()?.[wants]()) ?? null }
  } catch (error) {
    if (isUnavailable(error)) return { id, report: null }
    log('report_failed', { report: wants, cause: placesOf(error) })
    return { id, report: null, isFault: true }
  }
}

/**
 * Answers a worker. It never rejects.
 * @param send writes a line to the worker
 */
export async function answerReport(
  parts: AnsweringParts,
  question: ReportQuestion,
  send: (line: string) => void,
): Promise<void> {
  const answer = await answerTo(parts, question)
  try {
    send(JSON.stringify(answer))
  } catch {
    // The worker has ended, and closed its stdin.
  }
}
