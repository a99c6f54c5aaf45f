/**
 * The one line of a command that fails: text for a person, or JSON if a server was asked for that,
 * so that a log collector can parse every line.
 * @module
 */
import type { LogSettings } from '../../settings/serving-settings.ts'
import { priorityOf } from '../watch/journal.ts'
import { makeLine } from '../watch/log.ts'
import { stderrPlace } from './system.ts'
import { visible } from '../watch/visible-text.ts'

type Form = Pick<LogSettings, 'logFormat' | 'logPriority'>

let form: Form = { logFormat: 'auto', logPriority: 'auto' }

/** Applies the settings to all later failures. */
export const tellFailuresBy = (settings: Form): void => {
  form = settings
}

const serving = new Set(['serve', 'dev'])
const format = '--log-format'

/**
 * Finds the form before the settings are read, since reading them may fail.
 * @param words of the command line
 */
export function findFailureForm(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): void {
  if (!serving.has(words[0] ?? '')) return
  const at = words.lastIndexOf(format)
  const joined = words.findLast(word => word.startsWith(`${format}=`))
  const asked = at >= 0 ? words[at + 1] : joined?.slice(format.length + 1)
  if ((asked ?? environment['COFFER_LOG_FORMAT']) === 'json') form = { ...form, logFormat: 'json' }
}

/** @returns the line, with its line end */
export function failureLine(message: string, exitCode: number): string {
  const place = stderrPlace()
  if (form.logFormat === 'json') {
    return makeLine(form, place)('failed', { text: message, exit_code: exitCode })
  }
  return `${priorityOf(form, place.isJournal)('error')}coffer: ${visible(message)}\n`
}
