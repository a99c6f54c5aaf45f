/**
 * Counts for each owner of something; an owner that has none takes no memory.
 * @module
 */

export interface Counts<T> {
  readonly of: (owner: T) => number
  /** Owners that have any. */
  readonly owners: () => number
  readonly change: (owner: T, by: 1 | -1) => void
}

export function makeCounts<T>(): Counts<T> {
  const counts = new Map<T, number>()
  const of = (owner: T): number => counts.get(owner) ?? 0
  return {
    of,
    owners: () => counts.size,
    change(owner, by) {
      const count = of(owner) + by
      if (count === 0) counts.delete(owner)
      else counts.set(owner, count)
    },
  }
}
