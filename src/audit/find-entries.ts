/**
 * Finds entries of the audit log, newest first: by the index, and the newest ones one by one.
 *
 * If the index decides, only entries that are shown are opened; else all candidates are opened and
 * tested, up to a bound for each request.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { logBundlesRead, logBytesOpenedMax, logEntriesOpenedMax } from '../limits/work-limits.ts'
import type { Store, StoredBundle } from '../store/contract.ts'
import { readBundle, type PlacedEntry } from './bundle.ts'
import { matchesEntry, type EntryFilter } from './entry-filter.ts'
import { piecesOf, type LogReader } from './find-pieces.ts'

export interface EntryReader {
  readonly store: Pick<Store, 'bundles' | 'derived' | 'logRange'>
  readonly keys: Pick<Keys, 'auditKey' | 'auditIndexKey'>
  /** Awaited between two pieces of work, so that others run. */
  readonly pause: () => Promise<void> | undefined
}

/** One request for entries. */
interface Search extends EntryReader, LogReader {
  readonly store: EntryReader['store']
  readonly keys: EntryReader['keys']
  /** Work so far: entries that were opened, and their sealed bytes. */
  readonly opened: { entries: number; bytes: number }
}

const searchOf = (reader: EntryReader): Search => ({
  ...reader,
  opened: { entries: 0, bytes: 0 },
})

/** True if a request may open no more. */
const isSpent = ({ opened: { entries, bytes } }: Search): boolean =>
  entries >= logEntriesOpenedMax || bytes >= logBytesOpenedMax

/** Returns a number of bundles to read at once: one if few entries of each are wanted. */
function bundlesFor(sequences: readonly number[], at: number, last: StoredBundle | undefined) {
  if (last === undefined) return 1
  const newest = sequences[at] ?? 0
  let near = at
  while (near - at < logBundlesRead && newest - (sequences[near] ?? -Infinity) < logBundlesRead) {
    near += 1
  }
  return Math.max(1, Math.ceil((near - at) / last.leaves.length))
}

/**
 * Yields the entries of some sequences, newest first, one bundle at a time. Removed ones are left
 * out.
 */
async function* entriesAt(
  { store, keys, opened, pause }: Search,
  sequences: readonly number[],
): AsyncGenerator<PlacedEntry> {
  let last: StoredBundle | undefined
  for (let at = 0; at < sequences.length;) {
    const newest = sequences[at] ?? 0
    const bundles = await store.bundles({ before: newest + 1 }, bundlesFor(sequences, at, last))
    if (bundles.length === 0) return
    for (const bundle of bundles) {
      const wanted = new Set<number>()
      for (; at < sequences.length; at += 1) {
        const sequence = sequences[at] ?? 0
        if (sequence < bundle.first) break
        wanted.add(sequence)
      }
      opened.entries += wanted.size
      opened.bytes += (bundle.sealed.length * wanted.size) / bundle.leaves.length
      if (wanted.size > 0) {
        yield* readBundle(keys, bundle, sequence => wanted.has(sequence)).toReversed()
      }
      last = bundle
      await pause()
    }
  }
}

/** Takes an entry; false if there is no room for it. */
export type TakeEntry = (logged: PlacedEntry) => boolean

export type FoundPage =
  | { readonly total: number }
  /** Why there is no page: too much would be opened, or the entries are too long. */
  | { readonly refused: 'work' | 'room' }

/** Counts all entries that match, and takes `limit` of them behind the first `offset`. */
export async function findPage(
  reader: EntryReader,
  filter: EntryFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  take: TakeEntry,
): Promise<FoundPage> {
  const search = searchOf(reader)
  await search.pause()
  const end = offset + limit
  let total = 0
  for await (const piece of piecesOf(search, filter, Infinity)) {
    const isShown = piece.isSure && total < end && total + piece.count > offset
    const skipped = Math.max(0, offset - total)
    if (piece.isSure) {
      const shown = isShown ? piece.sequences().slice(skipped, end - total) : []
      for await (const logged of entriesAt(search, shown)) {
        if (matchesEntry(filter, logged.entry) && !take(logged)) return { refused: 'room' }
      }
      total += piece.count
    } else {
      for await (const logged of entriesAt(search, piece.sequences())) {
        if (isSpent(search)) return { refused: 'work' }
        if (!matchesEntry(filter, logged.entry)) continue
        if (total >= offset && total < end && !take(logged)) return { refused: 'room' }
        total += 1
      }
    }
    await search.pause()
  }
  return { total }
}

/**
 * Takes at most `limit` entries that match, below a sequence.
 * @returns the sequence below which the next ones are; `undefined` if there are none
 */
export async function findBelow(
  reader: EntryReader,
  filter: EntryFilter,
  { before, limit }: { readonly before: number; readonly limit: number },
  take: TakeEntry,
): Promise<number | undefined> {
  const search = searchOf(reader)
  await search.pause()
  let taken = 0
  for await (const piece of piecesOf(search, filter, before)) {
    let left = piece.count === 0 ? [] : piece.sequences()
    while (left.length > 0) {
      // One more than is taken tells whether there are more.
      const step = piece.isSure ? left.slice(0, limit + 1 - taken) : left
      left = left.slice(step.length)
      for await (const logged of entriesAt(search, step)) {
        if (matchesEntry(filter, logged.entry)) {
          if (taken === limit || !take(logged)) return logged.sequence + 1
          taken += 1
        }
        if (isSpent(search)) return logged.sequence
      }
    }
    await search.pause()
  }
  return undefined
}
