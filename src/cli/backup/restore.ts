/**
 * `coffer restore`: makes a data folder from a backup, all of which is opened and checked before
 * the folder gets its name.
 *
 * The master key stays in its place: it is not in a backup, and is not put into the folder.
 * @module
 */
import type { Command } from 'commander'
import { accessSync, constants, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Revoked } from '../../vault/operator/revocation.ts'
import { versionAndBuild } from '../../lib/version.ts'
import { primitives } from '../../crypto/primitives.ts'
import { present } from '../../lib/errors.ts'
import { ownerOnlyFolder } from '../../lib/files.ts'
import { countBytes, type BeginProgress } from '../../lib/progress.ts'
import { standardStream } from '../../server/backup/standard-streams.ts'
import { addressPrefix } from '../../server/backup/bucket.ts'
import { readBackup, writeDatabase, type Manifest } from '../../server/backup/backup-file.ts'
import {
  keyPlacesOf,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../../server/folder/data-folder.ts'
import { assertFileRoom } from '../../server/folder/disk-space.ts'
import {
  explained,
  formatVersion,
  isDataFolder,
  pathsOf,
} from '../../server/folder/folder-stamp.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import {
  assertRestorable,
  makeRestored,
  type RestoredFolder,
} from '../../server/folder/restored-folder.ts'
import {
  makeNotedFolder,
  makeStagedFolder,
  removeNoted,
} from '../../server/folder/staged-folder.ts'
import { removeStaging } from '../../server/folder/staging-mark.ts'
import { copyDerivation, derivationBeside } from '../../server/keys/passphrase.ts'
import { obtainMasterKey } from '../../server/keys/key-source.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { fileOf, sourceOf, type BackupSource, type SourceOptions } from './backup-source.ts'
import { withProgress } from '../show-progress.ts'
import { checkLists, eraseIn, type ErasedByLists, type ErasureLists } from './erasure-lists.ts'
import { emptyReport, inspect } from '../inspect.ts'
import { assertNamedByInstant } from './kept-backups.ts'
import { openLogOfErasures } from './logged-erasures.ts'
import { keyFileOption, withKeyFile, type KeyFile } from '../key-file.ts'
import { revokeIn, tellRevoked, wantsRevoked, type KeysOfRestore } from './restored-keys.ts'
import { takesVault } from '../vault-options.ts'

type RestoreOptions = FolderOptions &
  SourceOptions &
  KeysOfRestore & {
    /** Files that list tokens which were deleted after the backup. */
    readonly erase?: readonly string[]
    /** An export of the audit log, with deletions after the backup. */
    readonly eraseFromLog?: string
    readonly acceptUnsigned?: boolean
  }

/** A backup says nothing of kinds of rows that came to be after the coffer that made it. */
const isAsMany = (found: Readonly<Record<string, number>>, told: Manifest['rows']): boolean =>
  Object.keys({ ...found, ...told }).every(kind => (found[kind] ?? 0) === (told[kind] ?? 0))

/** @throws CommandFailure for any damage, and if rows are not as many as the manifest says */
async function assertWhole(
  copy: LockedFolder,
  { rows }: Manifest,
  { progress, told }: { readonly progress: BeginProgress; readonly told: string },
): Promise<void> {
  const report = emptyReport()
  await inspect(copy, report, store => unsealKeysOf(store, copy), progress)
  if (report.count === 0 && report.rows !== undefined && isAsMany(report.rows, rows)) return
  throw new CommandFailure(`what is in the backup is damaged: take another one than ${told}`)
}

/** Names the coffer that restores a backup of another format. */
function otherCofferFor(format: number): string {
  if (format > formatVersion) return 'restore it with that one, or a newer one'
  const advice = 'restore it with that one, export its tokens, and import them into a new vault'
  return `older formats were never released: ${advice}`
}

/** @throws CommandFailure if a backup is of another format */
function assertThisFormat({ format, coffer }: Manifest, told: string): void {
  if (format === formatVersion) return
  const made = `the backup at ${told} is of format ${format}, made by coffer ${coffer}`
  const own = `this is coffer ${versionAndBuild}, of format ${formatVersion}`
  throw new CommandFailure(`${made}; ${own}: ${otherCofferFor(format)}`)
}

interface Filling {
  /** Its name in errors. */
  readonly told: string
  /** Refuses a backup by its manifest, before the rest of it is read. */
  readonly accept: (manifest: Manifest) => void
  readonly progress: BeginProgress
}

async function fill(
  copy: LockedFolder,
  file: string,
  { told, accept, progress }: Filling,
): Promise<Manifest> {
  assertFileRoom(statSync(file).size)
  mkdirSync(copy.store, { mode: ownerOnlyFolder })
  // The check of the restored copy wipes the other one.
  const masterKey = primitives.keep(Uint8Array.from(copy.masterKey))
  const read: { manifest?: Manifest } = {}
  const reading = countBytes(progress(statSync(file).size, 'reading'))
  try {
    writeDatabase(join(copy.store, 'data.mdb'), take => {
      const takePiece = (bytes: Uint8Array): void => {
        take(bytes)
        reading(bytes.length)
      }
      read.manifest = readBackup(file, masterKey, takePiece, { told, accept })
    })
  } finally {
    masterKey.fill(0)
  }
  const manifest = present(read.manifest, 'a backup that was read has a manifest')
  await assertWhole(copy, manifest, { progress, told })
  return manifest
}

/** Names the data that is back although it was ended after the backup. */
function revivedIn({ revoked, erased }: RestoredVault): string {
  const tokens =
    erased === undefined
      ? 'tokens that were deleted since then'
      : 'tokens that were deleted since then and are on no list that was given'
  if (revoked !== undefined) {
    return `${tokens} are there again. Delete them before other applications have keys.`
  }
  const keys = 'keys that were revoked, webhooks and'
  return `${keys} ${tokens} are there again. Revoke and delete them before it is served.`
}

const shown = ({ tokens, notThere, unsignedFrom }: ErasedByLists) => ({
  tokens,
  not_there: notThere,
  ...(unsignedFrom === undefined ? {} : { unsigned_from: unsignedFrom }),
})

function tellErased({ tokens, notThere, unsignedFrom }: ErasedByLists): void {
  sayNow(`erased: ${tokens} tokens; ${notThere} lines are of none that is there`)
  if (unsignedFrom === undefined) return
  sayNow(`of the log no checkpoint covers the entries from ${unsignedFrom} on`)
}

/** JSON facts, whatever became of the keys. */
const factsOf = ({ newest, manifest: { created_at, rows }, erased }: RestoredVault) => ({
  ...(newest === undefined ? {} : { file: newest }),
  created_at,
  rows,
  ...(erased === undefined ? {} : { erased: shown(erased) }),
})

function tell({ data, json, verifyOnly }: RestoreOptions, made: RestoredVault): void {
  const { manifest, revoked, erased } = made
  const { created_at, rows } = manifest
  // With new keys these facts were printed before the folder counted.
  if (json === true) return revoked === undefined ? sayJson(factsOf(made)) : undefined
  const count = Object.values(rows).reduce((sum, some) => sum + some, 0)
  if (made.newest !== undefined) sayNow(`the newest backup there: ${made.newest}`)
  const what = `${count} rows of ${created_at}`
  if (verifyOnly === true) return sayNow(`the backup is whole: ${what}`)
  sayNow(`restored: ${what} in ${data}`)
  if (erased !== undefined) tellErased(erased)
  sayNow(`The vault is as of ${created_at}: ${revivedIn(made)}`)
}

function mayWriteIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** A trial is made beside the backup if possible. */
function stagingOfTrial(file: string, data: string): string {
  const path = resolve(file)
  const isFile = !file.startsWith(addressPrefix) && file !== standardStream
  if (isFile && mayWriteIn(dirname(path))) return `${path}.restoring`
  return statSync(data, { throwIfNoEntry: false })?.isDirectory() === true
    ? pathsOf(data).restoring
    : `${data}.restoring`
}

/** A trial keeps nothing. */
function makeTrial(file: string, data: string, masterKey: Uint8Array): RestoredFolder {
  const path = stagingOfTrial(file, data)
  const place = (): void => {}
  if (!isDataFolder(data)) {
    return { copy: makeStagedFolder(path, masterKey), place, clear: () => removeStaging(path) }
  }
  // The copy may be of that vault, so destruction there has to know of it.
  const copy = makeNotedFolder(data, path, masterKey)
  return { copy, place, clear: () => removeNoted(data, path) }
}

/** The restored data, before it counts. */
interface RestoredVault {
  /** Its path or address, if it was looked for. */
  readonly newest: string | undefined
  readonly manifest: Manifest
  /** Absent if no list was given. */
  readonly erased?: ErasedByLists
  /** Absent if the keys are kept. */
  readonly revoked?: Revoked
}

/** Changes to make to the data of the backup. */
interface Wanted {
  readonly lists: ErasureLists
  readonly isRevoking: boolean
  /** Path or address of the backup, if it was looked for. */
  readonly newest: string | undefined
}

async function make(
  copy: LockedFolder,
  { bring, told }: BackupSource,
  { lists, isRevoking, newest }: Wanted,
  progress: BeginProgress,
): Promise<RestoredVault> {
  const masterKey = primitives.keep(Uint8Array.from(copy.masterKey))
  // Opening a vault wipes the key that it was given.
  const openable = () => ({ ...copy, masterKey: primitives.keep(Uint8Array.from(masterKey)) })
  const accept = (manifest: Manifest): void => {
    assertThisFormat(manifest, told)
    if (newest !== undefined) assertNamedByInstant(newest, manifest.created_at)
  }
  try {
    const path = await bring(copy.data, masterKey, progress)
    const manifest = await fill(copy, path, { told, accept, progress })
    if (dirname(path) === copy.data) rmSync(path)
    const isErasing = lists.lists.length > 0 || lists.log !== undefined
    const erased = isErasing ? { erased: await eraseIn(openable(), lists, progress) } : {}
    if (!isRevoking) return { newest, manifest, ...erased }
    return { newest, manifest, ...erased, revoked: await revokeIn(openable(), progress) }
  } finally {
    masterKey.fill(0)
  }
}

async function restoreWith(
  file: string,
  options: RestoreOptions,
  wanted: Wanted,
  keyFile: KeyFile | undefined,
): Promise<void> {
  const data = resolve(options.data)
  const isTrial = options.verifyOnly === true
  const source = await sourceOf(file)
  if (!isTrial) assertRestorable(data)
  const derivation = derivationBeside(file)
  const masterKey = obtainMasterKey(options, { derivation })
  const { copy, place, clear } = isTrial
    ? makeTrial(file, data, masterKey)
    : makeRestored(data, masterKey)
  try {
    const { bytes } = source
    const made = await withProgress({ ...options, bytes }, progress =>
      make(copy, source, wanted, progress),
    )
    if (!isTrial) {
      copyDerivation(derivation, keyPlacesOf(copy.data).derivation)
      if (made.revoked) tellRevoked(options, factsOf(made), made.revoked, keyFile)
    }
    place()
    tell(options, made)
  } catch (error) {
    throw explained(data, error)
  } finally {
    clear()
  }
}

/**
 * @param named a backup, the address of one in a bucket, or `-`; absent with `latest`
 * @throws CommandFailure with nothing changed
 */
async function restore(named: string | undefined, options: RestoreOptions): Promise<void> {
  const file = await fileOf(named, options)
  const { erase: files = [], eraseFromLog, acceptUnsigned = false, verifyOnly } = options
  if (verifyOnly === true && (files.length > 0 || eraseFromLog !== undefined)) {
    throw usage('--verify-only: nothing is made, and no token is erased')
  }
  const isRevoking = wantsRevoked(options)
  const newest = options.latest === undefined ? undefined : file
  if (acceptUnsigned && eraseFromLog === undefined) {
    throw usage('--accept-unsigned is of a log: expected --erase-from-log as well')
  }
  const log =
    eraseFromLog === undefined ? undefined : openLogOfErasures(eraseFromLog, acceptUnsigned)
  const lists = { ...(await checkLists(files)), log }
  const wanted = { lists, isRevoking, newest }
  await withKeyFile(options.keyFile, keyFile => restoreWith(file, options, wanted, keyFile))
}

export function addRestore(program: Command): void {
  takesVault(program.command('restore [file]'), { store: 'folder' })
    .description(
      'make a data folder, empty or not there, from a backup, also s3://bucket/name or - (stdin)',
    )
    .option('--latest <place>', 'the newest backup in a folder or s3://bucket/prefix')
    .option('--verify-only', 'look at the whole backup, and make nothing')
    .option(
      '--revoke-keys',
      'end all API keys and sessions in it, but a new management key, and disable its webhooks',
    )
    .option('--keep-keys', 'keep them, also those that were revoked since the backup')
    .addOption(keyFileOption())
    .option(
      '--erase <file>',
      'erase the tokens that a list of serve --erasure-log names; may be given again',
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .option(
      '--erase-from-log <file>',
      'erase the tokens that ended since, by a newer coffer audit export of that vault',
    )
    .option(
      '--accept-unsigned',
      'erase also what the end of that log tells, which no checkpoint covers yet',
    )
    .option('--json', 'print one line of JSON')
    .action((file: string | undefined, options: RestoreOptions) => restore(file, options))
}
