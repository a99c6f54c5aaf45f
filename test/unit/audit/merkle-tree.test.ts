/**
 * The tree of the audit log: published roots, the definition of the standard, its stored state.
 */
import { describe, expect, test } from 'bun:test'
import {
  decodeFrontier,
  emptyFrontier,
  encodeFrontier,
  growTree,
  rootOf,
  rootOver,
} from '../../../src/audit/merkle-tree.ts'
import { leafOf, leavesOf, treeHash } from '../../support/tree-log.ts'
import { vectorEntries, vectorRoots } from '../../support/audit-vectors.ts'

const growBy = (leaves: readonly Uint8Array[], from = emptyFrontier) => {
  const tree = growTree(from)
  for (const leaf of leaves) tree.append(leaf)
  return tree.frontier()
}

describe('the root of a tree', () => {
  test.each(vectorRoots.map((root, size) => [size, root] as const))(
    'of the first %d published entries is the published one',
    (size, root) => {
      const leaves = vectorEntries.slice(0, size).map(leafOf)
      expect(rootOver(leaves).toHex()).toBe(root)
    },
  )

  test('is that of the definition, for every size to 300', () => {
    const leaves = leavesOf(300)
    const tree = growTree(emptyFrontier)
    for (let size = 0; size <= leaves.length; size += 1) {
      expect(tree.size()).toBe(size)
      expect(rootOf(tree.frontier()).toHex()).toBe(treeHash(leaves.slice(0, size)).toHex())
      const leaf = leaves[size]
      if (leaf !== undefined) tree.append(leaf)
    }
  })

  test('is the same when the tree is put away and taken up at any size', () => {
    const leaves = leavesOf(130)
    const root = treeHash(leaves).toHex()
    for (let size = 0; size <= leaves.length; size += 1) {
      const stored = encodeFrontier(growBy(leaves.slice(0, size)))
      const taken = growBy(leaves.slice(size), decodeFrontier(stored))
      expect([taken.size, rootOf(taken).toHex()]).toEqual([130, root])
    }
  })

  test('does not follow from leaves that change after they were appended', () => {
    const [leaf = new Uint8Array(32)] = leavesOf(1)
    const copy = Uint8Array.from(leaf)
    const tree = growTree(emptyFrontier)
    tree.append(copy)
    copy.fill(0)
    expect(rootOf(tree.frontier())).toEqual(leaf)
  })

  test('a leaf of another length is refused', () => {
    const tree = growTree(emptyFrontier)
    expect(() => tree.append(new Uint8Array(31))).toThrow('a hash of 32 bytes')
    expect(tree.size()).toBe(0)
  })
})

describe('the greatest log', () => {
  const size = 2 ** 48 - 2
  const hashes = leavesOf(47)

  test('takes its last entry, and no further one', () => {
    const tree = growTree({ size, hashes })
    tree.append(leafOf('last'))
    const { hashes: grown } = tree.frontier()
    expect([tree.size(), grown.length]).toEqual([2 ** 48 - 1, 48])
    expect(() => tree.append(leafOf('one more'))).toThrow('room for one more entry')
  })

  test('is stored and read back', () => {
    const grown = growBy([leafOf('last')], { size, hashes })
    expect(decodeFrontier(encodeFrontier(grown))).toEqual(grown)
    expect(encodeFrontier(grown).length).toBe(6 + 48 * 32)
  })
})

describe('the stored state of a tree', () => {
  const stored = encodeFrontier(growBy(leavesOf(5)))

  test('has its size, then a hash for each perfect subtree', () => {
    expect(stored.length).toBe(6 + 2 * 32)
    const [, , , , fifth = new Uint8Array()] = leavesOf(5)
    expect(Buffer.from(stored).toString('hex')).toBe(
      '000000000005' + treeHash(leavesOf(4)).toHex() + fifth.toHex(),
    )
  })

  test.each([
    ['is empty', new Uint8Array(0)],
    ['ends within its size', stored.subarray(0, 5)],
    ['ends within a hash', stored.subarray(0, -1)],
    ['lacks a hash', stored.subarray(0, -32)],
    ['has one hash too many', Buffer.concat([stored, new Uint8Array(32)])],
  ])('is refused if it %s', (_, bytes) => {
    expect(() => decodeFrontier(bytes)).toThrow('expected of the store: a frontier')
  })
})
