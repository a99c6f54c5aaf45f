/**
 * The Merkle tree over the leaf hashes of the audit log, and its frontier: the roots of the perfect
 * subtrees that a log of a given size consists of. The frontier is all that appending needs.
 *
 * Source: RFC 9162 section 2.1 (as RFC 6962), with SHA-256. A leaf hash is given; a node is
 * SHA-256(0x01 ‖ left ‖ right).
 * @module
 */
import { readU48, u48Bytes, writeU48 } from '../lib/bytes.ts'
import { assertStored, invariant } from '../lib/errors.ts'
import { auditEntriesMax } from '../limits/operation-limits.ts'

export const hashBytes = 32
/** Levels of nodes from the leaves up, in a log of the greatest size. */
const levelsMax = 48

/** State of a tree, as a value. */
export interface Frontier {
  /** Leaves, which is also the index of the next one. */
  readonly size: number
  /** Roots of the perfect subtrees from left to right, thus from large to small. */
  readonly hashes: readonly Uint8Array[]
}

export const emptyFrontier: Frontier = { size: 0, hashes: [] }

export const isTreeSize = (size: number): boolean =>
  Number.isSafeInteger(size) && size >= 0 && size <= auditEntriesMax

/** Input of one node, filled anew for each: hashing is synchronous. */
const node = new Uint8Array(1 + 2 * hashBytes)
node[0] = 0x01

function hashInto(left: Uint8Array, right: Uint8Array, into: Uint8Array): void {
  node.set(left, 1)
  node.set(right, 1 + hashBytes)
  Bun.SHA256.hash(node, into)
}

/** @param left, right 32 bytes each */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  invariant(left.length === hashBytes && right.length === hashBytes, 'a hash has 32 bytes')
  const hash = new Uint8Array(hashBytes)
  hashInto(left, right, hash)
  return hash
}

/** Returns the levels of the perfect subtrees, from left to right. */
export function levelsOf(size: number): number[] {
  const levels: number[] = []
  for (let level = 0, rest = size; rest > 0; level += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) levels.push(level)
  }
  return levels.toReversed()
}

/** Returns the root of the tree; that of no leaves is the hash of nothing. */
export function rootOf({ hashes }: Frontier): Uint8Array {
  const [last, ...larger] = hashes.toReversed()
  if (last !== undefined) return larger.reduce((right, left) => hashPair(left, right), last)
  const ofNothing = new Uint8Array(hashBytes)
  Bun.SHA256.hash(new Uint8Array(0), ofNothing)
  return ofNothing
}

/** The size as u48, then the hashes. */
export function encodeFrontier({ size, hashes }: Frontier): Uint8Array {
  const bytes = new Uint8Array(u48Bytes + hashes.length * hashBytes)
  writeU48(bytes, 0, size)
  for (const [at, hash] of hashes.entries()) bytes.set(hash, u48Bytes + at * hashBytes)
  return bytes
}

/** @throws ApiError `storage_corrupt` if they are not the bytes of a frontier */
export function decodeFrontier(bytes: Uint8Array): Frontier {
  const size = readU48(bytes, 0)
  const length = u48Bytes + levelsOf(size).length * hashBytes
  assertStored(bytes.length === length, 'a frontier of the audit log has a hash for each subtree')
  return { size, hashes: splitHashes(bytes.subarray(u48Bytes)) }
}

/** Copies hashes that follow each other. */
export const splitHashes = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / hashBytes }, (_, at) =>
    bytes.slice(at * hashBytes, (at + 1) * hashBytes),
  )

/** Tree that leaves are appended to. */
export interface GrowingTree {
  size(): number
  /** @param leaf 32 bytes, copied */
  append(leaf: Uint8Array): void
  frontier(): Frontier
}

/**
 * Receives each node above the leaves that became complete: the root of the 2^level leaves from
 * index · 2^level on. Its hash is valid until it returns.
 */
type Completed = (level: number, index: number, hash: Uint8Array) => void

/** @throws ApiError `internal` for a leaf of another length, and beyond the greatest size */
export function growTree(from: Frontier, completed?: Completed): GrowingTree {
  const roots = Array.from({ length: levelsMax }, () => new Uint8Array(hashBytes))
  for (const [at, level] of levelsOf(from.size).entries()) {
    const hash = from.hashes[at]
    invariant(hash?.length === hashBytes, 'a frontier has a hash for each perfect subtree')
    roots[level]?.set(hash)
  }
  const joined = new Uint8Array(hashBytes)
  let { size } = from
  return {
    size: () => size,
    append(leaf) {
      invariant(leaf.length === hashBytes, 'a leaf of the audit log is a hash of 32 bytes')
      invariant(size < auditEntriesMax, 'the audit log has room for one more entry')
      let [level, index, hash, root] = [0, size, leaf, roots[0]]
      while (index % 2 === 1 && root !== undefined) {
        hashInto(root, hash, joined)
        hash = joined
        index = (index - 1) / 2
        level += 1
        root = roots[level]
        completed?.(level, index, hash)
      }
      root?.set(hash)
      size += 1
    },
    frontier: () => ({
      size,
      hashes: levelsOf(size).flatMap(level => roots[level]?.slice() ?? []),
    }),
  }
}

/** Returns the root over leaves, or over roots of equally large subtrees. */
export function rootOver(hashes: readonly Uint8Array[]): Uint8Array {
  const tree = growTree(emptyFrontier)
  for (const hash of hashes) tree.append(hash)
  return rootOf(tree.frontier())
}
