/**
 * Commands that ask a vault as its callers do.
 * @module
 */
import { Option, type Command } from 'commander'
import { applicationTypes } from '../../rules/permissions.ts'
import { tokenTypeNames } from '../../rules/token-types.ts'
import type { ReachOptions } from '../reach.ts'
import {
  authorizeSession,
  createSession,
  showPermissions,
  type PermissionOptions,
} from '../sessions.ts'
import {
  createToken,
  deleteTokens,
  getToken,
  listTokens,
  searchTokens,
  updateToken,
} from '../tokens.ts'
import { addBulkCommands } from './bulk.ts'
import { countOf, reaching } from '../shared-options.ts'

const limited = (command: Command): Command =>
  command.option('--limit <number>', 'end after so many', countOf('--limit'))

const metadata = ['--metadata <name=value...>', 'all of these pairs'] as const

function addTokenCommands(token: Command): void {
  reaching(token.command('create'), 'store what stands on stdin, and print its token')
    .addOption(
      new Option('--type <type>', 'then stdin is the data alone, as JSON').choices(tokenTypeNames),
    )
    .option('--id <id>', 'an id, or an expression that gives one')
    .option('--container <path>', 'such as /pci/high/')
    .option(...metadata)
    .option('--expires-at <moment>', 'such as 2030-01-31T12:00:00Z')
    .option('--deduplicate', 'give the token that holds the same, if there is one')
    .action(createToken)
  reaching(token.command('get <id>'), 'print a token, as the key may see it').action(getToken)
  limited(reaching(token.command('list'), 'print tokens, newest first'))
    .option('--id <id...>', 'any of these')
    .option('--type <type...>', 'any of these')
    .option('--container <path...>', 'any of these, with all below them')
    .option(...metadata)
    .action(listTokens)
  limited(reaching(token.command('search'), 'print tokens that the query on stdin finds')).action(
    searchTokens,
  )
  reaching(token.command('update <id>'), 'merge the JSON on stdin into a token').action(updateToken)
  reaching(token.command('delete [id]'), 'delete a token, or all that a query finds')
    .option('--where <query>', 'what to delete, after a count and a question; - is stdin')
    .option('--yes', 'do not ask')
    .option('--receipt <file>', 'write there what was deleted')
    .action(deleteTokens)
  addBulkCommands(token)
}

/** Beside those that need no key. */
export function addSessionCallers(session: Command): void {
  reaching(
    session.command('create'),
    'begin a session, with the key of a public application',
  ).action((options: ReachOptions) => createSession(options))
  reaching(
    session.command('authorize'),
    'grant a session what the JSON on stdin says, with its nonce',
  ).action((options: ReachOptions) => authorizeSession(options))
}

export function addCallerCommands(program: Command): void {
  addTokenCommands(program.command('token').description('use tokens, as callers do'))
  reaching(program.command('permissions'), 'what can be granted, and to which applications')
    .addOption(new Option('--type <type>', 'to this one alone').choices(applicationTypes))
    .action((options: PermissionOptions) => showPermissions(options))
}
