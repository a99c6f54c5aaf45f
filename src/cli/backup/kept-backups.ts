/**
 * Backups in a place, by the names that a server gives them. Every other file there is ignored, as
 * the server does.
 * @module
 */
import { basename } from 'node:path'
import { backupNameMsMax } from '../../limits/operation-limits.ts'
import {
  backupInstantOf,
  datedFilesOf,
  openPlace,
  type BackupPlace,
  type DatedFile,
  type KeptFile,
} from '../../server/backup/backup-place.ts'
import { CommandFailure, systemCodeOf } from '../../server/process/failure.ts'
import { derivationBeside } from '../../server/keys/passphrase.ts'
import { wallMs } from '../../server/process/system.ts'

export interface KeptBackups {
  readonly place: BackupPlace
  /** Newest first. */
  readonly backups: readonly DatedFile[]
  /** Names of the other files, in order. */
  readonly ignored: readonly string[]
}

async function listIn(where: string, place: BackupPlace): Promise<readonly KeptFile[]> {
  try {
    return await place.list()
  } catch (error) {
    if (!(error instanceof CommandFailure) || systemCodeOf(error.cause) !== 'ENOENT') throw error
    throw new CommandFailure(`there is no folder at ${where}`, 1, error.cause)
  }
}

/**
 * @param where a folder, or `s3://bucket/prefix`
 * @param data the data folder, which is not searched
 * @throws CommandFailure for a place that cannot be read
 */
export async function keptBackupsIn(where: string, data: string): Promise<KeptBackups> {
  const place = openPlace(where, data)
  const files = await listIn(where, place)
  const backups = datedFilesOf(files)
  const others = files.map(({ name }) => name).filter(each => backupInstantOf(each) === undefined)
  // The parameters of a passphrase belong to the backup beside them.
  const beside = new Set(backups.map(({ name }) => derivationBeside(name)))
  const ignored = others.filter(name => !beside.has(name)).toSorted()
  return { place, backups, ignored }
}

/**
 * Finds the backup that `restore --latest` takes, even if it does not open.
 * @returns its path or address
 * @throws CommandFailure if there is none, and for one from the future: it was made while a clock
 *   was wrong, so the newest one is not known
 */
export async function newestBackupIn(where: string, data: string): Promise<string> {
  const { place, backups } = await keptBackupsIn(where, data)
  const [newest] = backups
  if (newest === undefined) {
    const expected = 'expected names such as coffer-20261124T215500Z.backup'
    throw new CommandFailure(`there is no backup in ${where}: ${expected}`)
  }
  if (newest.instantMs <= wallMs()) return place.addressOf(newest.name)
  const future = `${place.addressOf(newest.name)} is of the future by this machine's clock`
  throw new CommandFailure(`${future}: set the clock, or name the backup that you mean`)
}

/**
 * A backup begins behind the instant in its name, so that none is older than it is named.
 * @param createdAt from the sealed beginning of that backup
 */
export function isNamedByInstant(path: string, createdAt: string): boolean {
  const behindMs = Date.parse(createdAt) - (backupInstantOf(basename(path)) ?? Number.NaN)
  return behindMs >= 0 && behindMs <= backupNameMsMax
}

/**
 * Names are not sealed, but the instant inside is: a user who can write to the place without having
 * the key could pass off an old backup as the newest.
 * @param path from `newestBackupIn`
 * @throws CommandFailure if the two contradict each other
 */
export function assertNamedByInstant(path: string, createdAt: string): void {
  if (isNamedByInstant(path, createdAt)) return
  const contradicted = `${path} is of ${createdAt}, and not of when its name says`
  throw new CommandFailure(`${contradicted}: name the backup that you mean`)
}
