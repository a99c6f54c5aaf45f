/**
 * Repeatable randomness: one seed gives one sequence (mulberry32). For data sets, never for keys.
 * @module
 */

export interface Random {
  /** From 0 to `below` - 1. */
  readonly integer: (below: number) => number
  readonly bytes: (count: number) => Uint8Array
  /** That many decimal digits. */
  readonly digits: (count: number) => string
  readonly pick: <T>(items: readonly [T, ...T[]]) => T
  /** The same items in another order. */
  readonly shuffled: <T>(items: readonly T[]) => T[]
}

function openWords(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}

export function openRandom(seed: number): Random {
  const word = openWords(seed)
  const integer = (below: number): number => Math.floor((word() / 2 ** 32) * below)
  return {
    integer,
    bytes: count => Uint8Array.from({ length: count }, () => word() >>> 24),
    digits: count => Array.from({ length: count }, () => integer(10)).join(''),
    pick: items => items[integer(items.length)] ?? items[0],
    shuffled: items =>
      items
        .map(item => ({ item, place: word() }))
        .sort((a, b) => a.place - b.place)
        .map(({ item }) => item),
  }
}
