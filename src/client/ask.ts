/**
 * What operations ask with.
 * @module
 */
import { idempotencyKeyBytes } from './limits.ts'
import { randomHex } from './platform.ts'
import { send, type Call, type CallOptions, type Wire } from './wire.ts'

type Asking = <T>(
  method: Call['method'],
  path: string,
  body?: unknown,
  options?: CallOptions,
) => Promise<T>

export interface Ask {
  /** What may be repeated as it is. */
  readonly plain: Asking
  /** A write that the vault keeps under a key, so that it is done once however often it is sent. */
  readonly keeping: Asking
}

export const makeAsk = (wire: Wire): Ask => ({
  plain: <T>(method: Call['method'], path: string, body?: unknown, options?: CallOptions) =>
    send(wire, { method, path, body }, options) as Promise<T>,
  keeping: <T>(method: Call['method'], path: string, body?: unknown, options?: CallOptions) =>
    send(
      wire,
      { method, path, body, idempotencyKey: randomHex(idempotencyKeyBytes) },
      options,
    ) as Promise<T>,
})
