/**
 * The couriers of all webhooks, in one of the processes that share a store: the one that sweeps.
 *
 * A webhook is a place in the audit log, and all entries behind it are still to be sent: so no
 * event is lost between a commit and its delivery.
 * @module
 */
import { placeMarkKey } from '../audit/derived-keys.ts'
import { makeLogEnd } from '../audit/log-end.ts'
import type { Deps } from '../deps.ts'
import { privateKeyOf } from '../crypto/ed25519.ts'
import type { Send } from '../egress/send.ts'
import { ApiError, attempt } from '../lib/errors.ts'
import { deliveriesMax, deliveriesPerTenantMax, webhookRowsStep } from '../limits/work-limits.ts'
import { startCourier, type Courier } from './courier.ts'
import type { CourierParts } from './courier-round.ts'
import { noAttempts, sumOf, type DeliveryFigures } from './delivery-figures.ts'
import { readState } from './delivery-state.ts'
import { makeEventReader } from './read-events.ts'
import { makeTurns } from './turns.ts'
import { anyWebhookTerm, unsealWebhook, type StoredWebhook } from './webhook-record.ts'

export interface Deliverer {
  /** Sends what may go now, and reads on in the log; it is called once at a time. */
  readonly tick: () => Promise<void>
  /** Sends no more, and writes down how far each webhook is. */
  readonly end: () => Promise<void>
  readonly figures: () => DeliveryFigures
}

/**
 * Reads all webhooks, newest first.
 * @param onDamaged called with the ordinal of one that does not open: the others are served
 */
export async function* storedWebhooks(
  { store, keys }: Pick<Deps, 'store' | 'keys'>,
  onDamaged: (ordinal: number) => void = () => {},
) {
  for (let before: number | undefined; ;) {
    const window = { offset: 0, limit: webhookRowsStep, nowMs: 0, uncounted: true } as const
    const { rows } = await store.page(
      { term: anyWebhookTerm(keys) },
      before === undefined ? window : { ...window, before },
    )
    for (const row of rows) {
      const stored = attempt(() => unsealWebhook(keys, row))
      if (stored === undefined) onDamaged(row.ordinal)
      else yield stored
    }
    before = rows.at(-1)?.ordinal
    if (before === undefined || rows.length < webhookRowsStep) return
  }
}

function eventKeyOf({ keys: { eventSeed } }: Pick<Deps, 'keys'>) {
  if (eventSeed === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
  return privateKeyOf(eventSeed)
}

interface Known {
  readonly courier: Courier
  readonly version: number
}

const figuresOf = (
  { attempts, turns }: CourierParts,
  known: readonly Known[],
  disabled: number,
): DeliveryFigures => ({
  ...sumOf(known.map(({ courier }) => courier.figures())),
  attempts,
  underWay: turns.taken(),
  enabled: known.length,
  disabled,
})

/** @param isDeliverer true in the one process that delivers */
export function makeDeliverer(deps: Deps, send: Send, isDeliverer: () => boolean): Deliverer {
  const { store } = deps
  let couriers = new Map<string, Known>()
  let generation: number | undefined
  let parts: CourierParts = {
    deps,
    send,
    logEnd: makeLogEnd(deps, placeMarkKey),
    eventKey: eventKeyOf(deps),
    read: makeEventReader(deps),
    turns: makeTurns({ all: deliveriesMax, tenant: deliveriesPerTenantMax }),
    attempts: noAttempts(),
  }
  let disabled = 0

  /** Forgets all couriers: others begin where these were last saved. */
  function leaveAll(): void {
    for (const { courier } of couriers.values()) courier.leave()
    couriers = new Map()
    disabled = 0
    generation = undefined
    parts = { ...parts, logEnd: makeLogEnd(deps, placeMarkKey) }
  }

  async function courierOf(stored: StoredWebhook, known: Known | undefined): Promise<Courier> {
    if (known === undefined) {
      return startCourier(parts, stored, await readState(store, stored.record))
    }
    if (known.version !== stored.row.version) known.courier.change(stored)
    return known.courier
  }

  async function reload(): Promise<void> {
    const found = new Map<string, Known>()
    const ending = new Map(couriers)
    let failed = 0
    const onDamaged = (row: number): void => deps.log('webhook_damaged', { row })
    for await (const stored of storedWebhooks(deps, onDamaged)) {
      const { id, status, disabledBy } = stored.record
      if (status === 'disabled' && disabledBy !== undefined) failed += 1
      const known = couriers.get(id)
      if (status === 'disabled' && known === undefined) continue
      const courier = await courierOf(stored, known)
      if (status === 'disabled') continue
      found.set(id, { courier, version: stored.row.version })
      ending.delete(id)
    }
    couriers = found
    disabled = failed
    // The courier of a deleted webhook writes nothing: its row is required.
    for (const { courier } of ending.values()) await courier.end()
  }

  return {
    async tick() {
      if (!isDeliverer()) return leaveAll()
      const current = await store.generation()
      if (current !== generation) await reload()
      generation = current
      if (couriers.size === 0) return
      const range = await store.logRange()
      if (!(await parts.logEnd.look(range))) return leaveAll()
      await Promise.all(Array.from(couriers.values(), ({ courier }) => courier.work(range)))
    },
    async end() {
      await Promise.all(Array.from(couriers.values(), ({ courier }) => courier.end()))
    },
    figures: () => figuresOf(parts, [...couriers.values()], disabled),
  }
}
