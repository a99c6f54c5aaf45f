/**
 * Sends the operations.
 * @module
 */
import type { Answer, Call, CallOptions, Wire } from './call.ts'
import { withDates } from './instants.ts'
import { idempotencyKeyBytes } from './limits.ts'
import { randomHex } from './platform.ts'
import { isThings } from './shapes.ts'
import { send } from './wire.ts'

type Asking = <T>(
  method: Call['method'],
  path: string,
  body?: unknown,
  options?: CallOptions,
  answered?: Partial<Pick<Call, 'read' | 'is'>>,
) => Answer<T>

/** @internal */
export interface Ask {
  /** Safe to repeat as it is. */
  readonly plain: Asking
  /** A write under an idempotency key: done once, however often it is sent. */
  readonly keeping: Asking
}

const usual = { read: withDates, is: isThings }

/** @internal */
export const makeAsk = (wire: Wire): Ask => ({
  plain: (method, path, body, options, answered) =>
    send(wire, { ...usual, method, path, body, ...answered }, options) as Answer<never>,
  keeping: (method, path, body, options, answered) => {
    const idempotencyKey = randomHex(idempotencyKeyBytes)
    const call = { ...usual, method, path, body, idempotencyKey, ...answered }
    return send(wire, call, options) as Answer<never>
  },
})
