/**
 * Event log for the operator: one line each, as JSON or text, from a minimum level on.
 * @module
 */
import type { Log } from '../../deps.ts'
import type { LogSettings } from '../../settings/serving-settings.ts'
import { priorityOf } from './journal.ts'
import { visible } from './visible-text.ts'

export type Level = LogSettings['logLevel']
type LogFacts = NonNullable<Parameters<Log>[1]>

/** Events that need no action: they were requested, or report normal operation. */
const infos = new Set([
  'administered',
  'audit_checkpoint',
  'audit_copy_made',
  'audit_cosigned',
  'backup_made',
  'backup_on_time',
  'clock_caught_up',
  'clock_right',
  'controlled',
  'database_back',
  'disk_free',
  'erasure_log_written',
  'fold_caught_up',
  'audit_log_has_room',
  'listening',
  'resealed',
  'started',
  'stopped',
  'stopping',
])
/** Failures that last until an operator fixes them. */
const errors = new Set([
  'audit_copy_failed',
  'audit_diverged',
  'audit_not_cosigned',
  'backup_failed',
  'database_gone',
  'disk_full',
  'erasure_log_failed',
  'failed',
  'newest_rows_damaged',
  'report_failed',
  'request_failed',
  'reseal_failed',
  'store_failed',
  'webhook_damaged',
  'worker_missing',
  'writes_lost',
])

/** Events in neither list are warnings. */
const levelOf = (event: string): Level => {
  if (infos.has(event)) return 'info'
  return errors.has(event) ? 'error' : 'warning'
}

const rank: Readonly<Record<Level, number>> = { info: 0, warning: 1, error: 2 }

export const printTime = (wallMs: number): string => new Date(wallMs).toISOString()

const quoted = (fact: string | number | boolean): string =>
  /^[\w.:/-]+$/.test(String(fact)) ? String(fact) : JSON.stringify(fact)

const asText = (time: string, level: Level, event: string, facts: LogFacts): string =>
  [
    time,
    level,
    event,
    ...Object.entries(facts).map(([name, fact]) => `${name}=${quoted(fact)}`),
  ].join(' ')

/** Destination of log lines. */
export interface LogPlace {
  readonly wallMs: () => number
  readonly isTerminal: boolean
  /** True if it is the journal's own stream. */
  readonly isJournal: boolean
  readonly write: (line: string) => void
}

export const isTextWanted = (
  { logFormat }: Pick<LogSettings, 'logFormat'>,
  { isTerminal }: Pick<LogPlace, 'isTerminal'>,
): boolean => logFormat === 'text' || (logFormat === 'auto' && isTerminal)

/** @returns an event as a line, with its line end, at any level */
export function makeLine(
  settings: Pick<LogSettings, 'logFormat' | 'logPriority'>,
  place: Omit<LogPlace, 'write'>,
): (event: string, facts?: LogFacts) => string {
  const isText = isTextWanted(settings, place)
  const priority = priorityOf(settings, place.isJournal)
  return (event, facts = {}) => {
    const level = levelOf(event)
    const time = printTime(place.wallMs())
    const line = isText
      ? asText(time, level, event, facts)
      : JSON.stringify({ time, level, event, ...facts })
    return `${priority(level)}${visible(line)}\n`
  }
}

export function makeLog(
  settings: Pick<LogSettings, 'logLevel' | 'logFormat' | 'logPriority'>,
  place: LogPlace,
): Log {
  const lineOf = makeLine(settings, place)
  return (event, facts) => {
    if (rank[levelOf(event)] >= rank[settings.logLevel]) place.write(lineOf(event, facts))
  }
}
