/**
 * Retention of the audit log: old bundles are removed, and every proof of what is left stands.
 * @module
 */
import { assertStored } from '../lib/errors.ts'
import type { Keys } from '../crypto/keyring.ts'
import { pruneBundlesMax } from '../limits/work-limits.ts'
import type { Store, StoredBundle } from '../store/contract.ts'
import type { AuditLog } from './audit-log.ts'
import { readBundle } from './bundle.ts'
import { prunedFrontierKey, readDerived } from './derived-keys.ts'
import { isPruneLogged, prunedOperation } from './prune-point.ts'
import { decodeFrontier, emptyFrontier, encodeFrontier, growTree } from './merkle-tree.ts'

interface RetentionParts {
  readonly store: Pick<Store, 'write' | 'bundles' | 'logRange' | 'derived'>
  readonly keys: Pick<Keys, 'auditKey'>
  readonly audit: Pick<AuditLog, 'changeOf'>
  readonly now: () => number
  readonly keptDays: number
}

const dayMs = 24 * 60 * 60 * 1_000

/** True if each entry of the bundle is older than an instant. */
const isBefore = (keys: RetentionParts['keys'], bundle: StoredBundle, beforeMs: number): boolean =>
  readBundle(keys, bundle, () => true).every(({ entry }) => entry.atMs < beforeMs)

/** Returns the oldest bundles that may go: signed ones, if they are old or the log is too large. */
async function findOld(
  { store, keys, now, keptDays }: RetentionParts,
  from: number,
  signed: number,
  isTooLarge: boolean,
): Promise<readonly StoredBundle[]> {
  const bundles = await store.bundles({ from }, pruneBundlesMax)
  const beforeMs = now() - keptDays * dayMs
  const kept = bundles.findIndex(
    bundle =>
      bundle.first + bundle.leaves.length > signed ||
      !(isTooLarge || isBefore(keys, bundle, beforeMs)),
  )
  return kept < 0 ? bundles : bundles.slice(0, kept)
}

/**
 * @param from sequence of the oldest entry, as it was read before
 * @returns false if another process has pruned since, which explains what does not fit
 * @throws ApiError `storage_corrupt` otherwise
 */
async function assertMoved(
  store: Pick<Store, 'logRange'>,
  from: number,
  expected: string,
): Promise<false> {
  const range = await store.logRange()
  assertStored(range.from > from, expected)
  return false
}

/** @returns false if another process has changed the log meanwhile */
async function removeOld(
  { store, audit, now }: RetentionParts,
  old: readonly StoredBundle[],
  { from, below }: { readonly from: number; readonly below: number },
): Promise<boolean> {
  const stored = await readDerived(store, prunedFrontierKey)
  const before = stored === undefined ? emptyFrontier : decodeFrontier(stored)
  if (old[0]?.first !== before.size) {
    return assertMoved(store, from, 'the tree up to the oldest entry of the log')
  }
  const tree = growTree(before)
  for (const { leaves } of old) for (const leaf of leaves) tree.append(leaf)
  const { ok } = await store.write([
    { requireDerived: prunedFrontierKey, ifValue: stored },
    { derived: prunedFrontierKey, value: encodeFrontier(tree.frontier()) },
    audit.changeOf({
      atMs: now(),
      actorType: 'vault',
      operation: prunedOperation,
      entityIds: [String(below)],
      result: 200,
    }),
    { pruneLog: below },
  ])
  return ok
}

/**
 * Removes bundles that are older than the days to be kept, a bounded number at a time. Their part
 * of the tree is kept, and an entry says up to where the log was pruned.
 * @param signed number of entries that a checkpoint covers: no other is removed
 * @param isTooLarge true if entries that are not that old go as well
 * @returns number of entries removed; 0 if none is due, or another process removes them
 * @throws ApiError `storage_corrupt` if the tree does not end where the log begins, or no entry
 *   explains where that is
 */
type Prune = (signed: number, isTooLarge: boolean) => Promise<number>

export function makePruner(parts: RetentionParts): Prune {
  /** The point up to which this process has pruned, by an entry that it need not look for. */
  let left: number | undefined
  return async (signed, isTooLarge) => {
    const { from } = await parts.store.logRange()
    const old = await findOld(parts, from, signed, isTooLarge)
    const last = old.at(-1)
    if (last === undefined) return 0
    // Otherwise the entry of this pruning would account for what somebody else has cut off.
    const isLogged =
      from === left ||
      (await isPruneLogged(parts)) ||
      (await assertMoved(parts.store, from, 'an oldest entry up to where the vault has pruned'))
    const below = last.first + last.leaves.length
    if (!isLogged || !(await removeOld(parts, old, { from, below }))) return 0
    left = below
    return below - from
  }
}
