/**
 * Commands about the keys that values are sealed under.
 * @module
 */
import type { Command } from 'commander'
import { keysRetire, keysRotate, keysStatus, type KeysOptions } from '../keys.ts'
import { keysRekey } from '../rekey.ts'
import { dataOption, masterKeyOption } from './options.ts'

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('the keys that values are sealed under')
  const add = (name: string, description: string, run: (options: KeysOptions) => Promise<void>) =>
    keys
      .command(name)
      .description(description)
      .addOption(dataOption())
      .addOption(masterKeyOption())
      .option('--json', 'print one line of JSON')
      .action(run)
  add('status', 'which keys there are, and how many rows are sealed under each', keysStatus)
  add('rotate', 'make a new key, and seal everything anew under it', keysRotate)
  add('rekey', 'put another master key in the place of the one in its file', keysRekey)
  add('retire', 'drop keys under which nothing is sealed, and print a receipt', keysRetire)
}
