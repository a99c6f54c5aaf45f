/**
 * Whether a process has the keys of its vault: sealed, it has none, and answers no request.
 *
 * One change at a time: who comes meanwhile is refused.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'

/** How what is there with the keys alone is had, and let go of. */
export interface SealingParts<T> {
  /** @param masterKey wiped by it @throws where it does not open; it is sealed then as before */
  readonly open: (masterKey: Uint8Array) => Promise<T>
  /** Lets go of all of it, once what is under way has ended; never throws. */
  readonly close: (open: T) => Promise<void>
}

export interface SealSwitch<T> {
  /** `undefined` while it is sealed, and while that changes. */
  readonly current: () => T | undefined
  /**
   * @param masterKey wiped by it
   * @throws ApiError `conflict` where it is not sealed; what `open` throws
   */
  readonly unseal: (masterKey: Uint8Array) => Promise<void>
  /** Resolves when no key is left. @throws ApiError `conflict` where it is sealed */
  readonly seal: () => Promise<void>
}

const conflict = (message: string): ApiError => new ApiError('conflict', message)

/** @param first what is open already */
export function makeSealing<T>({ open, close }: SealingParts<T>, first?: T): SealSwitch<T> {
  let current = first
  let isChanging = false
  async function alone(change: () => Promise<void>): Promise<void> {
    if (isChanging) throw conflict('the vault is being sealed or unsealed: try again')
    isChanging = true
    try {
      await change()
    } finally {
      isChanging = false
    }
  }
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
