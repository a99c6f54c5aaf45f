/**
 * A queue whose owners take turns: one item for each, however many one of them has added.
 * @module
 */

export interface FairQueue<T> {
  readonly add: (owner: number, item: T) => void
  readonly has: (owner: number) => boolean
  /** The first item of each owner, in the order of their turns. */
  readonly heads: () => Iterable<readonly [owner: number, item: T]>
  /** Removes the first item of an owner, whose next turn comes after those of all others. */
  readonly take: (owner: number) => T | undefined
}

export function makeFairQueue<T>(): FairQueue<T> {
  // In the order of turns. No list is empty.
  const lists = new Map<number, T[]>()

  return {
    add(owner, item) {
      const list = lists.get(owner)
      if (list === undefined) lists.set(owner, [item])
      else list.push(item)
    },
    has: owner => lists.has(owner),
    *heads() {
      for (const [owner, [item]] of lists) {
        if (item !== undefined) yield [owner, item] as const
      }
    },
    take(owner) {
      const list = lists.get(owner)
      const item = list?.shift()
      lists.delete(owner)
      if (list !== undefined && list.length > 0) lists.set(owner, list)
      return item
    },
  }
}
