/**
 * Proofs over the tree of the audit log: that an entry is in it, and that a later state of it
 * continues an earlier one.
 *
 * Source: RFC 9162 sections 2.1.3 and 2.1.4. A proof that fails is an answer, not an error.
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { invalid } from '../lib/errors.ts'
import { emptyFrontier, hashBytes, hashPair, isTreeSize, rootOf } from './merkle-tree.ts'
import { readRoot, type LogHashes } from './tiles.ts'

/** Statement of a checkpoint about its log. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** Leaves from `from` to below `to`. */
interface Span {
  readonly from: number
  readonly to: number
}

/** Sibling on the way down: which side of the way it is on. */
interface Sibling extends Span {
  readonly isLeft: boolean
}

/** Returns the greatest power of two below a number from 2 on. */
function powerBelow(count: number): number {
  let power = 1
  while (2 * power < count) power *= 2
  return power
}

/** Goes down towards a leaf. @returns where it stopped, and its siblings from the bottom up */
function descend(size: number, leaf: number, isThere: (span: Span) => boolean) {
  const siblings: Sibling[] = []
  let span: Span = { from: 0, to: size }
  while (!isThere(span)) {
    const middle = span.from + powerBelow(span.to - span.from)
    const [left, right] = [
      { from: span.from, to: middle },
      { from: middle, to: span.to },
    ]
    const isLeft = leaf >= middle
    siblings.push({ ...(isLeft ? left : right), isLeft })
    span = isLeft ? right : left
  }
  return { span, siblings: siblings.toReversed() }
}

const toLeaf = (size: number, leaf: number) =>
  descend(size, leaf, ({ from, to }) => to - from === 1)

/** Stops at the largest subtree that ends where the older tree does. */
const toOlderTree = (size: number, older: number) =>
  descend(size, older - 1, ({ to }) => to === older)

async function readSpans(log: LogHashes, spans: readonly Span[]): Promise<Uint8Array[]> {
  const roots: Uint8Array[] = []
  for (const { from, to } of spans) roots.push(await readRoot(log, from, to))
  return roots
}

/**
 * Proves that a tree of `size` has the leaf at `index`.
 * @throws ApiError `invalid_request` if it cannot have it, `not_found` if pruning took what the
 *   proof needs, `storage_corrupt` for missing hashes
 */
export async function proveInclusion(
  log: LogHashes,
  index: number,
  size: number,
): Promise<Uint8Array[]> {
  if (!isTreeSize(size)) throw invalid('size', 'expected the size of a log')
  if (!isTreeSize(index) || index >= size) {
    throw invalid('index', 'expected a whole number from 0 to below the size of the log')
  }
  return await readSpans(log, toLeaf(size, index).siblings)
}

/**
 * Proves that the tree of size `newer` begins with all leaves of that of size `older`.
 * @throws ApiError as `proveInclusion` does
 */
export async function proveConsistency(
  log: LogHashes,
  older: number,
  newer: number,
): Promise<Uint8Array[]> {
  if (!isTreeSize(newer)) throw invalid('newer', 'expected the size of a log')
  if (!isTreeSize(older) || older > newer) {
    throw invalid('older', 'expected a whole number from 0 to the newer size')
  }
  if (older === 0) return []
  const { span, siblings } = toOlderTree(newer, older)
  return await readSpans(log, span.from === 0 ? siblings : [span, ...siblings])
}

const areHashes = (hashes: readonly Uint8Array[]): boolean =>
  hashes.every(({ length }) => length === hashBytes)

/** @param index of the leaf, from 0 */
export function isIncluded(
  leaf: Uint8Array,
  index: number,
  { size, root }: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isTreeSize(size) || !isTreeSize(index) || index >= size) return false
  const { siblings } = toLeaf(size, index)
  if (proof.length !== siblings.length || !areHashes([leaf, root, ...proof])) return false
  let hash = leaf
  for (const [at, sibling] of proof.entries()) {
    hash = siblings[at]?.isLeft === true ? hashPair(sibling, hash) : hashPair(hash, sibling)
  }
  return equalBytes(hash, root)
}

/** A tree of any size continues the empty one. */
export function isConsistent(
  older: TreeHead,
  newer: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isTreeSize(newer.size) || !isTreeSize(older.size) || older.size > newer.size) return false
  if (!areHashes([older.root, newer.root, ...proof])) return false
  if (older.size === newer.size) return proof.length === 0 && equalBytes(older.root, newer.root)
  if (older.size === 0) return proof.length === 0 && equalBytes(older.root, rootOf(emptyFrontier))
  const { span, siblings } = toOlderTree(newer.size, older.size)
  const [start, ...rest] = span.from === 0 ? [older.root, ...proof] : proof
  if (start === undefined || rest.length !== siblings.length) return false
  let [hashOfOlder, hashOfNewer] = [start, start]
  for (const [at, sibling] of rest.entries()) {
    if (siblings[at]?.isLeft === true) {
      hashOfOlder = hashPair(sibling, hashOfOlder)
      hashOfNewer = hashPair(sibling, hashOfNewer)
    } else hashOfNewer = hashPair(hashOfNewer, sibling)
  }
  return equalBytes(hashOfOlder, older.root) && equalBytes(hashOfNewer, newer.root)
}
