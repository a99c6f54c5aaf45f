/**
 * `coffer db setup`: prints the statements that make the tables of a vault, for an operator who
 * runs them as another user than the one that serves. `coffer init --store` then fills them.
 * @module
 */
import type { Command } from 'commander'
import { usage } from '../../server/process/failure.ts'
import { sayNow } from '../../server/process/system.ts'
import { addDatabaseSum } from './database-sum.ts'
import { setupOf } from '../../store/postgres/schema.ts'

interface DatabaseSetupOptions {
  readonly printSql?: boolean
  readonly upgrade?: boolean
  readonly schema: string
  readonly role: string
}

const namePattern = /^[a-z_][a-z0-9_]{0,47}$/

/** @throws CommandFailure for a name that would need quotes */
function databaseSetup({ printSql, upgrade, schema, role }: DatabaseSetupOptions): void {
  if (printSql !== true) {
    throw usage('--print-sql: expected, as nothing else is done')
  }
  for (const [flag, name] of Object.entries({ '--schema': schema, '--role': role })) {
    if (namePattern.test(name)) continue
    throw usage(`${flag}: expected small letters, digits and _`)
  }
  sayNow(
    ...setupOf(schema, role, upgrade === true)
      .join('\n')
      .split('\n'),
  )
}

export function addDatabase(program: Command): void {
  const database = program.command('db').description('the database that holds a vault')
  addDatabaseSum(database)
  database
    .command('setup')
    .description('print what makes the tables, for an operator who runs that by hand')
    .option('--print-sql', 'print the statements')
    .option('--upgrade', 'only those that the tables of an older coffer lack')
    .option('--schema <name>', 'where the tables are', 'coffer')
    .option('--role <name>', 'the user that serves, and owns nothing', 'coffer')
    .action((options: DatabaseSetupOptions) => databaseSetup(options))
}
