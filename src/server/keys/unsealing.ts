/**
 * Collects shares of a master key, one by one, until there are enough of them.
 *
 * Shares are kept in locked memory, and wiped once they were joined, with or without success.
 * @module
 */
import { equalBytes } from '../../lib/bytes.ts'
import { joinShares, parseShare, type Share } from '../../crypto/shares.ts'
import { ApiError } from '../../lib/errors.ts'

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
   *   enough shares make no key, with all of them dropped
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
