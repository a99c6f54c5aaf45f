/**
 * Options that commands share.
 * @module
 */
import { Option, type Command } from 'commander'

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

export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option)
  return command
}
