/**
 * A client with a connection of its own, which it opens anew whenever a server has died.
 * @module
 */
import { openConnection, type Answer, type Connection } from '../support/connection.ts'
import type { Question, Target } from '../support/connection.ts'
import type { Draw } from '../crash/draw.ts'
import { record, type Input, type Operation, type Output } from './history.ts'

/** Longer than any stopped or replaced process may take. */
const answerMsMax = 120_000
const reconnectMs = 5
const reconnectMsMax = 120_000

export interface Client {
  readonly index: number
  readonly draw: Draw
  /** @returns `undefined` where no answer came */
  readonly ask: (method: string, path: string, question?: Question) => Promise<Answer | undefined>
  /** Sends one operation of the history; `read` makes its output from the answer. */
  readonly record: (operation: Sent) => Promise<Output | undefined>
  readonly close: () => void
}

interface Sent {
  readonly part: string
  readonly op: string
  readonly in?: Input
  readonly method: string
  readonly path: string
  readonly question: Question
  /** Members of a body that the checker compares, beside the status. */
  readonly read?: (body: Body, status: number) => Omit<Output, 'status'>
}

/** The JSON of an answer, or of a problem. */
export type Body = Readonly<Record<string, unknown>>

async function connect(target: Target): Promise<Connection> {
  const endMs = performance.now() + reconnectMsMax
  for (;;) {
    const connection = await openConnection(target).catch(() => undefined)
    if (connection !== undefined) return connection
    if (performance.now() > endMs) throw new Error('nobody listens there any more')
    await Bun.sleep(reconnectMs)
  }
}

/**
 * @returns `undefined` once the connection broke
 * @throws Error for a server that lives and does not answer
 */
async function answerIn(
  connection: Connection,
  asking: Promise<Answer>,
): Promise<Answer | undefined> {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    connection.close()
  }, answerMsMax)
  const answer = await asking.catch(() => undefined)
  clearTimeout(timer)
  if (isLate) throw new Error(`no answer within ${answerMsMax} ms`)
  return answer
}

const parse = ({ text }: Answer): Body => (text === '' ? {} : (JSON.parse(text) as Body))

export function openClient(
  index: number,
  target: Target,
  history: Operation[],
  draw: Draw,
): Client {
  let connection: Connection | undefined
  const ready = async (): Promise<Connection> => {
    if (connection?.isOpen() !== true) connection = await connect(target)
    return connection
  }
  const ask: Client['ask'] = async (method, path, question) => {
    const open = await ready()
    return answerIn(open, open.ask(method, path, question))
  }
  return {
    index,
    draw,
    ask,
    async record({ part, op, in: input = {}, method, path, question, read = () => ({}) }) {
      // The connection opens before the operation's clock: a longer operation proves less.
      await ready()
      return record(history, { client: index, part, op, in: input }, async () => {
        const answer = await ask(method, path, question)
        if (answer === undefined) return undefined
        return { status: answer.status, ...read(parse(answer), answer.status) }
      })
    },
    close: () => connection?.close(),
  }
}

/**
 * Sends until it is answered: for requests that are no part of the history. @throws Error for an
 * answer of another status
 */
export async function insist(
  client: Client,
  wanted: number,
  ...[method, path, question]: Parameters<Client['ask']>
): Promise<Body> {
  for (;;) {
    const answer = await client.ask(method, path, question)
    if (answer?.status === wanted) return parse(answer)
    if (answer === undefined || answer.status >= 500) {
      await Bun.sleep(reconnectMs)
      continue
    }
    throw new Error(`${method} ${path}: ${answer.status} in place of ${wanted}: ${answer.text}`)
  }
}
