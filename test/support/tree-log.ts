/**
 * A log of the audit in memory: its leaves, its stored tiles, and the tree of RFC 6962 as the text
 * of the standard has it, for comparison.
 * @module
 */
import { createHash } from 'node:crypto'
import { emptyFrontier, type Frontier } from '../../src/audit/merkle-tree.ts'
import { appendLeaves, type LogHashes } from '../../src/audit/tiles.ts'

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(createHash('sha256').update(Buffer.concat(parts)).digest())

/** Leaf hash of RFC 6962. */
export const leafOf = (entry: Uint8Array | string): Uint8Array =>
  sha256(Uint8Array.of(0), Buffer.from(entry))

/** Leaves 0 to below `count`, all different. */
export const leavesOf = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, at) => leafOf(`entry ${at}`))

/** Returns the greatest power of two below a number from 2 on. */
const split = (count: number): number => (count > 2 ? 2 * split(Math.ceil(count / 2)) : 1)

/** MTH of RFC 6962 section 2.1. */
export function treeHash(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves
  if (only === undefined) return sha256()
  if (leaves.length === 1) return only
  const k = split(leaves.length)
  return sha256(Uint8Array.of(1), treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)))
}

/** PATH of RFC 6962 section 2.1.1. */
export function auditPath(index: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length === 1) return []
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return index < k
    ? [...auditPath(index, left), treeHash(right)]
    : [...auditPath(index - k, right), treeHash(left)]
}

/** SUBPROOF of RFC 6962 section 2.1.2. */
export function subProof(
  older: number,
  leaves: readonly Uint8Array[],
  isWhole = true,
): Uint8Array[] {
  if (older === leaves.length) return isWhole ? [] : [treeHash(leaves)]
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return older <= k
    ? [...subProof(older, left, isWhole), treeHash(right)]
    : [...subProof(older - k, right, false), treeHash(left)]
}

/** Stored log, with what its reader asked for. */
export interface MemoryLog extends LogHashes {
  readonly derived: (key: Uint8Array) => Uint8Array | undefined
  readonly all: readonly Uint8Array[]
  /** By the hex of their keys. */
  readonly tiles: Map<string, Uint8Array>
  readonly frontier: () => Frontier
  append(leaves: readonly Uint8Array[]): Promise<void>
  /** Leaves read so far. */
  readonly leavesRead: () => number
  /** The same log without the entries below a state of it. */
  prunedTo(state: Frontier): LogHashes
}

export function memoryLog(): MemoryLog {
  const all: Uint8Array[] = []
  const tiles = new Map<string, Uint8Array>()
  let frontier = emptyFrontier
  let leavesRead = 0
  const derived = (key: Uint8Array) => {
    if (key[1] === 0) throw new Error('a tile of leaves was asked for, which is not stored')
    return tiles.get(key.toHex())
  }
  const leavesFrom = (oldest: number) => (first: number, count: number) => {
    if (first < oldest) throw new Error(`leaf ${first} was asked for, and is pruned`)
    if (count > 256) throw new Error(`${count} leaves were asked for at once`)
    leavesRead += count
    return Promise.resolve(all.slice(first, first + count))
  }
  return {
    all,
    tiles,
    derived,
    leaves: leavesFrom(0),
    pruned: emptyFrontier,
    frontier: () => frontier,
    leavesRead: () => leavesRead,
    prunedTo: pruned => ({ derived, leaves: leavesFrom(pruned.size), pruned }),
    async append(leaves) {
      const grown = await appendLeaves(frontier, leaves, derived)
      all.push(...leaves)
      for (const { key, value } of grown.tiles) tiles.set(key.toHex(), value)
      frontier = grown.frontier
    },
  }
}

/** Returns a copy with one bit changed. */
export function flipped(bytes: Uint8Array, bit = 0): Uint8Array {
  const copy = Uint8Array.from(bytes)
  const at = Math.floor(bit / 8) % copy.length
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit % 8))
  return copy
}
