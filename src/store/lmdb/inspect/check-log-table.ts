/**
 * The walk over the table of the log.
 * @module
 */
import { attempt } from '../../../lib/errors.ts'
import { decodeBundle } from '../../core/bundle-format.ts'
import { makeLogCheck } from '../../core/check-log.ts'
import type { StoreFinding } from '../../operated.ts'
import type { LmdbEnvironment } from '../environment.ts'
import { decodeRowKey } from '../layout.ts'
import { readLogRange } from '../log-table.ts'

export function* checkLog(environment: LmdbEnvironment): Generator<StoreFinding> {
  const findings: StoreFinding[] = []
  const check = makeLogCheck(
    attempt(() => readLogRange(environment)),
    finding => void findings.push(finding),
  )
  for (const { key, value } of environment.log?.getRange() ?? []) {
    const first = attempt(() => decodeRowKey(key))
    if (first === undefined) findings.push({ kind: 'log_damaged' })
    else
      check.next(
        first,
        attempt(() => decodeBundle(first, value)),
      )
    yield* findings.splice(0)
  }
  check.end()
  yield* findings
}
