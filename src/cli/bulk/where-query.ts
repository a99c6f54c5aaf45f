/**
 * `--where` of commands on many tokens.
 * @module
 */
import { CommandFailure, usageExitCode } from '../../server/process/failure.ts'
import { readTextInput } from '../input.ts'

export interface WhereOptions {
  /** A query, or `-` for one on standard input: arguments are for every user to read. */
  readonly where?: string
}

/** @throws CommandFailure where there is none: nobody means all tokens by that */
export function readQuery({ where = '' }: WhereOptions): string {
  const query = (where === '-' ? readTextInput('the query') : where).trim()
  if (query !== '') return query
  const expected = 'expected a query such as metadata.customer:17; * finds every token'
  throw new CommandFailure(`--where: ${expected}`, usageExitCode)
}
