/**
 * How many bytes are held at a time, in all and by each credential: the counting of every budget of
 * memory.
 *
 * @module
 */

/** In bytes. */
export interface SharesMax {
  readonly all: number
  /** Of one credential. */
  readonly own: number
}

export interface Shares {
  /** Whether the credential at that ordinal may hold so many bytes more. */
  readonly fits: (ordinal: number, bytes: number) => boolean
  /** Adds to what it holds, whether it fits or not; below zero gives back. */
  readonly change: (ordinal: number, bytes: number) => void
}

export function openShares(max: SharesMax): Shares {
  let all = 0
  const owners = new Map<number, number>()
  const heldBy = (ordinal: number): number => owners.get(ordinal) ?? 0
  return {
    fits: (ordinal, bytes) => all + bytes <= max.all && heldBy(ordinal) + bytes <= max.own,
    change(ordinal, bytes) {
      const own = heldBy(ordinal) + bytes
      all += bytes
      if (own === 0) owners.delete(ordinal)
      else owners.set(ordinal, own)
    },
  }
}
