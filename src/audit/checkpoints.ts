/**
 * Checkpoints of the audit log: one process extends the tree over what has landed, and signs it.
 *
 * Entries land first and are signed at most `checkpointEveryMs` later. Tree, checkpoint and the
 * announcement of a key land in one write. Source: C2SP tlog-checkpoint, signed-note.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { Keys } from '../crypto/keyring.ts'
import { equalBytes, hexOf, utf8, utf8Text } from '../lib/bytes.ts'
import { ApiError, attempt, invariant, present } from '../lib/errors.ts'
import { checkpointBundlesMax, clockEntryMs } from '../limits/work-limits.ts'
import type { Change, LogRange, Store } from '../store/contract.ts'
import type { AuditLog } from './audit-log.ts'
import { sealBundle, unpackBundle } from './bundle.ts'
import { checkpointIn, printCheckpoint, readCheckpoint } from './checkpoint.ts'
import { announceKey, type KeyAnnouncement } from './day-keys.ts'
import type { AuditEntry } from './entry.ts'
import {
  announcementKey,
  announcementRange,
  checkpointKey,
  frontierKey,
  newestCheckpointKey,
  readDerived,
  treeMarkKey,
} from './derived-keys.ts'
import { makeLogEnd } from './log-end.ts'
import {
  decodeFrontier,
  emptyFrontier,
  encodeFrontier,
  rootOf,
  type Frontier,
} from './merkle-tree.ts'
import { printVerifierKey } from './note-keys.ts'
import { openNote, signNote } from './signed-note.ts'
import {
  dayOf,
  newOrigin,
  newSigningKey,
  openSigningKeys,
  sealSigningKeys,
  signerOf,
  type SigningKeys,
  type SigningPlace,
} from './signing-keys.ts'
import { appendLeaves } from './tiles.ts'

export interface CheckpointParts {
  readonly store: Pick<Store, 'write' | 'bundles' | 'logRange' | 'derived'>
  readonly keys: Pick<Keys, 'auditKey'>
  readonly audit: Pick<AuditLog, 'note' | 'hasten'>
  readonly randomBytes: (count: number) => Uint8Array
  readonly now: () => number
  readonly place: SigningPlace
}

/** A checkpoint that has landed. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly size: number
  readonly note: string
}

interface State {
  signing: SigningKeys
  frontier: Frontier
  /** The frontier as it is stored. */
  stored: Uint8Array | undefined
  /** Hour of the last checkpoint that is kept. */
  keptHour: number | undefined
  /** Instant of the last checkpoint, or of the last entry `nothingHappened`. */
  lastMs: number
  isSigned: boolean
  /** Announcement of the next key, until a checkpoint covers its entry. */
  announcing: (KeyAnnouncement & { readonly leaf: Uint8Array }) | undefined
}

/** An announcement as it is kept: with the place of its entry, and its hash in hexadecimal. */
interface PlacedAnnouncement extends KeyAnnouncement {
  readonly sequence: number
  readonly leaf: string
}

const vaultEntry = (
  atMs: number,
  operation: string,
  entityIds: readonly string[] = [],
): AuditEntry => ({ atMs, actorType: 'vault', operation, entityIds, result: 200 })

const hourMs = 60 * 60 * 1_000
const announcementsMax = 100_000

/** Keeps an announcement; of the first key of a chain, which nothing announces, its text alone. */
const announcementOf = (number: number, announced: Partial<PlacedAnnouncement>): Change => ({
  derived: announcementKey(number),
  value: utf8(JSON.stringify(announced)),
})

/** Begins a chain of keys, and tells in the log which one it continues, if any. */
async function beginChain(parts: CheckpointParts): Promise<SigningKeys> {
  const { store, keys, randomBytes, now, place, audit } = parts
  const known = await store.derived(...announcementRange, announcementsMax)
  const origin = newOrigin(keys, randomBytes)
  const signing = { origin, current: newSigningKey(randomBytes, known.length, now()) }
  await place.write(sealSigningKeys(keys, randomBytes, signing))
  const vkey = printVerifierKey(signerOf(origin, signing.current).key)
  await store.write([announcementOf(known.length, { vkey })])
  const newest = await readDerived(store, newestCheckpointKey)
  const before = newest && checkpointIn(utf8Text(newest))
  audit.note(
    before === undefined
      ? vaultEntry(now(), 'auditLogBegun', [origin])
      : vaultEntry(now(), 'auditLogContinued', [origin, before.origin, String(before.size)]),
  )
  return signing
}

/** Drops a key once its successor is announced; a successor that is not is dropped instead. */
async function settleNext(parts: CheckpointParts, signing: SigningKeys): Promise<SigningKeys> {
  const { store, keys, randomBytes, place } = parts
  const { origin, current, next } = signing
  if (next === undefined) return signing
  const isAnnounced = (await readDerived(store, announcementKey(next.number))) !== undefined
  const settled = { origin, current: isAnnounced ? next : current }
  await place.write(sealSigningKeys(keys, randomBytes, settled))
  return settled
}

/**
 * True if the newest checkpoint is of this frontier and signed by these keys, or there is none yet.
 * Both stand in the clear: over a frontier that somebody else has put there these keys would sign
 * a history that never was. So another chain begins, under another name.
 */
async function isSignedBy(
  { store }: CheckpointParts,
  { origin, current, next = current }: SigningKeys,
  frontier: Frontier,
): Promise<boolean> {
  const newest = await readDerived(store, newestCheckpointKey)
  if (newest === undefined) return frontier.size === 0
  const keys = [current, next].map(each => signerOf(origin, each).key)
  const opened = openNote(utf8Text(newest), keys)
  const head = opened.fault === undefined ? readCheckpoint(opened.text) : undefined
  return head?.size === frontier.size && equalBytes(head.root, rootOf(frontier))
}

/** @throws ApiError `conflict` if another process has signed meanwhile, so that nothing fits */
async function assertStill({ store }: CheckpointParts, stored: Uint8Array | undefined) {
  const now = await readDerived(store, frontierKey)
  const isStill =
    now === undefined || stored === undefined ? now === stored : equalBytes(now, stored)
  if (!isStill) throw new ApiError('conflict', 'another process signs the log')
}

async function load(parts: CheckpointParts): Promise<State> {
  const { store, keys, place, now } = parts
  const sealed = await place.read()
  const kept = sealed && attempt(() => openSigningKeys(keys, sealed))
  const stored = await readDerived(store, frontierKey)
  const frontier = stored === undefined ? emptyFrontier : decodeFrontier(stored)
  const isOwn = kept !== undefined && (await isSignedBy(parts, kept, frontier))
  if (!isOwn) await assertStill(parts, stored)
  return {
    signing: isOwn ? await settleNext(parts, kept) : await beginChain(parts),
    frontier,
    stored,
    keptHour: undefined,
    lastMs: now(),
    isSigned: false,
    announcing: undefined,
  }
}

/** Has the key of today announce that of a new day, by an entry of the log. */
async function announceNext(parts: CheckpointParts, state: State): Promise<void> {
  const { store, keys, randomBytes, now, place } = parts
  const { origin, current } = state.signing
  if (state.announcing !== undefined || dayOf(now()) <= current.day) return
  const next = newSigningKey(randomBytes, current.number + 1, now())
  state.signing = { origin, current, next }
  await place.write(sealSigningKeys(keys, randomBytes, state.signing))
  const announced = announceKey(signerOf(origin, next).key, signerOf(origin, current))
  const entry = vaultEntry(now(), 'auditKeyAnnounced', [announced.vkey])
  const bundle = sealBundle(keys, randomBytes, [entry])
  await store.write([{ log: bundle }])
  state.announcing = { ...announced, leaf: present(bundle.leaves[0], 'a bundle has a hash') }
}

/**
 * Reads the hashes of a range from `size` on. Each bundle is opened, which shows that this vault
 * has sealed it with these hashes: others who write to the store may have put any there.
 * @throws ApiError `storage_corrupt` for a bundle of others
 */
async function leavesBehind(
  { store, keys }: CheckpointParts,
  size: number,
  { next }: LogRange,
): Promise<Uint8Array[]> {
  const leaves: Uint8Array[] = []
  for (let left = checkpointBundlesMax; left > 0 && size + leaves.length < next;) {
    const bundles = await store.bundles({ from: size + leaves.length }, left)
    if (bundles.length === 0) break
    left -= bundles.length
    for (const bundle of bundles) {
      // Others write meanwhile: what landed behind the range is for the next checkpoint.
      if (bundle.first >= next) break
      unpackBundle(keys, bundle, () => false)
      const known = size + leaves.length - bundle.first
      invariant(known >= 0, 'the log has every entry')
      leaves.push(...bundle.leaves.slice(known))
    }
    await setImmediate()
  }
  return leaves
}

/** The announcement whose entry is among the new ones, with its place. */
function landedAmong(
  leaves: readonly Uint8Array[],
  { announcing, frontier }: State,
): PlacedAnnouncement | undefined {
  if (announcing === undefined) return undefined
  const at = leaves.findIndex(leaf => equalBytes(leaf, announcing.leaf))
  return at < 0
    ? undefined
    : { ...announcing, leaf: hexOf(announcing.leaf), sequence: frontier.size + at }
}

function noteOf({ origin, current, next }: SigningKeys, frontier: Frontier): string {
  const text = printCheckpoint({ origin, size: frontier.size, root: rootOf(frontier) })
  const signers = next === undefined ? [current] : [current, next]
  return signNote(
    text,
    signers.map(key => signerOf(origin, key)),
  )
}

/** A kept note is not overwritten: one with two signatures shows how a key handed over. */
const isSizeKept = async ({ store }: CheckpointParts, { size }: Frontier): Promise<boolean> =>
  (await readDerived(store, checkpointKey(size))) !== undefined

/**
 * @returns `undefined` if another process has signed since the state was read, or the log has lost
 *   its end
 */
async function sign(parts: CheckpointParts, state: State): Promise<SignedCheckpoint | undefined> {
  const { store, keys, audit, randomBytes, now, place } = parts
  await announceNext(parts, state)
  const logEnd = makeLogEnd(parts, treeMarkKey)
  const range = await store.logRange()
  await logEnd.look(range)
  const leaves = await leavesBehind(parts, state.frontier.size, range)
  const announced = landedAmong(leaves, state)
  const grown = await appendLeaves(state.frontier, leaves, key => readDerived(store, key))
  const { frontier, tiles } = grown
  const { origin, current, next } = state.signing
  const signing = announced === undefined ? { origin, current } : state.signing
  const note = noteOf(signing, frontier)
  const hour = Math.floor(now() / hourMs)
  const isKept =
    announced !== undefined || (hour !== state.keptHour && !(await isSizeKept(parts, frontier)))
  const value = utf8(note)
  const stored = encodeFrontier(frontier)
  const hasRead = await logEnd.requirement()
  if (hasRead === undefined) return undefined
  audit.hasten()
  const { ok } = await store.write([
    hasRead,
    ...(place.fence?.() ?? []),
    { requireDerived: frontierKey, ifValue: state.stored },
    ...tiles.map(tile => ({ derived: tile.key, value: tile.value })),
    { derived: frontierKey, value: stored },
    { derived: newestCheckpointKey, value },
    ...(isKept ? [{ derived: checkpointKey(frontier.size), value }] : []),
    ...(announced === undefined ? [] : [announcementOf(current.number + 1, announced)]),
  ])
  if (!ok) return undefined
  Object.assign(state, { frontier, stored, keptHour: hour, lastMs: now(), isSigned: true })
  if (announced !== undefined && next !== undefined) {
    state.signing = { origin, current: next }
    state.announcing = undefined
    await place.write(sealSigningKeys(keys, randomBytes, state.signing))
  }
  return { origin, size: frontier.size, note }
}

export interface Checkpoints {
  /**
   * Signs what has landed since the last one. One process of a vault calls it, one call at a time;
   * if two do, the write of one that has not seen the other's is refused, and it reads anew.
   * @returns `undefined` if there was nothing to sign, or another process signs
   */
  readonly next: () => Promise<SignedCheckpoint | undefined>
  /** Forgets what was read: another process signs now. */
  readonly leave: () => void
  /** Number of entries that are signed; 0 before the first call. */
  readonly signed: () => number
}

export function makeCheckpoints(parts: CheckpointParts): Checkpoints {
  const { store, now, audit } = parts
  let state: State | undefined

  async function signDue(current: State): Promise<SignedCheckpoint | undefined> {
    const { next: entries } = await store.logRange()
    if (entries < current.frontier.size) {
      // The whole store was put back while this process ran.
      state = undefined
      return undefined
    }
    const isNewDay = dayOf(now()) > current.signing.current.day
    if (entries > current.frontier.size || isNewDay || !current.isSigned) {
      const signed = await sign(parts, current)
      if (signed === undefined) state = undefined
      return signed
    }
    if (now() - current.lastMs >= clockEntryMs) {
      current.lastMs = now()
      // Otherwise nobody could tell silence from entries that were taken away.
      audit.note(vaultEntry(now(), 'nothingHappened'))
    }
    return undefined
  }

  return {
    signed: () => (state?.isSigned === true ? state.frontier.size : 0),
    leave() {
      state = undefined
    },
    async next() {
      try {
        state ??= await load(parts)
        return await signDue(state)
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'conflict') throw error
        state = undefined
        return undefined
      }
    },
  }
}
