/**
 * Options that commands share.
 * @module
 */
import { Option, type Command } from 'commander'
import { CommandFailure, usageExitCode } from '../server/process/failure.ts'
import { joinFolder } from '../server/folder/make-folder.ts'
import { assertOneSource } from '../server/keys/key-source.ts'

export const dataOption = (): Option =>
  new Option('--data <dir>', 'the data folder').env('COFFER_DATA').default('coffer-data')

export const masterKeyOption = (): Option =>
  new Option('--master-key-file <file>', 'where the master key is, if not in the folder').env(
    'COFFER_MASTER_KEY_FILE',
  )

export const keyFileOption = (): Option =>
  new Option(
    '--key-file <file>',
    'write the new key there instead of printing it; no such file yet',
  )

/** Beside that of a file. No option holds a key: arguments are for every user to read. */
const otherSources = (): readonly Option[] => [
  new Option(
    '--master-key-credential <name>',
    'the credential of the systemd unit that the master key is',
  ).env('COFFER_MASTER_KEY_CREDENTIAL'),
  new Option('--passphrase', 'ask at the terminal for the passphrase that gives the master key'),
  new Option('--passphrase-fd <number>', 'read that passphrase from an open file, 0 for stdin'),
]

/** All commands, at any depth. */
function* commandsOf(program: Command): Generator<Command> {
  for (const command of program.commands) {
    yield* commandsOf(command)
    yield command
  }
}

const hasOption = (command: Command, name: string): boolean =>
  command.options.some(({ long }) => long === name)

/** Gives every command that takes the master key from a file the other ways to have it. */
export function addKeySources(program: Command): void {
  for (const command of commandsOf(program)) {
    if (!hasOption(command, '--master-key-file')) continue
    if (hasOption(command, '--master-key-credential')) continue
    addOptions(command, otherSources())
    command.hook('preAction', () => assertOneSource(command.opts()))
  }
}

const databaseOptions = (): readonly Option[] => [
  new Option('--store <url>', 'the PostgreSQL that holds the vault, in place of the folder').env(
    'COFFER_STORE',
  ),
  new Option('--store-password-file <file>', 'where the password of its user is').env(
    'COFFER_STORE_PASSWORD_FILE',
  ),
]

/** Commands that make a folder themselves, join one, or leave all as it is. */
const withoutJoining: readonly string[] = ['init', 'serve', 'doctor', 'print', 'check']
/** Commands for a store in a folder alone, or that work on the file of the master key. */
const ofFilesAlone: readonly string[] = ['move', 'backup', 'restore', 'compact', 'split', 'join']

/** Itself, or what stands above it, as of `backup list`. */
const isOfFilesAlone = (command: Command): boolean =>
  [command, command.parent].some(one => one !== null && ofFilesAlone.includes(one.name()))

/** Options that take the address of a database, in whichever command. */
const addressFlags: readonly string[] = ['store', 'to']

/** Also where it is no URL that parses, or stands in a parameter. */
export const hasPassword = (text: string): boolean =>
  /^(?!s3:)[a-z][a-z0-9+.-]*:\/\/[^@]*:[^@]*@/i.test(text) ||
  /^postgres(?:ql)?:\/\/.*[?&](?:ssl)?password=/is.test(text)

/** Arguments are for every user to read. */
function assertNoPassword(command: Command): void {
  for (const name of addressFlags) {
    const given: unknown = command.getOptionValue(name)
    if (command.getOptionValueSource(name) !== 'cli') continue
    if (typeof given !== 'string' || !hasPassword(given)) continue
    const instead = 'expected no password: see --store-password-file and COFFER_STORE'
    throw new CommandFailure(`--${name}: ${instead}`, usageExitCode)
  }
}

/** Gives every command that opens a store the choice of one in a database. */
export function addDatabase(program: Command): void {
  for (const command of commandsOf(program)) {
    command.hook('preAction', () => assertNoPassword(command))
    if (!hasOption(command, '--data') || !hasOption(command, '--master-key-file')) continue
    if (isOfFilesAlone(command)) continue
    addOptions(command, databaseOptions())
    command.hook('preAction', async () => {
      if (!withoutJoining.includes(command.name())) await joinFolder(command.opts())
    })
  }
}

export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option)
  return command
}

/** Reads a count from 1 on. @throws CommandFailure that does not repeat what was given */
export const countOf =
  (flag: string) =>
  (text: string): number => {
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    throw new CommandFailure(`${flag}: expected a number from 1 on`, usageExitCode)
  }

/** Of a command that asks a vault as its callers do. */
export const reaching = (command: Command, description: string): Command =>
  command
    .description(description)
    .addOption(
      new Option('--addr <address>', 'of the vault, or unix: and a path').env('COFFER_ADDR'),
    )
    .addOption(
      new Option('--key-file <file>', 'with the key, if it is not in COFFER_KEY').env(
        'COFFER_KEY_FILE',
      ),
    )
    .option('--json', 'print JSON, one object a line')
