/**
 * Findings of `coffer doctor` about webhooks: those that the vault has disabled, and those that are
 * far behind. A running vault tells the same by its metrics.
 * @module
 */
import type { Keys } from '../../crypto/keyring.ts'
import { webhookBehindEntries } from '../../limits/operation-limits.ts'
import { waitingDeliveriesMax } from '../../limits/work-limits.ts'
import type { LogRange } from '../../store/contract.ts'
import type { OperatedStore } from '../../store/operated.ts'
import { storedWebhooks } from '../../webhooks/couriers.ts'
import { readState, type DeliveryState } from '../../webhooks/delivery-state.ts'
import type { DisabledBy, WebhookRecord } from '../../webhooks/webhook-record.ts'
import { warning, type DoctorFinding } from './finding.ts'

const causes: Readonly<Record<DisabledBy, string>> = {
  gone: 'its receiver answered 410',
  failing: 'its receiver failed for five days',
}

const about = 'webhooks'

function findingsOf(
  { id, status, disabledBy }: WebhookRecord,
  { cursor, waiting, dead }: DeliveryState,
  { next }: LogRange,
): readonly DoctorFinding[] {
  if (status === 'disabled') {
    if (disabledBy === undefined) return []
    const text = `${id} was disabled, since ${causes[disabledBy]}: mend that, then enable it`
    return [warning(about, text)]
  }
  const behind = Math.max(0, next - cursor)
  const isBehind = behind >= webhookBehindEntries || waiting.length >= waitingDeliveriesMax
  const has = `${id} is ${behind} entries behind, and ${waiting.length} deliveries wait`
  return [
    ...(isBehind ? [warning(about, `${has}: see what its receiver answers`)] : []),
    ...(dead.length > 0
      ? [warning(about, `${id} has given up ${dead.length} events: see its deliveries`)]
      : []),
  ]
}

export async function findInWebhooks(
  store: OperatedStore,
  keys: Keys,
): Promise<readonly DoctorFinding[]> {
  const range = await store.logRange()
  const found: DoctorFinding[] = []
  for await (const { record } of storedWebhooks({ store, keys })) {
    found.push(...findingsOf(record, await readState(store, record), range))
  }
  return found
}
