/**
 * `--where` of commands on many tokens.
 * @module
 */
import { usage } from '../../server/process/failure.ts'
import { readTextInput } from '../input.ts'

export interface WhereOptions {
  /** A query, or `-` to read it from standard input: every user can read arguments. */
  readonly where?: string
}

/** @throws CommandFailure for an empty query: nobody means all tokens by that */
export function readQuery({ where = '' }: WhereOptions): string {
  const query = (where === '-' ? readTextInput('the query') : where).trim()
  if (query !== '') return query
  const expected = 'expected a query such as metadata.customer:17; * finds every token'
  throw usage(`--where: ${expected}`)
}
