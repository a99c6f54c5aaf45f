/**
 * `coffer init`: makes a data folder and shows the key of its first management application once.
 *
 * The key exists in clear only in the output or in the named file, so no vault is made if its key
 * cannot be shown.
 * @module
 */
import type { Command } from 'commander'
import type { NewVault } from '../vault/vault.ts'
import { type FolderOptions } from '../server/folder/data-folder.ts'
import { createDataFolder } from '../server/folder/make-folder.ts'
import { isDataFolder, lostStampOf, pathsOf } from '../server/folder/folder-stamp.ts'
import { isSourceGiven } from '../server/keys/key-source.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { isAnythingAt, statsAt } from '../server/folder/regular-files.ts'
import { sayNow } from '../server/process/system.ts'
import { keyFileOption, withKeyFile, type KeyFile } from './key-file.ts'
import { assertNotEmptied } from './setting-options.ts'
import { takesVault } from './vault-options.ts'

interface InitOptions extends FolderOptions {
  readonly keyFile?: string
  readonly json?: boolean
}

function reportOf(
  options: InitOptions,
  { tenantId, applicationId, key }: NewVault,
  keyFile: KeyFile | undefined,
): readonly string[] {
  if (options.json === true) {
    const told = keyFile === undefined ? { key: key.reveal() } : { key_file: keyFile.path }
    return [JSON.stringify({ tenant_id: tenantId, application_id: applicationId, ...told })]
  }
  return [
    `The vault is in ${options.data}.`,
    `Tenant:                 ${tenantId}`,
    `Management application: ${applicationId}`,
    keyFile === undefined
      ? `Its key, shown once:    ${key.reveal()}`
      : `Its key is in           ${keyFile.path}`,
  ]
}

function tell(options: InitOptions, made: NewVault, keyFile: KeyFile | undefined): void {
  try {
    keyFile?.write(made.key.reveal())
    sayNow(...reportOf(options, made, keyFile))
  } catch {
    const where = keyFile === undefined ? 'mend stdout' : 'mend stdout, or see its disk'
    throw new CommandFailure(`the key could not be printed, so no vault was made: ${where}`)
  }
}

/** Otherwise a new vault would have its key beside its data, or its rows on this disk. */
function assertPlacesChosen(options: InitOptions): void {
  if (!isSourceGiven(options)) assertNotEmptied('MASTER_KEY_FILE', 'MASTER_KEY_CREDENTIAL')
  if (options.store === undefined) assertNotEmptied('STORE')
}

/** @throws CommandFailure */
function init(options: InitOptions): Promise<void> {
  assertPlacesChosen(options)
  return withKeyFile(options.keyFile, keyFile =>
    createDataFolder(options, made => tell(options, made, keyFile)),
  )
}

/**
 * An empty folder may belong to a volume that is not mounted; a new vault there would answer 404
 * for every token of the old one. A key file elsewhere, which is made with the vault, shows that
 * there was one.
 * @throws CommandFailure if nothing tells a first start from that
 */
function assertFirstStart(options: InitOptions): void {
  const { data, masterKeyFile } = options
  // An interrupted init left its folder.
  if (isAnythingAt(pathsOf(data).newStamp)) return
  const found = masterKeyFile === undefined ? undefined : statsAt(masterKeyFile)
  if (masterKeyFile !== undefined && (found === undefined || found.size === 0)) return
  const reason =
    masterKeyFile === undefined
      ? `--init: nothing outside of ${data} tells a new vault from a volume that is not mounted`
      : `--init: the master key at ${masterKeyFile} is there, and no vault is in ${data}`
  throw new CommandFailure(`${reason}: mount it, or say --init-new for this start alone`)
}

/** For `coffer serve --init`: does nothing if there is a data folder, whatever its state. */
export async function initWhereAbsent(options: InitOptions, isNew: boolean): Promise<void> {
  if (isDataFolder(options.data)) return
  const lost = lostStampOf(options.data)
  if (lost !== undefined) throw lost
  if (!isNew) assertFirstStart(options)
  await init(options)
}

export function addInit(program: Command): void {
  takesVault(program.command('init'), { store: 'any', joins: false })
    .description('make a data folder, and print the first management key once')
    .addOption(keyFileOption())
    .option('--json', 'print one line of JSON')
    .action((options: InitOptions) => init(options))
}
