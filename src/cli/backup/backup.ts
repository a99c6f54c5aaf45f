/**
 * `coffer backup`: an encrypted copy of a vault in one file, even while it is served.
 *
 * The copy is a snapshot without free pages. Before the file gets its name, the copy is inspected
 * as `coffer verify` does, and the file is read back. It opens with the master key of the vault,
 * which is not in it.
 * @module
 */
import { Option, type Command } from 'commander'
import { assertOwnStore } from '../../server/folder/folder-database.ts'
import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { versionAndBuild } from '../../lib/version.ts'
import { primitives } from '../../crypto/primitives.ts'
import { freeSpaceBytesMin } from '../../limits/operation-limits.ts'
import { countBytes, noProgress, type BeginProgress } from '../../lib/progress.ts'
import {
  digestOfFile,
  newBackupKey,
  readBackup,
  writeBackup,
  type Manifest,
} from '../../server/backup/backup-file.ts'
import { standardOutput, standardStream } from '../../server/backup/standard-streams.ts'
import { splitTarget, type BackupPlace } from '../../server/backup/backup-place.ts'
import {
  checkFolder,
  damagedIn,
  keyPlacesOf,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../../server/folder/data-folder.ts'
import { explained, formatVersion } from '../../server/folder/folder-stamp.ts'
import { ApiError } from '../../lib/errors.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { withRoom, type DiskNeed } from '../../server/folder/disk-space.ts'
import { makeNotedFolder, removeNoted } from '../../server/folder/staged-folder.ts'
import { copyDerivation, derivationBeside } from '../../server/keys/passphrase.ts'
import { randomBytes, sayNow, stderrNow, wallMs } from '../../server/process/system.ts'
import { copySnapshot } from '../../store/lmdb/maintenance/compact-copy.ts'
import { emptyReport, inspect } from '../inspect.ts'
import { withProgress } from '../show-progress.ts'
import { addBackupList } from './backup-list.ts'
import { addAddress, takesVault } from '../vault-options.ts'

interface BackupOptions extends FolderOptions {
  /** A new file, the address of one in a bucket, or `-`. */
  readonly to?: string
  readonly json?: boolean
}

const databaseOf = (store: string): string => join(store, 'data.mdb')

/** The copy and the file exist at the same time, each at most as large as the database. */
function roomFor(staging: string, data: string): DiskNeed {
  const fileBytes = statSync(databaseOf(join(data, 'store'))).size
  const bytes = 2 * fileBytes + freeSpaceBytesMin
  return { folder: dirname(staging), bytes, fileBytes, what: 'a backup' }
}

/** @throws CommandFailure for any damage */
async function inspectCopy(
  copy: LockedFolder,
  of: string,
  progress: BeginProgress,
): Promise<Manifest['rows']> {
  const report = emptyReport()
  await inspect(copy, report, store => unsealKeysOf(store, copy), progress)
  if (report.count > 0 || report.rows === undefined) {
    throw new CommandFailure(`the vault in ${of} is damaged, so no backup was made: see verify`)
  }
  return { ...report.rows }
}

/** @throws CommandFailure unless the file yields the copy, byte for byte */
function assertReadable(
  file: string,
  masterKey: Uint8Array,
  database: string,
  progress: BeginProgress,
): void {
  const digest = createHash('sha256')
  const reading = countBytes(progress(statSync(file).size, 'reading'))
  readBackup(file, masterKey, bytes => {
    digest.update(bytes)
    reading(bytes.length)
  })
  if (digest.digest().equals(digestOfFile(database))) return
  throw new CommandFailure('the backup is not what was written: look at the disk, and try again')
}

async function fill(data: string, copy: LockedFolder, file: string, progress: BeginProgress) {
  const masterKey = primitives.keep(Uint8Array.from(copy.masterKey))
  const key = newBackupKey(masterKey, randomBytes)
  const createdAt = new Date(wallMs()).toISOString()
  try {
    await copySnapshot(join(data, 'store'), copy.store, progress)
    const rows = await inspectCopy(copy, data, progress)
    const database = databaseOf(copy.store)
    const bytes = statSync(database).size
    const made = { format: formatVersion, coffer: versionAndBuild, created_at: createdAt }
    const manifest = { ...made, bytes, rows }
    writeBackup(file, key, manifest, database, progress(bytes, 'writing'))
    assertReadable(file, masterKey, database, progress)
    return manifest
  } finally {
    masterKey.fill(0)
  }
}

/** Place in which a backup is made and stored. */
type Target = Pick<BackupPlace, 'stagingOf' | 'assertFree' | 'put'>

/** Stores the parameters of the passphrase, for a vault that one opens. */
async function putDerivation(
  data: string,
  place: Target,
  name: string,
  copy: LockedFolder,
): Promise<void> {
  const file = join(copy.data, 'kdf')
  copyDerivation(keyPlacesOf(data).derivation, file)
  if (existsSync(file)) await place.put(derivationBeside(name), file, noProgress)
}

export interface MadeBackup {
  readonly manifest: Manifest
  /** Size of its file. */
  readonly bytes: number
}

async function makeStaged(
  options: FolderOptions,
  place: Target,
  name: string,
  progress: BeginProgress,
): Promise<MadeBackup> {
  const masterKey = checkFolder(options)
  const staging = place.stagingOf(name)
  const copy = makeNotedFolder(options.data, staging, masterKey)
  const file = join(copy.data, 'backup')
  try {
    const manifest = await fill(options.data, copy, file, progress)
    // Comes first, because a backup counts once it has its name.
    await putDerivation(options.data, place, name, copy)
    await place.put(name, file, progress)
    return { manifest, bytes: statSync(file).size }
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') {
      throw damagedIn(options.data, error)
    }
    throw explained(dirname(staging), error)
  } finally {
    removeNoted(options.data, staging)
  }
}

/**
 * Makes a backup of a vault, checks all of it, and gives it its name.
 * @throws CommandFailure with nothing at that name
 */
export async function makeBackup(
  options: FolderOptions,
  place: Target,
  name: string,
  progress: BeginProgress,
): Promise<MadeBackup> {
  const { data } = options
  assertOwnStore(data, 'use the backups of that, see docs/many-machines.md')
  checkFolder(options).fill(0)
  await place.assertFree(name)
  return withRoom(roomFor(place.stagingOf(name), data), () =>
    makeStaged(options, place, name, progress),
  )
}

function linesOf(to: string, { manifest, bytes }: MadeBackup, json?: boolean): readonly string[] {
  const { created_at, rows } = manifest
  if (json === true) return [JSON.stringify({ file: to, bytes, created_at, rows })]
  const count = Object.values(rows).reduce((sum, some) => sum + some, 0)
  return [
    `backup: ${count} rows of ${created_at} in ${bytes} bytes, read back: ${to}`,
    'It opens with the master key of the vault, which is not in it: keep that elsewhere.',
  ]
}

/** The parameters of a passphrase are a second file, which standard output cannot carry. */
function assertOneFile(data: string): void {
  if (!existsSync(keyPlacesOf(data).derivation)) return
  const reason = 'the backup of a vault with a passphrase is two files'
  throw usage(`--to -: ${reason}: name one, and the other is beside it`)
}

/** Standard output carries only the backup: messages go to stderr. */
async function backupToOutput(options: BackupOptions, bytes: number): Promise<void> {
  const { data, json } = options
  const place = standardOutput(resolve(data))
  assertOneFile(data)
  const made = await withProgress({ ...options, bytes }, progress =>
    makeBackup(options, place, standardStream, progress),
  )
  for (const line of linesOf(standardStream, made, json)) stderrNow.line(line)
}

/** @throws CommandFailure with nothing at that name */
async function backup(options: BackupOptions): Promise<void> {
  const { data, to, json } = options
  if (to === undefined) {
    throw usage('expected --to: the file that the backup is to be')
  }
  const { size: bytes } = statSync(databaseOf(join(data, 'store')), { throwIfNoEntry: false }) ?? {
    size: 0,
  }
  if (to === standardStream) return backupToOutput(options, bytes)
  const { place, name } = splitTarget(to, data)
  const made = await withProgress({ ...options, bytes }, progress =>
    makeBackup(options, place, name, progress),
  )
  sayNow(...linesOf(place.addressOf(name), made, json))
}

export function addBackup(program: Command): void {
  const making = takesVault(program.command('backup'), { store: 'folder' })
  making.description('make an encrypted copy of a vault in one file, also while it is served')
  const to = 'where to, s3://bucket/name, or - for stdout; nothing may be there'
  addAddress(making, new Option('--to <file>', to))
    .option('--json', 'print one line of JSON')
    .action((options: BackupOptions) => backup(options))
  addBackupList(making)
}
