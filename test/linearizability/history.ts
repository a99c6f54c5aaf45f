/**
 * Calls of clients and their answers: the history that the checker judges, one line of JSON an
 * operation.
 *
 * All times are nanoseconds of one monotonic clock in one process, so that they compare. An
 * operation without an answer, or with one that promises nothing (5xx), stays open: it may have
 * happened or not.
 * @module
 */
import { writeFileSync } from 'node:fs'

/** Arguments of the call; which members count depends on the operation. */
export interface Input {
  readonly id?: string
  readonly value?: string
  /** A label, never the key itself. */
  readonly key?: string
}

export interface Output {
  readonly status: number
  readonly id?: string
  readonly value?: string
  readonly key?: string
  readonly ids?: readonly string[]
  readonly total?: number
  readonly reason?: string
}

/** An operation in the form that `checker/history.go` reads. */
export interface Operation {
  readonly client: number
  /**
   * Part of the history that it belongs to. Parts do not touch each other, and are judged apart.
   */
  readonly part: string
  readonly op: string
  readonly in: Input
  readonly call: number
  out?: Output
  return?: number
  /** Time at which the connection of an open operation broke. */
  ended?: number
}

export type Asked = Pick<Operation, 'client' | 'part' | 'op' | 'in'>

const firstServerError = 500

/**
 * Records one operation from before it is sent to after its answer.
 * @param send gives `undefined` if no answer came
 * @returns the answer; `undefined` if the operation stays open
 */
export async function record(
  history: Operation[],
  asked: Asked,
  send: () => Promise<Output | undefined>,
): Promise<Output | undefined> {
  const operation: Operation = { ...asked, call: Bun.nanoseconds() }
  history.push(operation)
  const out = await send()
  if (out === undefined || out.status >= firstServerError) {
    operation.ended = Bun.nanoseconds()
    return undefined
  }
  operation.return = Bun.nanoseconds()
  operation.out = out
  return out
}

export const printHistory = (history: readonly Operation[]): string =>
  history.map(operation => `${JSON.stringify(operation)}\n`).join('')

export const writeHistory = (path: string, history: readonly Operation[]): void =>
  writeFileSync(path, printHistory(history))
