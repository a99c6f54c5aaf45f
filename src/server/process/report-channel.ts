/**
 * Questions of workers about the whole vault, which the process that leads them answers: lines of
 * JSON on the channel between them.
 * @module
 */
import type { Reports } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { reportAnswerMsMax } from '../../limits/operation-limits.ts'

/** Question of a worker. */
export interface ReportQuestion {
  readonly id: number
  readonly wants: keyof Reports
}

/** Answer to a worker; `null` if there is none. */
export interface ReportAnswer {
  readonly id: number
  readonly report: object | null
}

export interface AskedReports extends Reports {
  readonly hear: (answer: ReportAnswer) => void
}

/** Has the leading process make the answers of `/status`. */
export function makeAskedReports(): AskedReports {
  const waiting = new Map<number, (report: object | null) => void>()
  let last = 0
  const ask = (wants: keyof Reports) => async (): Promise<object> => {
    last += 1
    const question: ReportQuestion = { id: last, wants }
    const { promise, resolve } = Promise.withResolvers<object | null>()
    const overdue = setTimeout(() => resolve(null), reportAnswerMsMax)
    waiting.set(question.id, resolve)
    try {
      process.stdout.write(`${JSON.stringify(question)}\n`)
      const report = await promise
      if (report !== null) return report
      throw new ApiError('unavailable', 'the state of the vault is not known now: ask again')
    } finally {
      clearTimeout(overdue)
      waiting.delete(question.id)
    }
  }
  return {
    status: ask('status'),
    history: ask('history'),
    settings: ask('settings'),
    hear: ({ id, report }) => waiting.get(id)?.(report),
  }
}

/**
 * Answers a worker. It never rejects.
 * @param reports absent until they are made
 * @param send writes a line to the worker
 */
export async function answerReport(
  reports: Reports | undefined,
  { id, wants }: ReportQuestion,
  send: (line: string) => void,
): Promise<void> {
  try {
    const report = (await reports?.[wants]().catch(() => undefined)) ?? null
    send(JSON.stringify({ id, report } satisfies ReportAnswer))
  } catch {
    // The worker has ended, and closed its stdin.
  }
}
