/**
 * Checkpoints of a vault under test: who signs, and whether what was signed is the log.
 * @module
 */
import { expect } from 'bun:test'
import type { CheckpointParts } from '../../src/audit/checkpoints.ts'
import { readCheckpoint } from '../../src/audit/checkpoint.ts'
import { readAnnouncement, type KeyAnnouncement } from '../../src/audit/day-keys.ts'
import {
  announcementRange,
  newestCheckpointKey,
  readDerived,
} from '../../src/audit/derived-keys.ts'
import { emptyFrontier, growTree, rootOf } from '../../src/audit/merkle-tree.ts'
import { readVerifierKey, type NoteKey } from '../../src/audit/note-keys.ts'
import { openNote } from '../../src/audit/signed-note.ts'
import type { SigningPlace } from '../../src/audit/signing-keys.ts'
import { utf8Text } from '../../src/lib/bytes.ts'
import type { TestVault } from './vault.ts'

/** A place in memory, whose history is kept. */
export function placeOf(): SigningPlace & { readonly written: Uint8Array[] } {
  const written: Uint8Array[] = []
  return { written, read: () => written.at(-1), write: bytes => void written.push(bytes) }
}

export const partsOf = ({ deps }: TestVault, place: SigningPlace): CheckpointParts => ({
  ...deps,
  place,
})

export async function announcedBy({
  deps,
}: TestVault): Promise<readonly Partial<KeyAnnouncement>[]> {
  const found = await deps.store.derived(...announcementRange, 100)
  return found.map(({ value }) => JSON.parse(utf8Text(value)))
}

/** Follows the announcements from the first key. */
export async function keysOf(vault: TestVault): Promise<readonly NoteKey[]> {
  const [first, ...later] = await announcedBy(vault)
  const keys = [readVerifierKey(first?.vkey ?? '')]
  for (const { vkey = '', signature = '' } of later) {
    const before = keys.at(-1)
    const next = before && readAnnouncement({ vkey, signature }, before)
    expect(next).toBeDefined()
    if (next !== undefined) keys.push(next)
  }
  return keys
}

export async function rootOfLog({ deps }: TestVault, size: number): Promise<Uint8Array> {
  const tree = growTree(emptyFrontier)
  const bundles = await deps.store.bundles({ from: 0 }, 100_000)
  for (const leaf of bundles.flatMap(({ leaves }) => leaves).slice(0, size)) tree.append(leaf)
  return rootOf(tree.frontier())
}

/** Opens the newest checkpoint, and compares its root with the log's. */
export async function expectSound(vault: TestVault, keys: readonly NoteKey[]) {
  const stored = await readDerived(vault.deps.store, newestCheckpointKey)
  const opened = openNote(utf8Text(stored ?? new Uint8Array()), keys)
  if (opened.fault !== undefined) throw new Error(opened.fault)
  const checkpoint = readCheckpoint(opened.text)
  expect(checkpoint?.root).toEqual(await rootOfLog(vault, checkpoint?.size ?? 0))
  return { size: checkpoint?.size, origin: checkpoint?.origin, by: opened.by.length }
}

export async function fill({ deps, clock }: TestVault, entries: number): Promise<void> {
  const entry = { atMs: clock.now(), operation: 'test', entityIds: [], result: 200 }
  await Promise.all(Array.from({ length: entries }, () => deps.audit.record(entry)))
}
