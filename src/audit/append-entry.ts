/**
 * Appends an entry to the audit log with the write of its operation.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import type { Change, LogBundle, UnsealedEntry } from '../store/contract.ts'
import { sealBundle } from './bundle.ts'
import { entryRoom } from './entry-format.ts'
import type { AuditEntry } from './entry.ts'

interface OwnEntry extends UnsealedEntry {
  readonly entry: AuditEntry
}

/** Returns what makes the change that appends an entry; the entries of a commit share a seal. */
export function makeAppending(
  keys: Pick<Keys, 'auditKey'>,
  randomBytes: (count: number) => Uint8Array,
): (entry: AuditEntry) => Change {
  const isOwn = (each: UnsealedEntry): each is OwnEntry => each.seal === seal
  const seal = (entries: readonly UnsealedEntry[]): LogBundle => {
    const own = entries.filter(isOwn).map(({ entry }) => entry)
    return sealBundle(keys, randomBytes, own)
  }
  return entry => {
    const unsealed: OwnEntry = { entry, bytes: entryRoom(entry), seal }
    return { entry: unsealed }
  }
}
