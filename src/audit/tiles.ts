/**
 * Stored nodes of the tree, in tiles of 256 hashes: a tile of level 1 has the roots of 256 leaves
 * each, one of level 2 those of 65,536, and so on. Level 0 is not stored, since the bundles of the
 * log have its hashes.
 *
 * The last tile of a level is stored as soon as it has a hash, and replaced as it grows, so that a
 * proof reads few leaves. Tiles stay when bundles are pruned; the frontier at the prune point has
 * the nodes that pruning took from level 0.
 *
 * Source: C2SP tlog-tiles, with tiles of height 8.
 * @module
 */
import { u48Bytes, writeU48 } from '../lib/bytes.ts'
import { ApiError, assertStored } from '../lib/errors.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import {
  growTree,
  hashBytes,
  hashPair,
  levelsOf,
  rootOver,
  splitHashes,
  type Frontier,
} from './merkle-tree.ts'

const tileLevels = 8
const tileHashesMax = 2 ** tileLevels
const tileKind = 0x01

/** 0x01 · level u8 · index u48, among the derived values of the store. */
function tileKey(level: number, index: number): Uint8Array {
  const key = new Uint8Array(2 + u48Bytes)
  key[0] = tileKind
  key[1] = level
  writeU48(key, 2, index)
  return key
}

type ReadDerived = (key: Uint8Array) => MaybeLater<Uint8Array | undefined>

/** Access to the hashes of a log. */
export interface LogHashes {
  /** Reads `count` leaf hashes that follow each other; none of them is below the prune point. */
  readonly leaves: (first: number, count: number) => MaybeLater<readonly Uint8Array[]>
  readonly derived: ReadDerived
  /** State at the prune point; the empty one if nothing was pruned. */
  readonly pruned: Frontier
}

/** @throws ApiError `storage_corrupt` if the stored tile has a part of a hash, or too many */
async function readTile(derived: ReadDerived, level: number, index: number): Promise<Uint8Array> {
  const bytes = (await derived(tileKey(level, index))) ?? new Uint8Array(0)
  const isWhole = bytes.length % hashBytes === 0 && bytes.length <= tileHashesMax * hashBytes
  assertStored(isWhole, 'a tile of the audit log has up to 256 whole hashes')
  return bytes
}

/** @returns undefined if the tile is missing, or had not grown to it yet */
async function storedNode(
  { derived }: LogHashes,
  level: number,
  index: number,
): Promise<Uint8Array | undefined> {
  const width = 2 ** (level % tileLevels)
  const place = (index * width) % tileHashesMax
  const tileIndex = Math.floor((index * width) / tileHashesMax)
  const tile = await readTile(derived, Math.floor(level / tileLevels), tileIndex)
  const end = (place + width) * hashBytes
  if (tile.length < end) return undefined
  return rootOver(splitHashes(tile.subarray(place * hashBytes, end)))
}

/** Returns the hash of a node that is one of the frontier's subtrees. */
function frontierNode(frontier: Frontier, level: number, index: number): Uint8Array | undefined {
  let first = 0
  for (const [at, each] of levelsOf(frontier.size).entries()) {
    if (each === level && first === index * 2 ** level) return frontier.hashes[at]
    first += 2 ** each
  }
  return undefined
}

/** Reads a node from a tile or from the frontier at the prune point, or else works it out. */
async function readNode(log: LogHashes, level: number, index: number): Promise<Uint8Array> {
  const stored = level < tileLevels ? undefined : await storedNode(log, level, index)
  const known = stored ?? frontierNode(log.pruned, level, index)
  if (known !== undefined) return known
  const first = index * 2 ** level
  if (level <= tileLevels && first >= log.pruned.size) {
    const leaves = await log.leaves(first, 2 ** level)
    const isWhole =
      leaves.length === 2 ** level && leaves.every(({ length }) => length === hashBytes)
    assertStored(isWhole, 'the audit log has each leaf from its prune point on')
    return rootOver(leaves)
  }
  if (level === 0) {
    throw new ApiError(
      'not_found',
      'entries that this proof needs were pruned: ask from the oldest kept entry on',
    )
  }
  const left = await readNode(log, level - 1, 2 * index)
  return hashPair(left, await readNode(log, level - 1, 2 * index + 1))
}

/**
 * Returns the root over the leaves from `from` to below `to`, at least one. `from` is a multiple of
 * the smallest power of two that is not below their number, as in every part of a tree.
 * @throws ApiError `not_found` if pruning took what it needs; `storage_corrupt` for missing hashes
 */
export async function readRoot(log: LogHashes, from: number, to: number): Promise<Uint8Array> {
  const nodes: Uint8Array[] = []
  let first = from
  for (const level of levelsOf(to - from)) {
    nodes.push(await readNode(log, level, first / 2 ** level))
    first += 2 ** level
  }
  return nodes.reduceRight((right, left) => hashPair(left, right))
}

/** Tile that has grown, to be put under its key. */
export interface GrownTile {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Hashes to be appended to one tile. */
interface Growth {
  readonly level: number
  readonly index: number
  /** Place in the tile of the first of them. */
  readonly place: number
  readonly hashes: Uint8Array[]
}

async function growTile(derived: ReadDerived, growth: Growth): Promise<GrownTile> {
  const { level, index, place, hashes } = growth
  const before = place === 0 ? new Uint8Array(0) : await readTile(derived, level, index)
  assertStored(before.length >= place * hashBytes, 'a tile of the audit log has its first hashes')
  const value = new Uint8Array((place + hashes.length) * hashBytes)
  value.set(before.subarray(0, place * hashBytes))
  for (const [at, hash] of hashes.entries()) value.set(hash, (place + at) * hashBytes)
  return { key: tileKey(level, index), value }
}

/**
 * Appends leaves to a tree.
 * @returns the new state, and the tiles to be stored in the same commit as it
 * @throws ApiError `storage_corrupt` if a tile that has to grow is missing
 */
export async function appendLeaves(
  from: Frontier,
  leaves: Iterable<Uint8Array>,
  derived: ReadDerived,
): Promise<{ readonly frontier: Frontier; readonly tiles: readonly GrownTile[] }> {
  const growths = new Map<string, Growth>()
  const tree = growTree(from, (level, index, hash) => {
    if (level % tileLevels !== 0) return
    const tile = { level: level / tileLevels, index: Math.floor(index / tileHashesMax) }
    const name = `${tile.level} ${tile.index}`
    const growth = growths.get(name) ?? { ...tile, place: index % tileHashesMax, hashes: [] }
    growth.hashes.push(new Uint8Array(hash))
    growths.set(name, growth)
  })
  for (const leaf of leaves) tree.append(leaf)
  const tiles = await Promise.all([...growths.values()].map(each => growTile(derived, each)))
  return { frontier: tree.frontier(), tiles }
}
