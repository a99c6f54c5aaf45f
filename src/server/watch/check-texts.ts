/**
 * Texts of the checks of readiness: what each means for an operator, and what to do.
 * @module
 */
import type { StatusCheck } from '../../status/schema.ts'
import { mayBeSent, type Checks, type Failing, type WorkerCheck } from './process-report.ts'

const texts: Readonly<Record<keyof Checks | WorkerCheck, string>> = {
  sealed: 'A process has no key: run coffer unseal.',
  stopping: 'It was told to end, and serves on for a moment: send requests elsewhere.',
  store: 'The store cannot be read, or takes no writes: look at its disk or its database.',
  clock: 'The clock of this machine differs from that of the database: set it by NTP.',
  clock_ahead:
    'The vault was told a later time than its clock shows: short expiries are refused until that ' +
    'has come. See A wrong clock in docs/operations.md.',
  disk: 'Too little room is left: writes and reveals are refused. Free some, or enlarge the disk.',
  fold: 'The index is far behind, so that writes wait: the disk is too slow for them.',
  backup: 'The newest backup is far too old: see the log for backup_failed, and the place itself.',
  audit_log: 'The audit log has taken most of its room: export it, or raise --audit-bytes-max.',
  workers: 'No worker listens, or one does not answer: see the log.',
  worker_missing: 'A worker has ended and does not start again: see the log. Others serve.',
}

const textOf = (check: string): string =>
  Object.entries(texts).find(([name]) => name === check)?.[1] ?? 'See the log.'

export const describeFailing = (failing: Failing): StatusCheck[] =>
  failing.map(check => ({
    level: mayBeSent([check]) ? 'warning' : 'fault',
    check,
    text: textOf(check),
  }))
