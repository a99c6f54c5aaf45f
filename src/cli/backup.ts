/**
 * `coffer backup`: an encrypted copy of a vault in one file, also while it is served.
 *
 * The copy is of one moment and has no page that is free; it is looked at as `coffer verify` does,
 * and the file is read back, before it gets its name. It opens with the master key of the vault,
 * which is not in it.
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { primitives } from '../crypto/primitives.ts'
import { syncFolder } from '../files.ts'
import { freeSpaceBytesMin } from '../limits.ts'
import {
  digestOfFile,
  newBackupKey,
  readBackup,
  writeBackup,
  type Manifest,
} from '../serve/backup-file.ts'
import {
  checkFolder,
  explained,
  formatVersion,
  keyPlacesOf,
  makeStagedFolder,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { copyDerivation, derivationBeside } from '../serve/passphrase.ts'
import { randomBytes, sayNow, wallMs } from '../serve/system.ts'
import { copySnapshot } from '../store/lmdb/inspect/compact.ts'
import { freeBytesAt } from '../store/lmdb/write/write-group.ts'
import { emptyReport, inspect } from './inspect.ts'

export interface BackupOptions extends FolderOptions {
  /** A file that does not exist. */
  readonly to: string
  readonly json?: boolean
}

const databaseOf = (store: string): string => join(store, 'data.mdb')

function assertFree(path: string): void {
  if (existsSync(path)) {
    throw new CommandFailure(`there is something at ${path}: choose another name with --to`)
  }
  if (!existsSync(dirname(path))) {
    throw new CommandFailure(`the folder of ${path} does not exist: make it first`)
  }
}

/** The copy and the file are there at a time, each no larger than the database. */
function assertRoom(path: string, store: string): void {
  const needed = 2 * statSync(databaseOf(store)).size + freeSpaceBytesMin
  if (freeBytesAt(dirname(path))() >= needed) return
  const mebibytes = Math.ceil(needed / 1024 ** 2)
  throw new CommandFailure(`too little space is free for a backup: ${mebibytes} MiB are needed`)
}

/** @throws CommandFailure for any damage */
async function inspectCopy(copy: LockedFolder, of: string): Promise<Manifest['rows']> {
  const report = emptyReport()
  await inspect(copy, report, store => unsealKeysOf(store, copy))
  if (report.count > 0 || report.rows === undefined) {
    throw new CommandFailure(`the vault in ${of} is damaged, so no backup was made: see verify`)
  }
  return { ...report.rows }
}

/** @throws CommandFailure unless the file gives the copy back, byte by byte */
function assertReadable(file: string, masterKey: Uint8Array, database: string): void {
  const digest = createHash('sha256')
  readBackup(file, masterKey, bytes => digest.update(bytes))
  if (digest.digest().equals(digestOfFile(database))) return
  throw new CommandFailure('the backup is not what was written: look at the disk, and try again')
}

async function makeBackup({ data }: BackupOptions, copy: LockedFolder, file: string) {
  const masterKey = primitives.keep(Uint8Array.from(copy.masterKey))
  const key = newBackupKey(masterKey, randomBytes)
  const createdAt = new Date(wallMs()).toISOString()
  try {
    await copySnapshot(join(data, 'store'), copy.store)
    const rows = await inspectCopy(copy, data)
    const database = databaseOf(copy.store)
    const bytes = statSync(database).size
    const manifest = { format: formatVersion, coffer: version, created_at: createdAt, bytes, rows }
    writeBackup(file, key, manifest, database)
    assertReadable(file, masterKey, database)
    return manifest
  } finally {
    masterKey.fill(0)
  }
}

function tell({ to, json }: BackupOptions, { created_at, rows }: Manifest): void {
  const { size } = statSync(to)
  if (json === true) return sayNow(JSON.stringify({ file: to, bytes: size, created_at, rows }))
  const count = Object.values(rows).reduce((sum, some) => sum + some, 0)
  sayNow(`backup: ${count} rows of ${created_at} in ${size} bytes, read back: ${to}`)
  sayNow('It opens with the master key of the vault, which is not in it: keep that elsewhere.')
}

/** @throws CommandFailure with nothing at that name */
export async function backup(options: BackupOptions): Promise<void> {
  const to = resolve(options.to)
  const masterKey = checkFolder(options)
  assertFree(to)
  assertRoom(to, join(options.data, 'store'))
  const copy = makeStagedFolder(`${to}.partial`, masterKey)
  const file = join(copy.data, 'backup')
  try {
    const manifest = await makeBackup(options, copy, file)
    // First, since a backup counts once it has its name.
    copyDerivation(keyPlacesOf(options.data).derivation, derivationBeside(to))
    // Unlike a rename it takes nobody's place.
    linkSync(file, to)
    syncFolder(dirname(to))
    tell({ ...options, to }, manifest)
  } catch (error) {
    throw explained(dirname(to), error)
  } finally {
    rmSync(copy.data, { recursive: true, force: true })
  }
}
