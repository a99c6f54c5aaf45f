/**
 * The channel between workers and the process that leads them: lines of JSON on stdin and stdout of
 * each worker, first its order and its notice that it listens. They never contain a key of the
 * vault.
 * @module
 */
import { controlHeaders, type ControlRequest } from '../../vault/operator/operator-proof.ts'
import type { Facts, Tell } from '../../vault/operator/operator-operation.ts'
import { workerAnswerMsMax } from '../../limits/operation-limits.ts'
import {
  failureOf,
  inputOf,
  unknownOperation,
  type ControlHeaders,
  type ControlOperation,
} from '../listen/control.ts'
import { CommandFailure } from './failure.ts'
import type { Failing, ProcessReport } from '../watch/process-report.ts'
import type { Numbers } from '../watch/metric-kinds.ts'
import type { Log, Reports } from '../../deps.ts'
import {
  answerReport,
  type AskedReports,
  type ReportAnswer,
  type ReportQuestion,
} from './report-channel.ts'

/** Questions to a worker, with the types of their answers. */
interface WorkerAnswers {
  readonly failing: Failing
  readonly numbers: Numbers
  /** Sent once no key is left. */
  readonly seal: true
  /** Sent once the worker serves with the key that was handed to it before. */
  readonly unseal: true
  readonly operate: Facts
}

/** An operation, as received on the control socket. */
interface SentOperation extends Pick<ControlRequest, 'name' | 'peers'> {
  /** In base64: a proof covers exactly these bytes. */
  readonly body: string
  readonly headers: ControlHeaders
}

/** Parts of a question beside its name. */
interface QuestionDetails {
  /** The mark of the clock from before the vault was unsealed. */
  readonly mark?: string
  readonly operation?: SentOperation
}

interface Question extends QuestionDetails {
  readonly id: number
  readonly ask: keyof WorkerAnswers
}

interface WorkerReply {
  readonly id: number
  /** Absent if there is no answer. */
  readonly told?: WorkerAnswers[keyof WorkerAnswers]
  /** Reason for a failure. */
  readonly failed?: string
  /** A partial reply; more follow. */
  readonly progress?: Facts
}

/** @returns `undefined` if it was not done in time, has failed, or the worker has ended */
export type AskWorker = <K extends Exclude<keyof WorkerAnswers, 'operate'>>(
  name: K,
  more?: Pick<QuestionDetails, 'mark'> & { readonly waitMsMax?: number },
) => Promise<WorkerAnswers[K] | undefined>

/** @throws CommandFailure if the operation fails, or the worker ends before it is done */
export type Operate = (sent: ControlRequest, tell: Tell) => Promise<Facts>

/** Open files that a worker inherits, by their numbers there. */
export const handedFiles = {
  /** The lock of the folder. */
  lock: 3,
  /** The channel for keys. */
  keys: 4,
  /** The listening socket from which all of them accept. */
  listener: 5,
} as const

/** Yields the last line also if it has no line end. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
}

/* The worker's side. */

/** Answers of a worker to the process that leads it. */
export interface WorkerDuties {
  readonly told: ProcessReport
  readonly seal: () => Promise<void>
  /** @param key wiped by it */
  readonly unseal: (key: Uint8Array) => Promise<void>
  /** @throws CommandFailure while the vault is sealed */
  readonly find: (name: string) => ControlOperation | undefined
}

/** Like `WorkerDuties`, but the key is read from the channel for keys. */
type ChannelDuties = Omit<WorkerDuties, 'unseal'> & {
  readonly unseal: (mark?: string) => Promise<void>
}

function operate({ find }: ChannelDuties, sent: SentOperation, tell: Tell): Promise<Facts> {
  const { name, body: encoded, headers, peers } = sent
  const operation = find(name)
  if (operation === undefined) throw new CommandFailure(unknownOperation)
  const body = Buffer.from(encoded, 'base64')
  return operation(inputOf(body) ?? {}, tell, {
    name,
    body,
    header: header => headers[header] ?? null,
    peers,
  })
}

/** @param question trusted as it is: the other process runs the same program */
async function toldTo(
  question: Question,
  duties: ChannelDuties,
  tell: Tell,
): Promise<WorkerReply['told']> {
  const { ask, mark, operation } = question
  if (ask === 'failing') return duties.told.failing()
  if (ask === 'numbers') return (await duties.told.numbers()).flat()
  if (ask === 'operate') return operation && operate(duties, operation, tell)
  await (ask === 'seal' ? duties.seal() : duties.unseal(mark))
  return true
}

/** Answers questions on stdout, each as soon as it is done; hears the answers of the leader. */
export async function answerAsked(
  lines: AsyncIterable<string>,
  duties: ChannelDuties,
  { hear }: Pick<AskedReports, 'hear'>,
): Promise<void> {
  const answer = (told: WorkerReply): void => void process.stdout.write(`${JSON.stringify(told)}\n`)
  for await (const line of lines) {
    const question = JSON.parse(line) as Question | ReportAnswer
    if ('report' in question) {
      hear(question)
      continue
    }
    const { id } = question
    toldTo(question, duties, progress => answer({ id, progress })).then(
      told => answer(told === undefined ? { id } : { id, told }),
      (error: unknown) => answer({ id, failed: failureOf(error) }),
    )
  }
}

/* The side of the process that asks. */

const sentOf = ({ name, body, header, peers }: ControlRequest): SentOperation => {
  const headers = controlHeaders.flatMap(each => {
    const value = header(each)
    return value === null ? [] : [[each, value] as const]
  })
  const encoded = Buffer.from(body).toString('base64')
  return { name, body: encoded, headers: Object.fromEntries(headers), peers }
}

/** Callbacks for lines from a worker. */
interface LineHandlers {
  /** An empty line before it listens asks for the key that opens the vault. */
  readonly keyAsked: () => void
  /** Called for each later line; an empty one says that the worker is well. */
  readonly heard: () => void
  /** Source: `makeAskedReports`. */
  readonly reports: () => Reports | undefined
  readonly log: Log
}

async function hear(
  stdout: ReadableStream<Uint8Array>,
  { keyAsked, heard }: Pick<LineHandlers, 'keyAsked' | 'heard'>,
  listens: () => void,
  told: (line: WorkerReply | ReportQuestion) => void,
): Promise<void> {
  const lines = linesOf(stdout)
  let first = await lines.next()
  while (first.value === '') {
    keyAsked()
    first = await lines.next()
  }
  if (first.done === true) return
  listens()
  for await (const line of lines) {
    heard()
    if (line !== '') told(JSON.parse(line) as WorkerReply | ReportQuestion)
  }
}

/** @param send writes a line to stdin of the worker */
export function makeAsker(
  stdout: ReadableStream<Uint8Array>,
  send: (line: string) => void,
  hearing: LineHandlers,
) {
  const ready = Promise.withResolvers<boolean>()
  const waiting = new Map<number, (answer: WorkerReply | undefined) => void>()
  let last = 0
  let hasEnded = false

  const listens = (): void => ready.resolve(true)
  hear(stdout, hearing, listens, told => {
    if ('wants' in told) void answerReport(hearing, told, send)
    else waiting.get(told.id)?.(told)
  })
    .catch(() => {})
    .finally(() => {
      hasEnded = true
      ready.resolve(false)
      for (const answered of waiting.values()) answered(undefined)
    })

  /** @returns `undefined` if the worker has ended, or did not answer in time */
  async function exchange(
    asked: Omit<Question, 'id'>,
    waitMsMax: number | undefined,
    tell: Tell = () => {},
  ): Promise<WorkerReply | undefined> {
    if (hasEnded) return undefined
    last += 1
    const id = last
    const { promise, resolve } = Promise.withResolvers<WorkerReply | undefined>()
    const overdue =
      waitMsMax === undefined ? undefined : setTimeout(() => resolve(undefined), waitMsMax)
    waiting.set(id, answer => {
      if (answer?.progress === undefined) resolve(answer)
      else tell(answer.progress)
    })
    try {
      send(JSON.stringify({ id, ...asked } satisfies Question))
      return await promise
    } catch {
      // The worker has ended, and closed its stdin.
      return undefined
    } finally {
      clearTimeout(overdue)
      waiting.delete(id)
    }
  }

  const ask: AskWorker = async <K extends keyof WorkerAnswers>(
    name: K,
    { waitMsMax = workerAnswerMsMax, ...more }: Parameters<AskWorker>[1] = {},
  ) => {
    const answer = await exchange({ ask: name, ...more }, waitMsMax)
    return answer?.told as WorkerAnswers[K] | undefined
  }

  const operateThere: Operate = async (sent, tell) => {
    const asked = { ask: 'operate', operation: sentOf(sent) } as const
    const { told, failed } = (await exchange(asked, undefined, tell)) ?? {}
    if (failed !== undefined) throw new CommandFailure(failed)
    if (told !== undefined) return told as Facts
    throw new CommandFailure('the worker ended before it was done: see its log')
  }

  return { isReady: ready.promise, ask, operate: operateThere }
}
