/**
 * Some clients that write at once, each to its own tokens, until one of their writes fails.
 *
 * @module
 */
import { record, type Ledger, type State } from '../ledger.ts'
import { openClient, type Client, type Target } from './vault-folder.ts'

const writers = 3
/** Makes writers fall out of step, so that a commit holds sometimes one write, sometimes more. */
const stepMs = 2

export interface Work {
  /** Begins the names of its tokens. */
  readonly prefix: string
  /** Each writer also makes a token with this lifetime. */
  readonly briefMs?: number
}

export interface Written {
  /** Reason of each writer that gave up. */
  readonly reasons: readonly string[]
  /** Reasons that no failing disk excuses: a wrong answer, or none in time. */
  readonly breaches: readonly string[]
  readonly slowestAnswerMs: number
}

interface Step {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly id: string
  /** State in the ledger afterwards. */
  readonly state: State
  readonly body?: object
}

const statusOf = { POST: 201, PATCH: 200, DELETE: 204 } as const

const tokenBody = { type: 'token', data: 1 }

function stepsOf(name: string): readonly Step[] {
  const [first, second] = [`${name}-a`, `${name}-b`]
  return [
    { method: 'POST', id: first, state: 1, body: { id: first, ...tokenBody } },
    { method: 'PATCH', id: first, state: 2, body: { data: 2 } },
    { method: 'POST', id: second, state: 1, body: { id: second, ...tokenBody } },
    { method: 'DELETE', id: first, state: undefined },
    { method: 'PATCH', id: second, state: 2, body: { data: 2 } },
  ]
}

/** The ledger has it as absent from the start: no check comes before it expires. */
function briefStep(name: string, lifeMs: number): Step {
  const expires_at = new Date(Date.now() + lifeMs).toISOString()
  const id = `${name}-brief`
  return { method: 'POST', id, state: undefined, body: { id, ...tokenBody, expires_at } }
}

interface Writer extends Work {
  readonly target: Target
  readonly ledger: Ledger
  readonly answerMs: number[]
}

async function takeStep({ ledger, answerMs }: Writer, client: Client, step: Step): Promise<void> {
  const { method, id, state, body } = step
  const path = method === 'POST' ? '/tokens' : `/tokens/${id}`
  const ask = async () => {
    const startedMs = performance.now()
    try {
      return (await client.ask(method, path, body)).status
    } finally {
      answerMs.push(performance.now() - startedMs)
    }
  }
  await record(ledger, id, state, ask, statusOf[method])
}

async function takeSteps(writer: Writer, place: number): Promise<void> {
  const { target, prefix, briefMs } = writer
  const client = await openClient(target)
  const name = `${prefix}-w${place}`
  if (briefMs !== undefined) await takeStep(writer, client, briefStep(name, briefMs))
  for (const step of stepsOf(name)) {
    await takeStep(writer, client, step)
    await Bun.sleep(place * stepMs)
  }
  client.close()
}

/** A failing disk shows as a refusal with 503 or a broken connection. */
function breachOf(reason: string): string[] {
  const isRefusal = /expected \d+, got 503/.test(reason)
  const isWrong = /expected \d+, got/.test(reason) && !isRefusal
  return isWrong || /no answer in time/.test(reason) ? [reason] : []
}

export async function writeAtOnce(target: Target, ledger: Ledger, work: Work): Promise<Written> {
  const writer: Writer = { ...work, target, ledger, answerMs: [] }
  const outcomes = await Promise.allSettled(
    Array.from({ length: writers }, (_, place) => takeSteps(writer, place)),
  )
  const reasons = outcomes.flatMap(outcome =>
    outcome.status === 'rejected' ? [String(outcome.reason)] : [],
  )
  return {
    reasons,
    breaches: reasons.flatMap(breachOf),
    slowestAnswerMs: Math.max(0, ...writer.answerMs),
  }
}
