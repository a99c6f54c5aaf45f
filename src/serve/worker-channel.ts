/**
 * What the process that watches over workers asks them, and what they answer: lines of JSON on
 * stdin and stdout of each, the first of which are the order and that it listens.
 * @module
 */
import { workerAnswerMsMax } from '../operation-limits.ts'
import type { Failing, Told } from './told.ts'
import type { Numbers } from './metric-kinds.ts'

/** What a worker is asked, and what it tells. */
interface Asked {
  readonly failing: Failing
  readonly numbers: Numbers
}

/** @returns `undefined` where no answer came in time, or the worker has ended */
export type Ask = <K extends keyof Asked>(name: K) => Promise<Asked[K] | undefined>

interface Question {
  readonly id: number
  readonly ask: keyof Asked
}

interface Answer {
  readonly id: number
  /** Absent where it could not be told. */
  readonly told?: Asked[keyof Asked]
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

/** @param name handed on as it came: the process that asks is of the same program */
async function answerTo({ id, ask }: Question, told: Told): Promise<Answer> {
  try {
    if (ask === 'failing') return { id, told: await told.failing() }
    return { id, told: (await told.numbers()).flat() }
  } catch {
    return { id }
  }
}

/** Answers on stdout what is asked from now on. */
export async function answerAsked(lines: AsyncIterable<string>, told: Told): Promise<void> {
  for await (const line of lines) {
    const answer = await answerTo(JSON.parse(line) as Question, told)
    process.stdout.write(`${JSON.stringify(answer)}\n`)
  }
}

/**
 * The side of who asks.
 * @param send a line to stdin of the worker
 * @param heard called for each line of it, of which an empty one says that it is well
 */
export function makeAsker(
  stdout: ReadableStream<Uint8Array>,
  send: (line: string) => void,
  heard: () => void = () => {},
) {
  const ready = Promise.withResolvers<boolean>()
  const waiting = new Map<number, (answer: Answer | undefined) => void>()
  let last = 0

  async function listen(): Promise<void> {
    const lines = linesOf(stdout)
    ready.resolve((await lines.next()).done !== true)
    for await (const line of lines) {
      heard()
      if (line === '') continue
      const answer = JSON.parse(line) as Answer
      waiting.get(answer.id)?.(answer)
    }
  }

  listen()
    .catch(() => {})
    .finally(() => {
      ready.resolve(false)
      for (const answered of waiting.values()) answered(undefined)
    })

  const ask: Ask = async name => {
    last += 1
    const id = last
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
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
