/**
 * Shares of a master key as they come, one by one, until there are as many as they ask for.
 *
 * What came is kept in locked memory and wiped once it made a key, or none.
 * @module
 */
import { equalBytes } from '../bytes.ts'
import { joinShares, parseShare, type Share } from '../crypto/shares.ts'
import { ApiError } from '../errors.ts'

/** How far it is: nobody knows how many are needed before the first one came. */
interface ShareProgress {
  readonly shares: number
  readonly threshold: number | null
}

export interface ShareCollection {
  /**
   * @param text of a share; wiped by whoever brings it
   * @returns the key once there are enough, which whoever has used it wipes
   * @throws ApiError `invalid_request` for a share that is not taken, with those before it kept;
   *   and where shares enough made no key, with all of them gone
   */
  readonly add: (text: Uint8Array) => Promise<Uint8Array | undefined>
  readonly progress: () => ShareProgress
  /** Forgets what came. */
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

export function collectShares(): ShareCollection {
  let shares: Share[] = []
  const reset = (): void => {
    for (const { part } of shares) part.fill(0)
    shares = []
  }
  return {
    async add(text) {
      const share = parseShare(text)
      try {
        assertFits(share, shares)
      } catch (error) {
        share.part.fill(0)
        throw error
      }
      shares.push(share)
      if (shares.length < share.threshold) return undefined
      const enough = shares
      shares = []
      const masterKey = await joinShares(enough)
      for (const { part } of enough) part.fill(0)
      if (masterKey !== undefined) return masterKey
      throw refuse('these shares make no master key: start again with others')
    },
    progress: () => ({ shares: shares.length, threshold: shares[0]?.threshold ?? null }),
    reset,
  }
}
