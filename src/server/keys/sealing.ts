/**
 * The seal of a process: while sealed, it has no keys of its vault, and answers no request.
 *
 * There is one change at a time: calls during a change are refused.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import { exclusive } from '../../lib/serial.ts'

/** Opens and closes everything that depends on the keys. */
export interface SealingParts<T> {
  /** @param masterKey wiped by it @throws if it does not open the vault, which stays sealed */
  readonly open: (masterKey: Uint8Array) => Promise<T>
  /** Releases everything once running requests have ended; never throws. */
  readonly close: (open: T) => Promise<void>
}

export interface SealSwitch<T> {
  /** `undefined` while sealed, and during a change. */
  readonly current: () => T | undefined
  /**
   * @param masterKey wiped by it
   * @throws ApiError `conflict` unless it is sealed; the errors of `open`
   */
  readonly unseal: (masterKey: Uint8Array) => Promise<void>
  /** Resolves when no key is left. @throws ApiError `conflict` if it is already sealed */
  readonly seal: () => Promise<void>
}

const conflict = (message: string): ApiError => new ApiError('conflict', message)

/** @param first the parts that are open already */
export function makeSealing<T>({ open, close }: SealingParts<T>, first?: T): SealSwitch<T> {
  let current = first
  const alone = exclusive(() => conflict('the vault is being sealed or unsealed: try again'))
  return {
    current: () => current,
    async unseal(masterKey) {
      try {
        await alone(async () => {
          if (current !== undefined) throw conflict('the vault is not sealed')
          current = await open(masterKey)
        })
      } finally {
        masterKey.fill(0)
      }
    },
    seal: () =>
      alone(async () => {
        const before = current
        if (before === undefined) throw conflict('the vault is sealed already')
        current = undefined
        await close(before)
      }),
  }
}
