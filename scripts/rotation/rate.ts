/**
 * Sends requests at a fixed rate, independent of earlier ones: each has its own due time, from
 * which its latency counts, so that a stalled server is charged for what it delays.
 * @module
 */
import {
  openConnection,
  type Answer,
  type Connection,
  type Target,
} from '../../test/support/connection.ts'

/** One request and its required answer. */
export interface Question {
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body?: unknown
  /** Returns the kind of fault of an answer; `undefined` for a right one. */
  readonly judge: (answer: Answer) => string | undefined
}

/** Results of the requests of one kind in one phase. */
export interface Tally {
  /** Times from the due time to the last byte, in order of completion. */
  readonly tookMs: number[]
  /** Completion times, by the same clock. */
  readonly endedMs: number[]
  readonly wrong: Map<string, number>
}

export const openTally = (): Tally => ({ tookMs: [], endedMs: [], wrong: new Map() })

export interface Rate {
  readonly target: Target
  readonly perSecond: number
  readonly connections: number
  readonly next: () => Question
  /** Returns the tally in which the next answer counts. */
  readonly tallyNow: () => Tally
  readonly isOver: () => boolean
}

function count({ wrong }: Tally, what: string): void {
  wrong.set(what, (wrong.get(what) ?? 0) + 1)
}

/** @returns true if the connection can be used again */
async function askOnce(connection: Connection, rate: Rate, dueMs: number): Promise<boolean> {
  const { method, path, key, body, judge } = rate.next()
  const tally = rate.tallyNow()
  // A timer may fire a little early.
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

/** Runs until the end; each connection takes the next request that is due. */
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
