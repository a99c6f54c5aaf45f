/**
 * Backups in a place that are a vault's own: its master key opens their beginning, which says how
 * long they are and when they were made.
 *
 * A name proves nothing. A program that may only add files, or another vault with the same place,
 * could otherwise keep a server from making backups, and have it remove those that it made.
 * @module
 */
import { backupStartBytes, readStart } from '../server/backup/backup-file.ts'
import { datedFilesOf, type BackupPlace, type DatedFile } from '../server/backup/backup-place.ts'
import { isNamedByInstant } from './kept-backups.ts'

export interface OwnBackups {
  readonly place: BackupPlace
  readonly masterKey: Uint8Array
  /** Unix time. Files dated after it were made with a wrong clock, and their time is unknown. */
  readonly nowMs: number
}

async function isOwn(
  { place, masterKey }: OwnBackups,
  { name, bytes }: DatedFile,
): Promise<boolean> {
  try {
    const start = await place.readStart(name, backupStartBytes)
    const { state, manifest } = readStart(start, bytes, masterKey)
    const madeAt = state === 'complete' ? manifest?.created_at : undefined
    return madeAt !== undefined && isNamedByInstant(name, madeAt)
  } catch {
    // Removed meanwhile, or not to be read, as in a bucket that archives: it proves nothing.
    return false
  }
}

/** Returns the time of the newest one, Unix time in milliseconds. @throws CommandFailure */
export async function newestOwnMs(own: OwnBackups): Promise<number | undefined> {
  const past = datedFilesOf(await own.place.list()).filter(each => each.instantMs <= own.nowMs)
  for (const file of past) if (await isOwn(own, file)) return file.instantMs
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
  let kept = 0
  const surplus: string[] = []
  for (const file of [...past, ...future]) {
    if (kept === keep) surplus.push(file.name)
    else if (await isOwn(own, file)) kept += 1
  }
  return surplus
}
