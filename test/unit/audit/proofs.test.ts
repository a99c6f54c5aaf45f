/**
 * Proofs of inclusion and consistency: published ones, and all of small trees, each of which must
 * fail once anything about it is changed.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { hashPair } from '../../../src/audit/merkle-tree.ts'
import {
  isConsistent,
  isIncluded,
  proveConsistency,
  proveInclusion,
  type TreeHead,
} from '../../../src/audit/proofs.ts'
import {
  auditPath,
  flipped,
  leafOf,
  leavesOf,
  memoryLog,
  subProof,
  treeHash,
} from '../../support/tree-log.ts'
import {
  vectorConsistencies,
  vectorEntries,
  vectorInclusions,
  vectorRoots,
} from '../../support/audit-vectors.ts'
import { cases } from '../../support/thorough.ts'

const hexes = (hashes: readonly Uint8Array[]): string[] => hashes.map(hash => hash.toHex())

const sizesMax = cases(130, 45)
const leaves = leavesOf(sizesMax + 1)
/** By size; a leaf beyond the largest tree makes one more. */
const heads: TreeHead[] = Array.from({ length: sizesMax + 2 }, (_, size) => ({
  size,
  root: treeHash(leaves.slice(0, size)),
}))
const headOf = (size: number): TreeHead => heads[size] ?? { size, root: new Uint8Array(32) }
const leafAt = (index: number): Uint8Array => leaves[index] ?? new Uint8Array(32)

const log = memoryLog()
beforeAll(() => log.append(leaves))

describe('published vectors', () => {
  const published = memoryLog()
  beforeAll(() => published.append(vectorEntries.map(leafOf)))
  const rootAt = (size: number) => Uint8Array.fromHex(vectorRoots[size] ?? '')

  test.each(vectorInclusions)('entry $index of $size', async ({ index, size, proof }) => {
    const proven = await proveInclusion(published, index, size)
    expect(hexes(proven)).toEqual([...proof])
    const leaf = leafOf(vectorEntries[index] ?? '')
    expect(isIncluded(leaf, index, { size, root: rootAt(size) }, proven)).toBe(true)
  })

  test.each(vectorConsistencies)('$older to $newer', async ({ older, newer, proof }) => {
    const proven = await proveConsistency(published, older, newer)
    expect(hexes(proven)).toEqual([...proof])
    const [before, after] = [older, newer].map(size => ({ size, root: rootAt(size) }))
    expect(before && after && isConsistent(before, after, proven)).toBe(true)
  })
})

/** Ways to spoil a list of hashes. */
const spoiled = (proof: readonly Uint8Array[]): Uint8Array[][] => [
  ...proof.map((hash, at) => proof.with(at, flipped(hash, at * 37))),
  ...proof.map((hash, at) => proof.with(at, hash.subarray(1))),
  ...proof.map((_, at) => proof.toSpliced(at, 1)),
  [...proof, leafAt(0)],
  [leafAt(0), ...proof],
]

describe('inclusion', () => {
  test(`each entry of each tree to ${sizesMax} is proven, and nothing else`, async () => {
    for (let size = 1; size <= sizesMax; size += 1) {
      const head = headOf(size)
      for (let index = 0; index < size; index += 1) {
        const [leaf, proof] = [leafAt(index), await proveInclusion(log, index, size)]
        if (size % 13 === 0) {
          expect(hexes(proof)).toEqual(hexes(auditPath(index, leaves.slice(0, size))))
        }
        expect(isIncluded(leaf, index, head, proof)).toBe(true)
        const held = [
          isIncluded(flipped(leaf, index), index, head, proof),
          isIncluded(leaf.subarray(1), index, head, proof),
          isIncluded(leaf, index, { size, root: flipped(head.root, index) }, proof),
          isIncluded(leaf, index, headOf(size + 1), proof),
          isIncluded(leaf, index, headOf(size - 1), proof),
          ...[-1, index - 1, index + 1, size, 0.5, NaN].map(other =>
            isIncluded(leaf, other, head, proof),
          ),
          ...spoiled(proof).map(each => isIncluded(leaf, index, head, each)),
        ]
        expect(held.filter(Boolean)).toEqual([])
      }
    }
  })

  test.each([
    ['below 0', -1, 5, 'index'],
    ['at the size', 5, 5, 'index'],
    ['between two entries', 0.5, 5, 'index'],
    ['no number', NaN, 5, 'index'],
    ['in a log of no size', 0, -1, 'size'],
    ['in a log beyond all', 0, 2 ** 48, 'size'],
  ])('no proof is made of an entry %s', async (_, index, size, path) => {
    await expect(proveInclusion(log, index, size)).rejects.toMatchObject({
      kind: 'invalid_request',
      fields: { [path]: [expect.stringContaining('expected')] },
    })
  })

  test('in a log of an impossible size is refused, not worked out', () => {
    const root = new Uint8Array(32)
    for (const size of [2 ** 60, Infinity, NaN, -1, 1.5]) {
      expect(isIncluded(leafAt(0), 0, { size, root }, [])).toBe(false)
    }
    const proof = leavesOf(48)
    const top = proof.reduce((left, right) => hashPair(left, right), leafAt(0))
    expect(isIncluded(leafAt(0), 0, { size: 2 ** 48 - 1, root: top }, proof)).toBe(true)
    expect(isIncluded(leafAt(0), 0, { size: 2 ** 48, root: top }, proof)).toBe(false)
  })
})

describe('consistency', () => {
  test(`each two trees to ${sizesMax} are proven, and nothing else`, async () => {
    for (let newer = 1; newer <= sizesMax; newer += 1) {
      for (let older = 0; older <= newer; older += 1) {
        const [before, after] = [headOf(older), headOf(newer)]
        const proof = await proveConsistency(log, older, newer)
        if (older > 0 && newer % 13 === 0) {
          expect(hexes(proof)).toEqual(hexes(subProof(older, leaves.slice(0, newer))))
        }
        expect(isConsistent(before, after, proof)).toBe(true)
        const held = [
          isConsistent({ ...before, root: flipped(before.root, newer) }, after, proof),
          isConsistent({ ...before, size: newer + 1 }, after, proof),
          isConsistent({ ...before, size: -1 }, after, proof),
          isConsistent({ ...before, size: older + 0.5 }, after, proof),
          older < newer && isConsistent(after, before, proof),
          older > 1 && older < newer && isConsistent(headOf(older - 1), after, proof),
          // The empty log is the beginning of each.
          older > 0 && isConsistent(before, { ...after, root: flipped(after.root, older) }, proof),
          older > 0 && isConsistent(before, headOf(newer + 1), proof),
          older > 0 && older < newer - 1 && isConsistent(headOf(older + 1), after, proof),
          ...spoiled(proof).map(each => isConsistent(before, after, each)),
        ]
        expect(held.filter(Boolean)).toEqual([])
      }
    }
  })

  test('two roots of one size are a fork', () => {
    expect(isConsistent(headOf(7), { size: 7, root: headOf(8).root }, [])).toBe(false)
    expect(isConsistent(headOf(0), { size: 0, root: headOf(8).root }, [])).toBe(false)
  })

  test('with a log of an impossible size is refused, not worked out', () => {
    const { root } = headOf(7)
    for (const size of [2 ** 47, 2 ** 48, Infinity, NaN]) {
      expect(isConsistent({ size, root }, headOf(7), [root])).toBe(false)
    }
    for (const size of [2 ** 48, 2 ** 60, Infinity, NaN, 7.5]) {
      expect(isConsistent(headOf(7), { size, root }, [root])).toBe(false)
      expect(isConsistent(headOf(0), { size, root }, [])).toBe(false)
    }
  })

  test.each([
    ['to a smaller log', 6, 5, 'older'],
    ['from below 0', -1, 5, 'older'],
    ['from no number', NaN, 5, 'older'],
    ['to a log beyond all', 0, 2 ** 48, 'newer'],
  ])('no proof is made %s', async (_, older, newer, path) => {
    await expect(proveConsistency(log, older, newer)).rejects.toMatchObject({
      kind: 'invalid_request',
      fields: { [path]: [expect.stringContaining('expected')] },
    })
  })
})
