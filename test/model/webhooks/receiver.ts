/**
 * The receiver of a run: a real server, which answers each message as its plan says and writes down
 * what came.
 * @module
 */
import type { ServerResponse } from 'node:http'
import { startWebhookReceiver, type Message } from '../../support/webhook-receiver.ts'

export type Outcome =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter?: number }
  /** The connection ends before an answer, or within it. */
  | { readonly kind: 'cut'; readonly isWithin: boolean }
  /** It answers once it is told to. */
  | { readonly kind: 'hold' }

/** Outcomes for things whose ids end in an even character, and in an odd one. */
export type Plan = readonly [Outcome, Outcome]

const accepting: Plan = [
  { kind: 'answer', status: 204 },
  { kind: 'answer', status: 204 },
]

/** A message that came, by the clock of the vault. */
export interface Arrival {
  readonly message: Message
  readonly target: string
  readonly atMs: number
  readonly outcome: Outcome
}

export interface PlannedReceiver {
  readonly port: number
  /** Returns those that nobody has taken yet, in their order. */
  readonly take: () => readonly Arrival[]
  readonly count: () => number
  readonly held: () => number
  /** Answers all that it holds of a webhook. */
  readonly release: (webhookId: string, outcome: Outcome) => void
  readonly cutAll: () => void
  /** By webhook. */
  readonly plans: Map<string, Plan>
  readonly [Symbol.dispose]: () => void
}

function answer(response: ServerResponse, outcome: Outcome): void {
  if (outcome.kind === 'answer') {
    const { status, retryAfter } = outcome
    const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
    response.writeHead(status, headers).end()
  } else if (outcome.kind === 'cut') {
    if (outcome.isWithin) response.writeHead(200, { 'content-length': '10' }).write('{}')
    // The written part may leave first.
    setImmediate(() => response.socket?.destroy())
  }
}

const thingIn = ({ body }: Message): string =>
  Object.entries(body.data).find(([name]) => name !== 'actor')?.[1].id ?? ''

const webhookIdOf = ({ id }: Message): string => id.split('_')[0] ?? ''

/** @param now the clock of the vault */
export async function startPlannedReceiver(now: () => number): Promise<PlannedReceiver> {
  const receiver = await startWebhookReceiver()
  const plans = new Map<string, Plan>()
  const holding: { readonly webhookId: string; readonly response: ServerResponse }[] = []
  let arrivals: Arrival[] = []
  let count = 0
  receiver.answer = (message, response) => {
    const webhookId = webhookIdOf(message)
    const isOdd = (thingIn(message).codePointAt(thingIn(message).length - 1) ?? 0) % 2
    const outcome = (plans.get(webhookId) ?? accepting)[isOdd === 0 ? 0 : 1]
    arrivals.push({ message, target: response.req.url ?? '', atMs: now(), outcome })
    count += 1
    if (outcome.kind === 'hold') holding.push({ webhookId, response })
    else answer(response, outcome)
  }
  const end = (isMeant: (webhookId: string) => boolean, outcome: Outcome): void => {
    for (const { webhookId, response } of holding.splice(0)) {
      if (isMeant(webhookId)) answer(response, outcome)
      else holding.push({ webhookId, response })
    }
  }
  return {
    port: receiver.port,
    take() {
      const taken = arrivals
      arrivals = []
      return taken
    },
    count: () => count,
    held: () => holding.length,
    release: (webhookId, outcome) => end(id => id === webhookId, outcome),
    cutAll: () => end(() => true, { kind: 'cut', isWithin: false }),
    plans,
    [Symbol.dispose]: () => receiver[Symbol.dispose](),
  }
}
