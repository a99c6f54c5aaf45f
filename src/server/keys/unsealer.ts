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
import { equalBytes } from '../../lib/bytes.ts'
import { joinShares, parseShare, type Share } from '../../crypto/shares.ts'

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

/*
 * Collects shares of a master key, one by one, until there are enough of them.
 *
 * Shares are kept in locked memory, and wiped once they were joined, with or without success.
 */

/** Progress of the collection; the threshold is known once the first share has come. */
interface ShareProgress {
  readonly shares: number
  readonly threshold: number | null
}

export interface ShareCollection {
  /**
   * @param text of a share; wiped by the caller
   * @returns the key once there are enough shares, which the caller wipes
   * @throws ApiError `invalid_request` if the share is refused, with earlier ones kept, or if
   *   enough shares make no key, with those kept here dropped
   */
  readonly add: (text: Uint8Array) => Promise<Uint8Array | undefined>
  readonly progress: () => ShareProgress
  /** The shares collected so far. */
  readonly shares: () => readonly Share[]
  /** Forgets all shares. */
  readonly reset: () => void
}

const refuse = (message: string): ApiError => new ApiError('invalid_request', message)

const isOfSet = (one: Share, other: Share): boolean =>
  one.threshold === other.threshold &&
  equalBytes(one.set, other.set) &&
  equalBytes(one.check, other.check)

function assertFits(share: Share, before: readonly Share[]): void {
  const [first] = before
  if (first !== undefined && !isOfSet(share, first)) {
    throw refuse('the share is of another key, or of another split, than those before it')
  }
  if (before.some(({ part }) => part.at(-1) === share.part.at(-1))) {
    throw refuse('that share is here already: another one is needed')
  }
}

/** @param base  shares that count as well, but are kept elsewhere */
export function collectShares(base: () => readonly Share[] = () => []): ShareCollection {
  let shares: Share[] = []
  const wipe = (some: readonly Share[]): void => {
    for (const { part } of some) part.fill(0)
  }
  return {
    async add(text) {
      const share = parseShare(text)
      const before = [...base(), ...shares]
      try {
        assertFits(share, before)
      } catch (error) {
        wipe([share])
        throw error
      }
      shares.push(share)
      if (before.length + 1 < share.threshold) return undefined
      const own = shares
      shares = []
      const masterKey = await joinShares([...before, share]).finally(() => wipe(own))
      if (masterKey !== undefined) return masterKey
      throw refuse('these shares make no master key: start again with others')
    },
    progress() {
      const all = [...base(), ...shares]
      return { shares: all.length, threshold: all[0]?.threshold ?? null }
    },
    shares: () => shares,
    reset() {
      wipe(shares)
      shares = []
    },
  }
}
