/**
 * Deliveries that wait, in lanes: those about one thing go one after the other, in the order of the
 * log, while those about others pass.
 * @module
 */
import { thingOf, type VaultEvent } from './event-types.ts'

export interface Delivery {
  readonly event: VaultEvent
  /** Attempts so far. */
  attempts: number
  /** Unix milliseconds before which it does not go. */
  nextMs: number
  failure: string | undefined
  isUnderWay: boolean
}

export const newDelivery = (event: VaultEvent): Delivery => ({
  event,
  attempts: 0,
  nextMs: 0,
  failure: undefined,
  isUnderWay: false,
})

export interface Lanes {
  readonly size: () => number
  /** Number of those in lanes whose first one was not tried yet. */
  readonly fresh: () => number
  readonly add: (delivery: Delivery) => void
  /** The first of each lane that may go at an instant. */
  readonly ready: (nowMs: number) => Iterable<Delivery>
  /** Takes one out, if it was not dropped meanwhile. */
  readonly remove: (delivery: Delivery) => void
  /** Takes out those of entries from a sequence on, but for those under way. */
  readonly dropFrom: (sequence: number) => void
  /** In the order of the log. */
  readonly all: () => readonly Delivery[]
}

const byPlace = ({ event: a }: Delivery, { event: b }: Delivery): number =>
  a.sequence - b.sequence || a.place - b.place

export function makeLanes(): Lanes {
  const lanes = new Map<string, Delivery[]>()
  let size = 0

  function* ready(nowMs: number): Generator<Delivery> {
    for (const [head] of lanes.values()) {
      if (head !== undefined && !head.isUnderWay && head.nextMs <= nowMs) yield head
    }
  }

  const keep = (thing: string, kept: readonly Delivery[], before: number): void => {
    size -= before - kept.length
    if (kept.length === 0) lanes.delete(thing)
    else lanes.set(thing, [...kept])
  }

  return {
    size: () => size,
    fresh() {
      let count = 0
      for (const lane of lanes.values()) if (lane[0]?.attempts === 0) count += lane.length
      return count
    },
    add(delivery) {
      const thing = thingOf(delivery.event)
      const lane = lanes.get(thing)
      if (lane === undefined) lanes.set(thing, [delivery])
      else lane.push(delivery)
      size += 1
    },
    ready,
    remove(delivery) {
      const thing = thingOf(delivery.event)
      const lane = lanes.get(thing) ?? []
      const at = lane.indexOf(delivery)
      if (at < 0) return
      lane.splice(at, 1)
      size -= 1
      if (lane.length === 0) lanes.delete(thing)
    },
    dropFrom(sequence) {
      for (const [thing, lane] of lanes) {
        const kept = lane.filter(({ event, isUnderWay }) => isUnderWay || event.sequence < sequence)
        keep(thing, kept, lane.length)
      }
    },
    all: () => [...lanes.values()].flat().toSorted(byPlace),
  }
}
