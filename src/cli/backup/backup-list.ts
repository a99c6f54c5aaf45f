/**
 * `coffer backup list`: the backups in a folder or a bucket, newest first.
 *
 * With the master key it opens the beginning of each, which holds its manifest and full length: a
 * truncated one shows without a read of all of it. Only `restore --verify-only` shows if the rest
 * opens.
 * @module
 */
import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { backupStartBytes, readStart, type BackupStart } from '../../server/backup/backup-file.ts'
import type { DatedFile } from '../../server/backup/backup-place.ts'
import { keyPlacesOf, type FolderOptions } from '../../server/folder/data-folder.ts'
import { CommandFailure, systemCodeOf, usage } from '../../server/process/failure.ts'
import { isSourceGiven, obtainMasterKey } from '../../server/keys/key-source.ts'
import { derivationBeside } from '../../server/keys/passphrase.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { keptBackupsIn, type KeptBackups } from './kept-backups.ts'
import { counted, printTable, shown, tableOf } from '../table.ts'
import { takesVault } from '../vault-options.ts'

interface BackupListOptions extends FolderOptions {
  readonly json?: boolean
}

interface ListedBackup {
  readonly file: string
  readonly began_at: string
  readonly bytes: number
  /** `null` without a key to open it. */
  readonly state: BackupStart['state'] | 'unreadable' | null
  /** Three values of its manifest. */
  readonly format: number | null
  readonly coffer: string | null
  readonly rows: Readonly<Record<string, number>> | null
}

/** Most ignored files that are named to a person. */
const ignoredNamedMax = 5

/** @returns `undefined` if no key is named and the data folder has none */
function keyFor(options: BackupListOptions, { place, backups }: KeptBackups) {
  const { file, derivation } = keyPlacesOf(options.data)
  if (!isSourceGiven(options) && !existsSync(file)) return undefined
  const [newest] = backups
  const isBeside = !existsSync(derivation) && newest !== undefined
  const beside = isBeside ? derivationBeside(place.addressOf(newest.name)) : derivation
  return obtainMasterKey(options, { file, derivation: beside })
}

/** @returns `undefined` for a file that was removed after the place was listed */
async function startOf(
  { place }: KeptBackups,
  { name, bytes }: DatedFile,
  masterKey: Uint8Array,
): Promise<(Pick<ListedBackup, 'state'> & Pick<BackupStart, 'manifest'>) | undefined> {
  try {
    return readStart(await place.readStart(name, backupStartBytes), bytes, masterKey)
  } catch (error) {
    const code = systemCodeOf(error instanceof CommandFailure ? error.cause : error)
    if (code === 'ENOENT' || code === 'NoSuchKey') return undefined
    if (error instanceof CommandFailure) throw error
    return { state: 'unreadable' }
  }
}

async function lookAt(kept: KeptBackups, masterKey?: Uint8Array): Promise<ListedBackup[]> {
  const listed: ListedBackup[] = []
  for (const backup of kept.backups) {
    const nothing = { state: null, manifest: undefined }
    const start = masterKey === undefined ? nothing : await startOf(kept, backup, masterKey)
    if (start === undefined) continue
    const { state, manifest } = start
    listed.push({
      file: kept.place.addressOf(backup.name),
      began_at: new Date(backup.instantMs).toISOString(),
      bytes: backup.bytes,
      state,
      format: manifest?.format ?? null,
      coffer: manifest?.coffer ?? null,
      rows: manifest?.rows ?? null,
    })
  }
  return listed
}

function tell(where: string, backups: readonly ListedBackup[], { ignored }: KeptBackups): void {
  if (backups.length === 0) sayNow(`there is no backup in ${where}`)
  else
    printTable(
      tableOf(
        backups.map(one => ({ ...one })),
        ['began_at', 'bytes', 'state', 'format', 'coffer', 'file'],
      ),
    )
  if (backups.some(({ state }) => state === null)) {
    sayNow('No master key was named, so none was opened: see --master-key-file.')
  }
  if (ignored.length === 0) return
  const names = ignored.slice(0, ignoredNamedMax).map(shown)
  const more = ignored.length - names.length
  const all = [...names, ...(more === 0 ? [] : [`${more} more`])].join(', ')
  sayNow(`ignored, for its name: ${counted(ignored.length, 'file')}: ${all}`)
}

/** @throws CommandFailure for a place that cannot be read, and for a key that is not valid */
async function listBackups(where: string, options: BackupListOptions): Promise<void> {
  const kept = await keptBackupsIn(where, resolve(options.data))
  const masterKey = keyFor(options, kept)
  try {
    const backups = await lookAt(kept, masterKey)
    if (options.json === true) return sayJson({ backups, ignored: kept.ignored })
    tell(where, backups, kept)
  } finally {
    masterKey?.fill(0)
  }
}

/** If both commands have an option, the parser gives it to the parent command. */
function listOptionsOf(command: Command): BackupListOptions {
  const { to, ...options }: BackupListOptions & { readonly to?: string } = command.optsWithGlobals()
  if (to === undefined) return options
  throw usage('backup list: --to: a list makes no backup')
}

export function addBackupList(backup: Command): void {
  takesVault(backup.command('list <place>'), { store: 'folder' })
    .description('the backups in a folder or s3://bucket/prefix, newest first, by their beginnings')
    .option('--json', 'print one line of JSON')
    .action((place: string, _, command: Command) => listBackups(place, listOptionsOf(command)))
}
