/**
 * Commands about the keys that values are sealed under.
 * @module
 */
import type { Command } from 'commander'
import { keysRetire, keysRotate, keysStatus, type KeysOptions } from '../keys.ts'
import { keysRekey } from '../rekey.ts'
import { keysJoin, keysSplit, type SplitOptions } from '../key-shares.ts'
import { dataOption, masterKeyOption } from '../shared-options.ts'

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('the keys that values are sealed under')
  const add = <T extends KeysOptions>(
    name: string,
    description: string,
    run: (options: T) => Promise<void>,
  ) =>
    keys
      .command(name)
      .description(description)
      .addOption(dataOption())
      .addOption(masterKeyOption())
      .option('--json', 'print one line of JSON')
      .action(run)
  keys
    .command('split')
    .description('print the master key in shares, of which any so many give it again')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .requiredOption('--shares <count>', 'how many there are to be')
    .requiredOption('--threshold <count>', 'how many of them give the key')
    .option('--to-dir <dir>', 'write them there, each to a file of its own')
    .option('--json', 'print one line of JSON')
    .action((options: SplitOptions) => keysSplit(options))
  add('join', 'write the master key to its file again, from shares on stdin', keysJoin)
  add('status', 'which keys there are, and how many rows are sealed under each', keysStatus)
  add('rotate', 'make a new key, and seal everything anew under it', keysRotate)
  add('rekey', 'put another master key in the place of the one there is', keysRekey)
    .option('--new-master-key-file <file>', 'where the new key is to be, if not in that place')
    .option('--forget-old-key', 'keep no copy of the old key, which older backups need')
  add('retire', 'drop keys under which nothing is sealed, and print a receipt', keysRetire)
}
