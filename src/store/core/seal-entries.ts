/**
 * Seals the entries of the log that a group of writes brings: together, once all sets are decided,
 * since a bundle for each would take several times the time and the room.
 * @module
 */
import { bundleEntriesWanted, bundleTextBytesMax } from '../../limits/work-limits.ts'
import type { UnsealedEntry } from '../contract.ts'
import type { LogDraft, SealedLog } from './decide-change.ts'
import { checkBundle } from './row.ts'

/** Returns the end of the entries from `start` on that share a bundle. */
function endOfBundle(entries: readonly UnsealedEntry[], start: number): number {
  const seal = entries[start]?.seal
  let bytes = 0
  let end = start
  for (; end < entries.length && end - start < bundleEntriesWanted; end += 1) {
    const entry = entries[end]
    bytes += entry?.bytes ?? 0
    if (entry?.seal !== seal || (end > start && bytes > bundleTextBytesMax)) break
  }
  return end
}

/**
 * Seals the entries of a group behind the bundles that it brings; each call seals them anew.
 * @throws ApiError as `UnsealedEntry.seal` does
 */
export function sealLog({ entries, ...log }: LogDraft): SealedLog {
  const bundles = [...log.bundles]
  for (let at = 0; at < entries.length;) {
    const end = endOfBundle(entries, at)
    const bundle = entries[at]?.seal(entries.slice(at, end))
    if (bundle !== undefined) {
      checkBundle(bundle)
      bundles.push(bundle)
    }
    at = end
  }
  return { ...log, bundles }
}
