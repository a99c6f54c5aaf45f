/**
 * The state of the deliveries to a webhook: one value beside the log, which one process writes.
 *
 * It holds numbers of entries and attempts, instants and failures, and no id. Each event below the
 * cursor that the webhook asks for was delivered, waits, or was given up. The state is written a
 * moment after deliveries: after a crash some messages go out twice, with the same id.
 * @module
 */
import { deliveriesKey, readDerived } from '../audit/derived-keys.ts'
import { utf8, utf8Text } from '../lib/bytes.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import type { Store } from '../store/contract.ts'

/** An event that waits for its first or its next attempt. */
export interface WaitingDelivery {
  readonly sequence: number
  readonly place: number
  /** Attempts so far. */
  readonly attempts: number
  /** Unix milliseconds of the next attempt. */
  readonly nextMs: number
  /** Status of the last answer, or what failed before one; absent before the first attempt. */
  readonly failure?: string | undefined
}

/** An event that was given up. */
export interface DeadDelivery {
  readonly sequence: number
  readonly place: number
  readonly attempts: number
  readonly atMs: number
  readonly failure: string
}

export interface DeliveryState {
  /** Sequence of the next entry to read. */
  readonly cursor: number
  /** Number of the last order that was done. */
  readonly ordersDone: number
  /** Unix milliseconds of the first failure since the last success. */
  readonly failingSinceMs?: number | undefined
  /** In the order of the log. */
  readonly waiting: readonly WaitingDelivery[]
  /** Oldest first. */
  readonly dead: readonly DeadDelivery[]
}

export const encodeState = (state: DeliveryState): Uint8Array => utf8(JSON.stringify(state))

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

const isInstant = (value: unknown): value is number => Number.isFinite(value) && Number(value) >= 0

/** A status, or a name of `SendFailure`. */
const isFailure = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9_]{1,40}$/.test(value)

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null

const isPlaced = (value: unknown): value is Members =>
  isMembers(value) && [value['sequence'], value['place'], value['attempts']].every(isCount)

const isWaiting = (value: unknown): value is WaitingDelivery =>
  isPlaced(value) &&
  isInstant(value['nextMs']) &&
  (value['failure'] === undefined || isFailure(value['failure']))

const isDead = (value: unknown): value is DeadDelivery =>
  isPlaced(value) && isInstant(value['atMs']) && isFailure(value['failure'])

/** Returns `undefined` for bytes that are no state: somebody else has changed them. */
function decodeState(bytes: Uint8Array): DeliveryState | undefined {
  try {
    const read: unknown = JSON.parse(utf8Text(bytes))
    if (!isMembers(read)) return undefined
    const { cursor, ordersDone, failingSinceMs, waiting, dead } = read
    if (!isCount(cursor) || !isCount(ordersDone)) return undefined
    if (failingSinceMs !== undefined && !isInstant(failingSinceMs)) return undefined
    if (!Array.isArray(waiting) || !waiting.every(isWaiting)) return undefined
    if (!Array.isArray(dead) || !dead.every(isDead)) return undefined
    return { cursor, ordersDone, failingSinceMs, waiting, dead }
  } catch {
    return undefined
  }
}

/** A state that does not decode counts as none: then all is delivered once more. */
export const readState = (
  store: Pick<Store, 'derived'>,
  { id, from }: { readonly id: string; readonly from: number },
): MaybeLater<DeliveryState> =>
  andThen(
    readDerived(store, deliveriesKey(id)),
    stored =>
      (stored && decodeState(stored)) ?? { cursor: from, ordersDone: 0, waiting: [], dead: [] },
  )
