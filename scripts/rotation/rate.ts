/**
 * Requests at a fixed rate, whatever becomes of those before: each is due at an instant of its own,
 * and its time counts from there, so that a server that stalls is not spared what it delays.
 * @module
 */
import {
  openConnection,
  type Answer,
  type Connection,
  type Target,
} from '../../test/support/connection.ts'

/** One request and what its answer must be. */
export interface Question {
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body?: unknown
  /** What is wrong with an answer, by what it is counted as; `undefined` for a right one. */
  readonly judge: (answer: Answer) => string | undefined
}

/** What came of the requests of one kind in one phase. */
export interface Tally {
  /** From when each was due to its last byte, in the order in which they ended. */
  readonly tookMs: number[]
  /** When each ended, of the same clock. */
  readonly endedMs: number[]
  readonly wrong: Map<string, number>
}

export const openTally = (): Tally => ({ tookMs: [], endedMs: [], wrong: new Map() })

export interface Rate {
  readonly target: Target
  readonly perSecond: number
  readonly connections: number
  readonly next: () => Question
  /** Where the answer to a request is counted. */
  readonly tallyNow: () => Tally
  readonly isOver: () => boolean
}

function count({ wrong }: Tally, what: string): void {
  wrong.set(what, (wrong.get(what) ?? 0) + 1)
}

/** @returns whether the connection may be used again */
async function askOnce(connection: Connection, rate: Rate, dueMs: number): Promise<boolean> {
  const { method, path, key, body, judge } = rate.next()
  const tally = rate.tallyNow()
  // A timer may end a little early.
  const fromMs = Math.min(dueMs, performance.now())
  try {
    const answer = await connection.ask(method, path, { key, body })
    const endMs = performance.now()
    tally.tookMs.push(endMs - fromMs)
    tally.endedMs.push(endMs)
    const what = judge(answer)
    if (what !== undefined) count(tally, what)
  } catch {
    count(tally, 'no answer')
  }
  return connection.isOpen()
}

/** Until it is over; each connection takes the next request that is due. */
export async function keepRate(rate: Rate): Promise<void> {
  const { target, perSecond, connections, isOver } = rate
  const startMs = performance.now()
  let taken = 0
  const work = async (): Promise<void> => {
    let connection = await openConnection(target)
    while (!isOver()) {
      const dueMs = startMs + (taken++ * 1_000) / perSecond
      const waitMs = dueMs - performance.now()
      if (waitMs > 0) await Bun.sleep(waitMs)
      if (!(await askOnce(connection, rate, dueMs))) connection = await openConnection(target)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, work))
}
