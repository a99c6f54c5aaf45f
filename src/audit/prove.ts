/**
 * The proof of one entry: its text and salt, and the way from its hash to the newest checkpoint.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { utf8Text } from '../lib/bytes.ts'
import { ApiError, assertStored } from '../lib/errors.ts'
import { leafBundlesRead } from '../limits/work-limits.ts'
import type { Store } from '../store/contract.ts'
import { openBundle, type LoggedEntry } from './bundle.ts'
import { checkpointIn, type Checkpoint } from './checkpoint.ts'
import { newestCheckpointKey, prunedFrontierKey, readDerived } from './derived-keys.ts'
import { decodeFrontier, emptyFrontier } from './merkle-tree.ts'
import { proveInclusion } from './proofs.ts'
import type { LogHashes } from './tiles.ts'

type ReadStore = Pick<Store, 'bundles' | 'derived'>

export interface NewestCheckpoint extends Checkpoint {
  /** The signed note. */
  readonly note: string
}

/** @throws ApiError `not_found` if nothing is signed yet */
export async function newestCheckpoint(store: ReadStore): Promise<NewestCheckpoint> {
  const stored = await readDerived(store, newestCheckpointKey)
  if (stored === undefined) {
    throw new ApiError(
      'not_found',
      'Nothing of the audit log is signed yet: ask again in a second.',
    )
  }
  const note = utf8Text(stored)
  const checkpoint = checkpointIn(note)
  assertStored(checkpoint !== undefined, 'a checkpoint of the audit log')
  return { ...checkpoint, note }
}

/** Awaited between two pieces of work, so that others run. */
type Pause = () => Promise<void> | undefined

/** Reads leaf hashes that follow each other, of few bundles at once: these may be long. */
async function leavesOf(
  store: ReadStore,
  pause: Pause,
  first: number,
  count: number,
): Promise<Uint8Array[]> {
  const leaves: Uint8Array[] = []
  while (leaves.length < count) {
    const from = first + leaves.length
    const most = Math.min(count - leaves.length, leafBundlesRead)
    const bundles = await store.bundles({ from }, most)
    if (bundles.length === 0) break
    for (const bundle of bundles) {
      leaves.push(...bundle.leaves.slice(first + leaves.length - bundle.first))
    }
    await pause()
  }
  return leaves.slice(0, count)
}

export async function hashesOf(
  store: ReadStore,
  pause: Pause = () => undefined,
): Promise<LogHashes> {
  const pruned = await readDerived(store, prunedFrontierKey)
  return {
    leaves: (first, count) => leavesOf(store, pause, first, count),
    derived: key => readDerived(store, key),
    pruned: pruned === undefined ? emptyFrontier : decodeFrontier(pruned),
  }
}

export interface ProvenEntry {
  readonly logged: LoggedEntry
  readonly checkpoint: NewestCheckpoint
  /** Hashes from the bottom up. Source: RFC 9162 section 2.1.3. */
  readonly proof: readonly Uint8Array[]
}

/** @returns `undefined` if there is no such entry, or it was pruned */
export async function findLogged(
  { store, keys }: { readonly store: ReadStore; readonly keys: Pick<Keys, 'auditKey'> },
  sequence: number,
): Promise<LoggedEntry | undefined> {
  const [bundle] = await store.bundles({ from: sequence }, 1)
  if (bundle === undefined || bundle.first > sequence) return undefined
  return openBundle(keys, bundle)[sequence - bundle.first]
}

/** @throws ApiError `not_found` if no checkpoint covers it yet */
export async function proveLogged(
  store: ReadStore,
  logged: LoggedEntry,
  pause: Pause,
): Promise<ProvenEntry> {
  const checkpoint = await newestCheckpoint(store)
  if (logged.sequence >= checkpoint.size) {
    throw new ApiError('not_found', 'This entry is not signed yet: ask again in a second.')
  }
  const hashes = await hashesOf(store, pause)
  const proof = await proveInclusion(hashes, logged.sequence, checkpoint.size)
  return { logged, checkpoint, proof }
}
