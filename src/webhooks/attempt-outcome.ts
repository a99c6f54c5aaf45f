/**
 * The outcome of an attempt to deliver: done, to be tried again, dead (given up), or gone (the
 * receiver wants no more, which ends its webhook).
 *
 * Source: Standard Webhooks 1.0.0, "Retry schedule" and "Response codes": only 2xx is a success.
 * @module
 */
import type { Sent } from '../egress/send.ts'
import { attemptJitter, attemptWaitsMs } from '../limits/work-limits.ts'

export type AttemptOutcome =
  | { readonly kind: 'done' }
  /** The receiver wants no more (410). */
  | { readonly kind: 'gone'; readonly failure: string }
  | ({ readonly kind: 'dead'; readonly failure: string } & Pause)
  | ({
      readonly kind: 'again'
      readonly failure: string
      /** Milliseconds until the next attempt. */
      readonly waitMs: number
    } & Pause)

interface Pause {
  /** Milliseconds for which the receiver asks to be sent nothing at all. */
  readonly pauseMs: number
}

/** Statuses by which a receiver tells that it is busy, whatever it is sent. */
const busy: ReadonlySet<number> = new Set([429, 503])

/**
 * @param attempts so far, this one included
 * @param chance from 0 to 1: where a wait lies between its bounds
 */
export function outcomeOf(sent: Sent, attempts: number, chance: number): AttemptOutcome {
  const failure = 'failure' in sent ? sent.failure : String(sent.status)
  if ('status' in sent) {
    if (sent.status >= 200 && sent.status < 300) return { kind: 'done' }
    if (sent.status === 410) return { kind: 'gone', failure }
  }
  const askedMs = 'status' in sent ? (sent.retryAfterSeconds ?? 0) * 1_000 : 0
  const pauseMs = 'status' in sent && busy.has(sent.status) ? askedMs : 0
  const plainMs = attemptWaitsMs[attempts - 1]
  if (plainMs === undefined) return { kind: 'dead', failure, pauseMs }
  const scheduledMs = plainMs * (1 - attemptJitter + 2 * attemptJitter * chance)
  return { kind: 'again', failure, waitMs: Math.round(Math.max(scheduledMs, askedMs)), pauseMs }
}
