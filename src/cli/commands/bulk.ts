/**
 * Commands on many tokens of a running vault.
 * @module
 */
import { Option, type Command } from 'commander'
import { countTokens } from '../bulk/counts.ts'
import { exportTokens } from '../bulk/export.ts'
import { importTokens } from '../bulk/import.ts'
import { encodings } from '../bulk/import-input.ts'
import { reindexTokens } from '../bulk/reindex.ts'
import { reaching } from '../shared-options.ts'

export function addBulkCommands(token: Command): void {
  reaching(
    token.command('import <file>'),
    'store each row of a file as a token; - is stdin (docs/move-data.md)',
  )
    .option('--map <file>', 'how a row becomes a token: JSON, with expressions on the row')
    .option('--dry-run', 'check every row, and store nothing')
    .option('--report <file>', 'write each rejected line there, and why')
    .option('--ids <file>', 'write the id of the token of each line there')
    .option('--resume', 'go on with an import that ended early')
    .option('--state <file>', 'where it is kept how far it is, if not beside the file')
    .addOption(
      new Option('--format <format>', 'if the name of the file does not say').choices([
        'csv',
        'jsonl',
      ]),
    )
    .option('--delimiter <character>', 'what parts the columns, if the header does not show it')
    .addOption(
      new Option('--encoding <encoding>', 'of the file; UTF-8 by default').choices(encodings),
    )
    .option('--identity <file>', 'open a file that is sealed with age, with the identity in there')
    .option('--codes', 'send the codes of cards (cvc) as well')
    .action(importTokens)
  reaching(
    token.command('export'),
    'write all tokens, or those in a container, to a file that is sealed with age',
  )
    .option('--recipient <age1...>', 'who can open it, as age-keygen names them')
    .option('--out <file>', 'a new file')
    .option('--container <path...>', 'any of these, with all below them')
    .option('--type <type...>', 'any of these')
    .action(exportTokens)
  reaching(token.command('reindex'), 'give all that a query finds other search indexes')
    .option('--where <query>', 'what to change; - is stdin')
    .option('--index <expression...>', 'these indexes, in place of those that there are')
    .option('--default', 'those that its type has by default')
    .option('--none', 'no indexes')
    .option('--dry-run', 'count, and change nothing')
    .action(reindexTokens)
  reaching(token.command('counts'), 'how many tokens there are, by type and container').action(
    countTokens,
  )
}
