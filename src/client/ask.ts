/**
 * What operations ask with.
 * @module
 */
import type { Answer, Call, CallOptions, Wire } from './call.ts'
import { withDates } from './instants.ts'
import { idempotencyKeyBytes } from './limits.ts'
import { randomHex } from './platform.ts'
import { send } from './wire.ts'

type Asking = <T>(
  method: Call['method'],
  path: string,
  body?: unknown,
  options?: CallOptions,
  read?: Call['read'],
) => Answer<T>

/** @internal */
export interface Ask {
  /** What may be repeated as it is. */
  readonly plain: Asking
  /** A write that the vault keeps under a key, so that it is done once however often it is sent. */
  readonly keeping: Asking
}

/** @internal */
export const makeAsk = (wire: Wire): Ask => ({
  plain: (method, path, body, options, read = withDates) =>
    send(wire, { method, path, body, read }, options) as Answer<never>,
  keeping: (method, path, body, options, read = withDates) => {
    const idempotencyKey = randomHex(idempotencyKeyBytes)
    return send(wire, { method, path, body, read, idempotencyKey }, options) as Answer<never>
  },
})
