/**
 * Settles an attempt: what its outcome changes in the round of its webhook.
 * @module
 */
import type { Sent } from '../egress/send.ts'
import { deadDeliveriesMax, deadDeliveriesMs, failingWebhookMs } from '../limits/work-limits.ts'
import { outcomeOf } from './attempt-outcome.ts'
import type { Round } from './courier-round.ts'
import { disableWebhook } from './disable-webhook.ts'
import type { Delivery } from './lanes.ts'
import type { DisabledBy } from './webhook-record.ts'

async function disable(round: Round, by: DisabledBy): Promise<void> {
  if (round.isDisabling) return
  round.isDisabling = true
  // If the webhook was changed meanwhile, the next attempt that fails disables it.
  round.isDisabling = await disableWebhook(round.parts.deps, round.stored, by).catch(() => false)
}

function giveUp(round: Round, { event, attempts }: Delivery, failure: string): void {
  const { sequence, place } = event
  const atMs = round.parts.deps.now()
  const kept = round.dead.filter(each => each.atMs > atMs - deadDeliveriesMs)
  round.dead = [...kept, { sequence, place, attempts, atMs, failure }].slice(-deadDeliveriesMax)
}

export function settle(round: Round, delivery: Delivery, sent: Sent): void {
  const { deps } = round.parts
  delivery.attempts += 1
  round.unsaved += 1
  const outcome = outcomeOf(sent, delivery.attempts, (deps.randomBytes(1)[0] ?? 0) / 255)
  round.parts.attempts[outcome.kind] += 1
  if (outcome.kind === 'done') {
    round.failingSinceMs = undefined
    round.lanes.remove(delivery)
    return
  }
  const nowMs = deps.now()
  round.failingSinceMs ??= nowMs
  if ('pauseMs' in outcome && outcome.pauseMs > 0) round.pausedUntilMs = nowMs + outcome.pauseMs
  delivery.failure = outcome.failure
  if (outcome.kind === 'dead') {
    giveUp(round, delivery, outcome.failure)
    round.lanes.remove(delivery)
  } else if (outcome.kind === 'again') {
    delivery.nextMs = nowMs + outcome.waitMs
  } else {
    delivery.nextMs = nowMs
    void disable(round, 'gone')
  }
  if (nowMs - round.failingSinceMs >= failingWebhookMs) void disable(round, 'failing')
}
