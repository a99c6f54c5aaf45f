/**
 * Stored tiles: what is stored, how little a proof reads, and what pruning leaves provable.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { emptyFrontier, growTree, rootOf, type Frontier } from '../../../src/audit/merkle-tree.ts'
import {
  isConsistent,
  isIncluded,
  proveConsistency,
  proveInclusion,
  type TreeHead,
} from '../../../src/audit/proofs.ts'
import { appendLeaves, readRoot, type LogHashes } from '../../../src/audit/tiles.ts'
import { leavesOf, memoryLog } from '../../support/tree-log.ts'
import { seededBytes } from '../../support/seeded.ts'
import { cases } from '../../support/thorough.ts'

/** As in the example of the specification. */
const count = 70_000
const leaves = leavesOf(count)
const leafAt = (index: number): Uint8Array => leaves[index] ?? new Uint8Array(32)

/** States of the tree, one for each so many leaves. */
const stateStep = 512
const states: Frontier[] = []

function stateAt(size: number): Frontier {
  const tree = growTree(states[Math.floor(size / stateStep)] ?? emptyFrontier)
  for (const leaf of leaves.slice(tree.size(), size)) tree.append(leaf)
  return tree.frontier()
}

const headAt = (size: number): TreeHead => ({ size, root: rootOf(stateAt(size)) })

const log = memoryLog()
beforeAll(async () => {
  const tree = growTree(emptyFrontier)
  for (const leaf of leaves) {
    if (tree.size() % stateStep === 0) states.push(tree.frontier())
    tree.append(leaf)
  }
  // Uneven commits, some with several tiles of level 1.
  const sizes = seededBytes(7)
  for (let first = 0; first < count;) {
    const [low = 0, high = 0] = sizes(2)
    const end = Math.min(count, first + 1 + low + (high > 250 ? high * 256 : 0))
    await log.append(leaves.slice(first, end))
    first = end
  }
})

const keyOf = (level: number, index: number): string =>
  `01${level.toString(16).padStart(2, '0')}${index.toString(16).padStart(12, '0')}`

/** Checks a proof of each kind. */
async function checkProofs(from: LogHashes, index: number, older: number, newer: number) {
  const proof = await proveInclusion(from, index, newer)
  const isProven = isIncluded(leafAt(index), index, headAt(newer), proof)
  const continued = await proveConsistency(from, older, newer)
  return [isProven, isConsistent(headAt(older), headAt(newer), continued)]
}

describe('tiles of a log of 70,000 entries', () => {
  test('are the full and the partial ones of each level above the leaves', () => {
    const widths = [...log.tiles].map(([key, { length }]) => [key, length / 32])
    expect(Object.fromEntries(widths)).toEqual({
      [keyOf(1, 0)]: 256,
      [keyOf(1, 1)]: 17,
      [keyOf(2, 0)]: 1,
    })
  })

  test('are the same when all is appended at once', async () => {
    const whole = memoryLog()
    await whole.append(leaves)
    expect(whole.tiles).toEqual(log.tiles)
    expect(whole.frontier()).toEqual(log.frontier())
  })

  test('have the roots of the leaves below', async () => {
    const tile = log.tiles.get(keyOf(1, 1)) ?? new Uint8Array()
    const tree = growTree(emptyFrontier)
    for (const leaf of leaves.slice(65_536, 65_536 + 256)) tree.append(leaf)
    expect(tile.subarray(0, 32)).toEqual(rootOf(tree.frontier()))
    expect(log.tiles.get(keyOf(2, 0))).toEqual(rootOf(stateAt(65_536)))
  })

  const places = fc
    .tuple(fc.nat(count - 1), fc.nat(count - 1), fc.nat(count - 1))
    .map(three => three.toSorted((a, b) => a - b))

  test('prove each entry and each state, of few leaves', async () => {
    await fc.assert(
      fc.asyncProperty(places, async ([index = 0, older = 0, newer = 0]) => {
        const before = log.leavesRead()
        expect(await checkProofs(log, index, older + 1, newer + 1)).toEqual([true, true])
        // Two proofs, each within the tile of the entry and the last one.
        expect(log.leavesRead() - before).toBeLessThan(4 * 256)
      }),
      { numRuns: cases(300, 60) },
    )
  })

  test('may be missing: their nodes are worked out', async () => {
    const bare = { ...log, derived: () => undefined }
    expect(await readRoot(bare, 0, count)).toEqual(rootOf(stateAt(count)))
    expect(await checkProofs(bare, 65_537, 65_536, count)).toEqual([true, true])
  })

  test('may have been stored before they grew', async () => {
    const first = log.tiles.get(keyOf(1, 1))?.slice(0, 32)
    const derived = (key: Uint8Array) => (key.toHex() === keyOf(1, 1) ? first : log.derived(key))
    expect(await readRoot({ ...log, derived }, 0, count)).toEqual(rootOf(stateAt(count)))
  })

  test('after pruning, all from the prune point on is still proven', async () => {
    await fc.assert(
      fc.asyncProperty(places, async ([prunedTo = 0, index = 0, last = 0]) => {
        const pruned = log.prunedTo(stateAt(prunedTo))
        const older = Math.max(prunedTo, 1)
        const newer = Math.max(last, index) + 1
        expect(await checkProofs(pruned, index, older, newer)).toEqual([true, true])
        expect(await checkProofs(pruned, last, index + 1, count)).toEqual([true, true])
      }),
      { numRuns: cases(300, 60) },
    )
  })

  test('after pruning, an entry below the prune point is refused as pruned', async () => {
    const pruned = log.prunedTo(stateAt(3_000))
    const refusal = { kind: 'not_found', message: expect.stringContaining('pruned') }
    await expect(proveInclusion(pruned, 2_998, count)).rejects.toMatchObject(refusal)
    await expect(proveInclusion(pruned, 1, count)).rejects.toMatchObject(refusal)
    await expect(proveConsistency(pruned, 2_999, count)).rejects.toMatchObject(refusal)
    expect(await checkProofs(pruned, 3_000, 3_000, count)).toEqual([true, true])
  })
})

describe('a damaged store is told', () => {
  const isCorrupt = { kind: 'storage_corrupt', message: expect.stringContaining('audit log') }

  test.each([
    ['part of a hash', 33],
    ['too many hashes', 257 * 32],
  ])('a tile has %s', async (_, length) => {
    const derived = () => new Uint8Array(length)
    await expect(proveInclusion({ ...log, derived }, 1, count)).rejects.toMatchObject(isCorrupt)
  })

  test('a tile that must grow is missing', async () => {
    const appended = appendLeaves(stateAt(70_000 - 200), leaves.slice(0, 200), () => undefined)
    await expect(appended).rejects.toMatchObject(isCorrupt)
  })

  test('a tile was changed: the proof fails, and does not throw', async () => {
    const derived = (key: Uint8Array) => log.derived(key)?.map(byte => byte ^ 1)
    const changed = { ...log, derived }
    expect(await checkProofs(changed, 3, 300, count)).toEqual([false, false])
  })

  test.each([
    ['is missing', []],
    ['is shorter than a hash', [leafAt(2), new Uint8Array(31)]],
  ])('a leaf %s', async (_, read) => {
    const leafless = { ...log, leaves: () => read }
    await expect(proveInclusion(leafless, 1, 4)).rejects.toMatchObject(isCorrupt)
  })
})
