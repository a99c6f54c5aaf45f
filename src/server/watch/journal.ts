/**
 * Lines for the systemd journal: each begins with its priority, which the journal strips.
 * Source: sd-daemon(3); systemd.exec(5), `$JOURNAL_STREAM`.
 * @module
 */
import { fstatSync } from 'node:fs'
import type { LogSettings } from '../../settings/serving-settings.ts'

/** Source: syslog(3). */
const priorities: Readonly<Record<LogSettings['logLevel'], string>> = {
  error: '<3>',
  warning: '<4>',
  info: '<6>',
}

/**
 * @param stream device and inode of the journal's own stream, as systemd gives them
 * @returns true if an open file is that stream, and not another in its place
 */
export function isJournal(file: number, stream: string | undefined): boolean {
  if (stream === undefined) return false
  try {
    const { dev, ino } = fstatSync(file, { bigint: true })
    return stream === `${dev}:${ino}`
  } catch {
    return false
  }
}

/** @returns the prefix of a line of a level */
export function priorityOf(
  { logPriority }: Pick<LogSettings, 'logPriority'>,
  isToJournal: boolean,
): (level: LogSettings['logLevel']) => string {
  const isWanted = logPriority === 'on' || (logPriority === 'auto' && isToJournal)
  return level => (isWanted ? priorities[level] : '')
}
