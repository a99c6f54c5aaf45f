/**
 * Commands about the log.
 * @module
 */
import type { Command } from 'commander'
import { logDigest, type LogDigestOptions } from '../log-digest.ts'
import { dataOption, masterKeyOption } from '../shared-options.ts'

export function addLogCommands(program: Command): void {
  program
    .command('log')
    .description('what helps to read the request log')
    .command('digest <id>')
    .description('print what stands for a token in the request log; - reads ids, one a line')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((id: string, options: LogDigestOptions) => logDigest(id, options))
}
