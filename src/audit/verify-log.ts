/**
 * Verification of a log from outside: from its leaf hashes, its checkpoints and public keys, and
 * without any secret.
 *
 * It shows that the entries at hand are those that were signed. Entries that were cut off together
 * with their checkpoints leave no trace here: only a checkpoint that was kept elsewhere does.
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { faultOf, isFault, unknownOf, type LogFault, type LogUnknown } from './log-findings.ts'
import {
  followKeys,
  readHeads,
  type AnnouncedKey,
  type KeyOfDay,
  type LogHead,
  type PinnedNote,
} from './log-heads.ts'
import { growTree, hashBytes, rootOf, type Frontier, type GrowingTree } from './merkle-tree.ts'
import type { TreeHead } from './proofs.ts'

/** Leaf hashes that one commit added. */
export interface LeafBundle {
  /** Sequence of its first entry, which is the index of its leaf. */
  readonly first: number
  readonly leaves: readonly Uint8Array[]
}

export interface LogToVerify {
  /** In the order of their sequences, from the prune point on. */
  readonly bundles: AsyncIterable<LeafBundle>
  /** Notes in the order of their sizes. */
  readonly checkpoints: readonly string[]
  /** Key that the reader trusts; it signs until the first one announced. */
  readonly trusted: KeyOfDay
  /** Keys after it, each by the one before. */
  readonly announced: readonly AnnouncedKey[]
  readonly pinned: PinnedNote | undefined
  /** State at the prune point; the empty one if nothing was pruned. */
  readonly pruned: Frontier
}

export interface LogVerdict extends TreeHead {
  /** Heads that the entries agree with, the pinned one included. */
  readonly agreed: number
  /** The first one; undefined if all is as it was signed. */
  readonly fault: LogFault | undefined
  readonly unknown: readonly LogUnknown[]
}

/** Heads that a growing tree is compared with, as it reaches their sizes. */
function makeComparison(pruned: Frontier, heads: readonly LogHead[]) {
  let next = heads.filter(({ size }) => size < pruned.size).length
  let [agreed, agreedSize] = [0, pruned.size]
  return {
    next: () => heads[next],
    compare(tree: GrowingTree): LogFault | undefined {
      for (let head = heads[next]; head?.size === tree.size(); head = heads[next]) {
        if (!equalBytes(rootOf(tree.frontier()), head.root)) {
          const { size: below, note } = head
          return faultOf('root_differs', { sequence: agreedSize, below, note })
        }
        next += 1
        agreed += 1
        agreedSize = head.size
      }
      return undefined
    },
    state: () => ({ agreed, agreedSize }),
  }
}

/** Entries that are read in their order, and compared with what is known of them. */
function makeReader(
  pruned: Frontier,
  heads: readonly LogHead[],
  announced: readonly AnnouncedKey[],
) {
  const tree = growTree(pruned)
  const comparison = makeComparison(pruned, heads)
  const leafAt = new Map(announced.map(({ sequence, leaf }) => [sequence, leaf]))

  function takeLeaf(leaf: Uint8Array): LogFault | undefined {
    const sequence = tree.size()
    if (leaf.length !== hashBytes) return faultOf('leaf_malformed', { sequence })
    const known = leafAt.get(sequence)
    if (known !== undefined && !equalBytes(known, leaf)) {
      return faultOf('announcement_differs', { sequence })
    }
    tree.append(leaf)
    return comparison.compare(tree)
  }

  return {
    begin: () => comparison.compare(tree),
    take({ first, leaves }: LeafBundle): LogFault | undefined {
      if (first !== tree.size()) return faultOf('not_dense', { sequence: tree.size() })
      for (const leaf of leaves) {
        const fault = takeLeaf(leaf)
        if (fault !== undefined) return fault
      }
      return undefined
    },
    /** Compares the end of the log with what should be there. */
    end(): LogFault | undefined {
      const sequence = tree.size()
      const head = comparison.next()
      if (head !== undefined) return faultOf('cut_off', { sequence, note: head.note })
      const isAnnounced = announced.some(each => each.sequence >= sequence)
      return isAnnounced ? faultOf('cut_off', { sequence }) : undefined
    },
    state: () => ({ ...tree.frontier(), ...comparison.state() }),
  }
}

async function readAll({ bundles, pruned, announced }: LogToVerify, heads: readonly LogHead[]) {
  const reader = makeReader(pruned, heads, announced)
  let fault = reader.begin()
  if (fault === undefined) {
    for await (const bundle of bundles) {
      fault = reader.take(bundle)
      if (fault !== undefined) break
    }
  }
  return { fault: fault ?? reader.end(), ...reader.state() }
}

function listUnknown(
  { pinned, pruned }: LogToVerify,
  { heads, older }: { readonly heads: readonly LogHead[]; readonly older: number },
  { size, agreedSize }: { readonly size: number; readonly agreedSize: number },
): LogUnknown[] {
  const unknown: LogUnknown[] = []
  const kept = heads.findLast(({ note }) => note === 'pinned')
  if (older > 0) unknown.push(unknownOf('older_signatures', 0))
  if (pruned.size > 0) unknown.push(unknownOf('pruned', pruned.size))
  if (kept !== undefined && kept.size < pruned.size) {
    unknown.push(unknownOf('pinned_pruned', kept.size))
  }
  if (agreedSize < size) unknown.push(unknownOf('unsigned_tail', agreedSize))
  if (pinned === undefined) unknown.push(unknownOf('cut_off', size))
  return unknown
}

/** Verifies a log up to its first fault. */
export async function verifyLog(log: LogToVerify): Promise<LogVerdict> {
  const { trusted, announced, checkpoints, pinned, pruned } = log
  const keys = followKeys(trusted, announced)
  const found = isFault(keys) ? keys : readHeads(checkpoints, pinned, keys)
  if (isFault(found)) {
    return { size: pruned.size, root: rootOf(pruned), agreed: 0, fault: found, unknown: [] }
  }
  const { fault, size, hashes, agreed, agreedSize } = await readAll(log, found.heads)
  const unknown = fault === undefined ? listUnknown(log, found, { size, agreedSize }) : []
  return { size, root: rootOf({ size, hashes }), agreed, fault, unknown }
}
