/**
 * How a client of the campaign sends a request and notes what it was promised.
 * @module
 */
import type { Answer, Connection, Question } from '../../support/connection.ts'
import type { Draw } from '../draw.ts'
import { countAcknowledged, countAnswer, report, type Ledger } from './ledger.ts'
import { acknowledge, begin, refuse, type Register, type Version } from './register.ts'

export interface Keys {
  readonly management: string
  /** Of a private application that sees and does everything with tokens. */
  readonly private: string
  /** Of a public application, which makes sessions. */
  readonly public: string
}

export interface Client {
  readonly ledger: Ledger
  readonly keys: Keys
  readonly draw: Draw
  readonly connection: Connection
  /** Among those of its round. */
  readonly index: number
  /** Statuses that any write may be answered with instead, such as 507 while a disk is full. */
  readonly tolerated?: readonly number[]
}

/** What is sent, and the status that it must be answered with. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly question: Question
  readonly status: number
  /** Whether another answer is right, too, by what became of it meanwhile. */
  readonly isExcused?: (status: number) => boolean
}

/** What a write does, should it happen. */
export interface Effect {
  /** What it is counted as. */
  readonly kind: string
  readonly register: Register
  readonly version: Version
}

export const parseBody = <T>({ text }: Answer): T => JSON.parse(text) as T

export const unavailable = 503
export const storageFull = 507

/** What is answered so must not have happened. */
export const isRefusal = (status: number): boolean =>
  (status >= 400 && status < 500) || status === storageFull

/** Answers of another status are breaches: the ledger knows what must be. */
export async function send(client: Client, request: Request): Promise<Answer> {
  const { ledger, connection, tolerated = [] } = client
  const { method, path, question, status, isExcused } = request
  const answer = await connection.ask(method, path, question)
  countAnswer(ledger, answer.status)
  const isRight = answer.status === status || tolerated.includes(answer.status)
  if (!isRight && isExcused?.(answer.status) !== true) {
    report(
      ledger,
      'wrong answer',
      `${method} ${path}: ${answer.status} in place of ${status}: ${answer.text}`,
    )
  }
  return answer
}

/**
 * Sends one write. Throws when no answer came, and leaves it pending.
 * @returns the answer, where it acknowledged
 */
export async function write(
  client: Client,
  { kind, register, version }: Effect,
  request: Request,
): Promise<Answer | undefined> {
  begin(register, version)
  const answer = await send(client, request)
  const { status } = answer
  if (status >= 200 && status < 300) {
    acknowledge(register, version)
    countAcknowledged(client.ledger, kind)
    return answer
  }
  if (isRefusal(status)) refuse(register, version)
  return undefined
}
