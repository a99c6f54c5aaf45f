/**
 * A client of the campaign: sends requests and notes what it was promised.
 * @module
 */
import type { Answer, Connection, Question } from '../../support/connection.ts'
import type { Draw } from '../draw.ts'
import { countAcknowledged, countAnswer, report, type Ledger } from './ledger.ts'
import { acknowledge, begin, refuse, type Register, type Version } from './register.ts'

export interface Keys {
  readonly management: string
  /** Key of a private application with every token permission. */
  readonly private: string
  /** Key of a public application, which makes sessions. */
  readonly public: string
}

export interface Client {
  readonly ledger: Ledger
  readonly keys: Keys
  readonly draw: Draw
  readonly connection: Connection
  /** Position among the clients of its round. */
  readonly index: number
  /** Statuses that any write may be answered with instead, such as 507 while a disk is full. */
  readonly tolerated?: readonly number[]
}

/** A request and the status that must answer it. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly question: Question
  readonly status: number
  /** True if another status is right too, given what has happened meanwhile. */
  readonly isExcused?: (status: number) => boolean
}

/** Effect of a write, should it happen. */
export interface Effect {
  /** Name under which it is counted. */
  readonly kind: string
  readonly register: Register
  readonly version: Version
}

export const parseBody = <T>({ text }: Answer): T => JSON.parse(text) as T

export const unavailable = 503
export const storageFull = 507

/** True for a status that promises that the write did not happen. */
export const isRefusal = (status: number): boolean =>
  (status >= 400 && status < 500) || status === storageFull

/** Reports any other status as a breach: the ledger knows the right one. */
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
 * @returns the answer, if it acknowledged the write
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
