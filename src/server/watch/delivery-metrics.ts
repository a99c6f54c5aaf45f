/**
 * Metrics of deliveries to webhooks: sums, and no id of a webhook or a tenant.
 * @module
 */
import type { DeliveryFigures } from '../../webhooks/delivery-figures.ts'
import { addCounter, gaugeAdder, secondsOf, type Registry } from './metric-kinds.ts'

/** Outcomes of attempts, as the metric names them. */
const outcomes = [
  ['delivered', 'done'],
  ['failed', 'again'],
  ['given_up', 'dead'],
  ['gone', 'gone'],
] as const

/** @param read absent values while the vault is sealed */
export function addDeliveryMetrics(
  registry: Registry,
  read: () => DeliveryFigures | undefined,
): void {
  const add = gaugeAdder(registry)
  const help = 'attempts to deliver an event, by outcome'
  const described = {
    name: 'coffer_webhook_attempts_total',
    help,
    labelNames: ['outcome'] as const,
  }
  addCounter(registry, described, () => {
    const attempts = read()?.attempts
    if (attempts === undefined) return []
    return outcomes.map(([outcome, kind]) => [{ outcome }, attempts[kind]])
  })
  add('coffer_webhook_attempts_in_flight', 'attempts under way', () => read()?.underWay)
  add('coffer_webhook_parked', 'deliveries that failed, or wait behind one', () => read()?.parked)
  add('coffer_webhook_dead', 'events given up that are still listed', () => read()?.dead)
  add(
    'coffer_webhook_lag_entries',
    'entries of the log that the slowest webhook has not read',
    () => read()?.lagEntries,
  )
  add('coffer_webhook_lag_seconds', 'age of the first of these', () => secondsOf(read()?.lagMs))
  add('coffer_webhooks_enabled', 'webhooks that are served', () => read()?.enabled)
  add('coffer_webhooks_disabled', 'webhooks disabled since they failed', () => read()?.disabled)
}
