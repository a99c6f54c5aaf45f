/**
 * Source of a backup for `coffer restore`: a file, a bucket or standard input, or the newest one of
 * a place.
 * @module
 */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BeginProgress } from '../../lib/progress.ts'
import { assertBegins, backupStartBytes } from '../../server/backup/backup-file.ts'
import { addressPrefix, openBucket, splitAddress } from '../../server/backup/bucket.ts'
import {
  standardInput,
  standardStream,
  takeStandardInput,
} from '../../server/backup/standard-streams.ts'
import { assertRoomToRestore } from '../../server/folder/disk-space.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { newestBackupIn } from './kept-backups.ts'

export interface SourceOptions {
  readonly data: string
  /** A folder of backups, or `s3://bucket/prefix`, instead of a file. */
  readonly latest?: string
}

/** @throws CommandFailure unless exactly one is named, by its file or as the newest of a place */
export async function fileOf(
  file: string | undefined,
  { latest, data }: SourceOptions,
): Promise<string> {
  if (file !== undefined && latest === undefined) return file
  if (file === undefined && latest !== undefined) return newestBackupIn(latest, resolve(data))
  const expected = 'expected the file of a backup, or --latest and where backups are'
  throw usage(`${expected}: one of both`)
}

export interface BackupSource {
  /** Its name in errors. */
  readonly told: string
  readonly bytes: number
  /**
   * Opens the beginning of what a service has before the rest is fetched, so that no service fills
   * the disk. @returns the path of a file, which may be a new one in that folder
   */
  readonly bring: (folder: string, masterKey: Uint8Array, begin: BeginProgress) => Promise<string>
}

async function sourceInBucket(address: string): Promise<BackupSource> {
  const { bucket: name, key } = splitAddress(address)
  const bucket = openBucket(name)
  const bytes = await bucket.sizeOf(key)
  return {
    told: address,
    bytes,
    async bring(folder, masterKey, progress) {
      const start = await bucket.readStart(key, Math.min(bytes, backupStartBytes))
      assertBegins(start, bytes, { masterKey, told: address })
      assertRoomToRestore(folder, bytes)
      const path = join(folder, 'downloaded')
      await bucket.download(key, { path, bytes }, progress)
      return path
    },
  }
}

/** @throws CommandFailure if there is no backup */
export async function sourceOf(file: string): Promise<BackupSource> {
  if (file === standardStream) {
    return {
      told: standardInput,
      bytes: 0,
      async bring(folder, masterKey) {
        const path = join(folder, 'downloaded')
        takeStandardInput(path, masterKey)
        return path
      },
    }
  }
  if (!file.startsWith(addressPrefix)) {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) throw new CommandFailure(`there is no backup at ${file}`)
    // The length of a pipe, and so the end of a backup, is not known.
    if (!stats.isFile())
      throw new CommandFailure(`${file} is no regular file: put the backup in one`)
    return { told: file, bytes: stats.size, bring: async () => file }
  }
  return sourceInBucket(file)
}
