/**
 * Options of commands that work on a data folder, or on the vault in it.
 *
 * A command asks for them in its declaration. Those for the folder and its key come together with
 * the choice of the store, so that no command can have only some of them.
 * @module
 */
import { Option, type Command } from 'commander'
import { usage } from '../server/process/failure.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { joinFolder } from '../server/folder/make-folder.ts'
import { assertOneSource } from '../server/keys/key-source.ts'
import { shownLast } from './help.ts'

/** Stores that a command takes. */
type StoreChoice =
  /** Only a store in the folder, or none: for example to work on its files. */
  | { readonly store: 'folder' }
  /**
   * A store in the folder or in a database. `joins` makes a folder on this machine for a vault that
   * is already in a database, before the command begins.
   */
  | { readonly store: 'any'; readonly joins: boolean }

const dataOption = (): Option =>
  new Option('--data <dir>', 'the data folder').env('COFFER_DATA').default('coffer-data')

const masterKeyFileOption = (): Option =>
  new Option('--master-key-file <file>', 'where the master key is, if not in the folder').env(
    'COFFER_MASTER_KEY_FILE',
  )

/** Sources other than a file. No option holds a key: every user can read arguments. */
const otherSources = (): readonly Option[] => [
  new Option(
    '--master-key-credential <name>',
    'the credential of the systemd unit that the master key is',
  ).env('COFFER_MASTER_KEY_CREDENTIAL'),
  new Option('--passphrase', 'ask at the terminal for the passphrase that gives the master key'),
  new Option('--passphrase-fd <number>', 'read that passphrase from an open file, 0 for stdin'),
]

const storeOption = (): Option =>
  new Option('--store <url>', 'the PostgreSQL that holds the vault, in place of the folder').env(
    'COFFER_STORE',
  )

const storePasswordFileOption = (): Option =>
  new Option('--store-password-file <file>', 'where the password of its user is').env(
    'COFFER_STORE_PASSWORD_FILE',
  )

export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option)
  return command
}

/** Finds a password even if the URL does not parse, or in a parameter. */
export const hasPassword = (text: string): boolean =>
  /^(?!s3:)[a-z][a-z0-9+.-]*:\/\/[^@]*:[^@]*@/i.test(text) ||
  /^postgres(?:ql)?:\/\/.*[?&](?:ssl)?password=/is.test(text)

/** Every user can read arguments, but not variables. */
function assertNoPassword(command: Command, option: Option): void {
  const name = option.attributeName()
  const given: unknown = command.getOptionValue(name)
  if (command.getOptionValueSource(name) !== 'cli') return
  if (typeof given !== 'string' || !hasPassword(given)) return
  const instead = 'expected no password: see --store-password-file and COFFER_STORE'
  throw usage(`${option.long}: ${instead}`)
}

/** Gives a command an option that may hold an address, and refuses one with a password. */
export const addAddress = (command: Command, option: Option): Command =>
  command.addOption(option).hook('preAction', () => assertNoPassword(command, option))

/** Adds the options of a command that asks the server of a data folder, and needs no key. */
export const takesFolder = (command: Command): Command => command.addOption(dataOption())

/** Adds the options of a command that opens a vault with its master key. */
export function takesVault(command: Command, choice: StoreChoice): Command {
  addOptions(command, [dataOption(), masterKeyFileOption()])
  if (choice.store === 'any') {
    addAddress(command, shownLast(storeOption())).addOption(shownLast(storePasswordFileOption()))
  }
  addOptions(command, otherSources().map(shownLast))
  command.hook('preAction', async () => {
    const options = command.opts<FolderOptions>()
    assertOneSource(options)
    if (choice.store === 'any' && choice.joins) await joinFolder(options)
  })
  return command
}
