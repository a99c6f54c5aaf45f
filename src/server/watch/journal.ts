/**
 * Lines for the journal of systemd: each begins with its priority, which the journal takes off.
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
 * @param stream what systemd says of the journal's own stream: a device and an inode
 * @returns whether an open file is that one, and not another in its place
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

/** @returns what a line of a level begins with */
export function priorityOf(
  { logPriority }: Pick<LogSettings, 'logPriority'>,
  isToJournal: boolean,
): (level: LogSettings['logLevel']) => string {
  const isWanted = logPriority === 'on' || (logPriority === 'auto' && isToJournal)
  return level => (isWanted ? priorities[level] : '')
}
