/**
 * Unsealing: takes the master key of a sealed process, either in shares from their holders, or as a
 * whole from its owner.
 * @module
 */
import type { Facts } from '../../vault/operator/operator-operation.ts'
import type { Log } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { wrongSharesMax } from '../../limits/operation-limits.ts'
import { decodeMasterKey } from './master-key.ts'
import type { SealSwitch } from './sealing.ts'
import { collectShares, type ShareCollection } from './unsealing.ts'

export interface Unsealer {
  /** From the control socket. @param text a share, or the digits of a key; wiped by it */
  readonly take: (text: Uint8Array) => Promise<Facts>
  /**
   * From a listener open to others: only shares, and only few wrong ones.
   * @param text wiped by it
   */
  readonly takeShare: (text: Uint8Array) => Promise<Facts>
  /** Forgets all shares, and the number of wrong ones. */
  readonly reset: () => Facts
  readonly status: () => Facts
}

const tooMany = () =>
  new ApiError('too_many_requests', 'too many wrong shares came: use coffer unseal on the machine')

export function makeUnsealer<T>(sealing: SealSwitch<T>, log: Log): Unsealer {
  const own = collectShares()
  // Kept apart, so that callers of the listener cannot hinder unsealing on the machine.
  const reached = collectShares(own.shares)
  let wrong = 0

  const statusOf = ({ progress }: ShareCollection): Facts => ({
    sealed: sealing.current() === undefined,
    ...progress(),
  })

  function reset(): void {
    own.reset()
    reached.reset()
    wrong = 0
  }

  async function open(masterKey: Uint8Array): Promise<void> {
    await sealing.unseal(masterKey)
    reset()
    log('unsealed')
  }

  async function takeShare(collection: ShareCollection, text: Uint8Array): Promise<Facts> {
    // Otherwise shares would remain in the memory of an open vault.
    if (sealing.current() !== undefined) {
      text.fill(0)
      throw new ApiError('conflict', 'the vault is not sealed')
    }
    try {
      const masterKey = await collection.add(text)
      if (masterKey !== undefined) await open(masterKey)
      return statusOf(collection)
    } catch (error) {
      if (collection === reached) wrong += 1
      log('unseal_refused', { wrong })
      throw error
    } finally {
      text.fill(0)
    }
  }

  return {
    takeShare: async text => {
      if (wrong < wrongSharesMax) return takeShare(reached, text)
      text.fill(0)
      throw tooMany()
    },
    async take(text) {
      const masterKey = decodeMasterKey(text)
      if (masterKey === undefined) return takeShare(own, text)
      text.fill(0)
      await open(masterKey)
      return statusOf(own)
    },
    reset() {
      reset()
      return statusOf(own)
    },
    status: () => statusOf(own),
  }
}
