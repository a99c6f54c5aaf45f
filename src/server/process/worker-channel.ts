/**
 * What the process that watches over workers asks them, what they ask it, and the answers: lines of
 * JSON on stdin and stdout of each, the first of which are the order and that it listens.
 * @module
 */
import type { Facts } from '../../vault/operator/operator-operation.ts'
import { workerAnswerMsMax } from '../../limits/operation-limits.ts'
import type { Failing, ProcessReport } from '../watch/process-report.ts'
import type { Numbers } from '../watch/metric-kinds.ts'

/** What a worker is asked, and what it tells. */
interface WorkerAnswers {
  readonly failing: Failing
  readonly numbers: Numbers
}

/** @returns `undefined` where no answer came in time, or the worker has ended */
export type AskWorker = <K extends keyof WorkerAnswers>(
  name: K,
) => Promise<WorkerAnswers[K] | undefined>

interface Question {
  readonly id: number
  readonly ask: keyof WorkerAnswers
}

interface WorkerReply {
  readonly id: number
  /** Absent where it could not be told. */
  readonly told?: WorkerAnswers[keyof WorkerAnswers]
}

/** The one question of a worker: what is so of all of them. */
interface QuestionForAll {
  readonly ask: 'all'
}

interface AnswerForAll {
  readonly all: Facts
}

/** The last one also where no line end came. */
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

async function answerTo({ id, ask }: Question, told: ProcessReport): Promise<WorkerReply> {
  try {
    if (ask === 'failing') return { id, told: await told.failing() }
    return { id, told: (await told.numbers()).flat() }
  } catch {
    return { id }
  }
}

const sayLine = (message: WorkerReply | QuestionForAll): void =>
  void process.stdout.write(`${JSON.stringify(message)}\n`)

/**
 * The side of a worker, once it has its order.
 * @param lines of stdin behind that
 */
export function openChannel(lines: AsyncIterable<string>) {
  const waiting = new Set<(all: Facts | undefined) => void>()
  let told: ProcessReport | undefined

  async function listen(): Promise<void> {
    for await (const line of lines) {
      const heard = JSON.parse(line) as Question | AnswerForAll
      if ('all' in heard) for (const answered of waiting) answered(heard.all)
      else if (told !== undefined) sayLine(await answerTo(heard, told))
    }
  }

  return {
    listen,
    /** Has what is asked be answered from now on. */
    answerBy(by: ProcessReport): void {
      told = by
    },
    /** @returns `undefined` where no answer came in time */
    async askForAll(): Promise<Facts | undefined> {
      const { promise, resolve } = Promise.withResolvers<Facts | undefined>()
      const overdue = setTimeout(() => resolve(undefined), workerAnswerMsMax)
      waiting.add(resolve)
      sayLine({ ask: 'all' })
      try {
        return await promise
      } finally {
        clearTimeout(overdue)
        waiting.delete(resolve)
      }
    },
  }
}

/** What the process that watches says and hears beside answers. */
interface Watcher {
  /** Sends a line to stdin of the worker. */
  readonly send: (line: string) => void
  /** Called for each line of it, of which an empty one says that it is well. */
  readonly heard?: () => void
  /** What is so of all. */
  readonly all?: () => Facts
}

/** The side of who watches. */
export function makeAsker(
  stdout: ReadableStream<Uint8Array>,
  { send, heard = () => {}, all = () => ({}) }: Watcher,
) {
  const ready = Promise.withResolvers<boolean>()
  const waiting = new Map<number, (answer: WorkerReply | undefined) => void>()
  let last = 0

  async function listen(): Promise<void> {
    const lines = linesOf(stdout)
    ready.resolve((await lines.next()).done !== true)
    for await (const line of lines) {
      heard()
      if (line === '') continue
      const said = JSON.parse(line) as WorkerReply | QuestionForAll
      if ('ask' in said) send(JSON.stringify({ all: all() } satisfies AnswerForAll))
      else waiting.get(said.id)?.(said)
    }
  }

  listen()
    .catch(() => {})
    .finally(() => {
      ready.resolve(false)
      for (const answered of waiting.values()) answered(undefined)
    })

  const ask: AskWorker = async name => {
    last += 1
    const id = last
    const { promise, resolve } = Promise.withResolvers<WorkerReply | undefined>()
    const overdue = setTimeout(() => resolve(undefined), workerAnswerMsMax)
    waiting.set(id, resolve)
    try {
      send(JSON.stringify({ id, ask: name } satisfies Question))
      return (await promise)?.told as never
    } catch {
      // It has ended, and its stdin with it.
      return undefined
    } finally {
      clearTimeout(overdue)
      waiting.delete(id)
    }
  }
  return { isReady: ready.promise, ask }
}
