/**
 * Backups in a place that are a vault's own: its master key opens their beginning, which says how
 * long they are and when they were made.
 *
 * A name proves nothing. A program that may only add files, or another vault with the same place,
 * could otherwise keep a server from making backups, and have it remove those that it made. Copies
 * of a backup under further names count once.
 * @module
 */
import { backupStartBytes, readStart } from '../../server/backup/backup-file.ts'
import { datedFilesOf, type BackupPlace, type DatedFile } from '../../server/backup/backup-place.ts'
import { isNamedByInstant } from './kept-backups.ts'

export interface OwnBackups {
  readonly place: BackupPlace
  readonly masterKey: Uint8Array
  /** Unix time. Files dated after it were made with a wrong clock, and their time is unknown. */
  readonly nowMs: number
}

/** Returns what the copies of a backup share; undefined if it is no own one. */
async function ownSalt(
  { place, masterKey }: OwnBackups,
  { name, bytes }: DatedFile,
): Promise<string | undefined> {
  try {
    const start = await place.readStart(name, backupStartBytes)
    const { state, manifest, salt } = readStart(start, bytes, masterKey)
    const madeAt = state === 'complete' ? manifest?.created_at : undefined
    return madeAt !== undefined && isNamedByInstant(name, madeAt) ? salt : undefined
  } catch {
    // Removed meanwhile, or not to be read, as in a bucket that archives: it proves nothing.
    return undefined
  }
}

/** Returns the time of the newest one, Unix time in milliseconds. @throws CommandFailure */
export async function newestOwnMs(own: OwnBackups): Promise<number | undefined> {
  const past = datedFilesOf(await own.place.list()).filter(each => each.instantMs <= own.nowMs)
  for (const file of past) {
    if ((await ownSalt(own, file)) !== undefined) return file.instantMs
  }
  return undefined
}

/**
 * Returns the names behind the newest `keep` own ones, of any maker: first those dated in the
 * future, then the others by age.
 * @throws CommandFailure
 */
export async function surplusIn(own: OwnBackups, keep: number): Promise<readonly string[]> {
  const files = datedFilesOf(await own.place.list())
  const future = files.filter(({ instantMs }) => instantMs > own.nowMs)
  const past = files.slice(future.length)
  const kept = new Set<string>()
  const surplus: string[] = []
  for (const file of [...past, ...future]) {
    if (kept.size === keep) surplus.push(file.name)
    else {
      const salt = await ownSalt(own, file)
      if (salt !== undefined) kept.add(salt)
    }
  }
  return surplus
}
