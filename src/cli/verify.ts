/**
 * `coffer verify`: looks at all that is in a data folder, and changes nothing of it.
 *
 * What it prints are kinds of damage with numbers of rows or pages, never a stored value.
 * Source: hardening D8.
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import { isInDatabase } from '../server/folder/folder-database.ts'
import {
  findFolder,
  lockDataFolder,
  unsealKeysOf,
  type FolderOptions,
  type FoundFolder,
} from '../server/folder/data-folder.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { emptyReport, inspect, isWhole, type Damage, type Report } from './inspect.ts'
import { withProgress } from './show-progress.ts'
import { databaseBytesOf } from './replace-database.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { copyServed, removeCopy } from './verify-online.ts'
import { mayWrite, viewUnwritable } from './verify-unwritable.ts'

export interface VerifyOptions extends FolderOptions {
  /** Of a vault that is served. */
  readonly online?: boolean
  readonly json?: boolean
}

function lineOf({ kind, page, ordinal }: Damage): string {
  if (page !== undefined) return `${kind}: page ${page}`
  return ordinal === undefined ? kind : `${kind}: row ${ordinal}`
}

function linesOf({ shown, count, rows }: Report): string[] {
  const lines = shown.map(lineOf)
  if (count > shown.length) lines.push(`and ${count - shown.length} more, at least`)
  if (rows === undefined) lines.push('the rows were not all read')
  else
    lines.push(
      `rows: ${Object.entries(rows)
        .map(entry => entry.join(' '))
        .join(', ')}`,
    )
  return lines
}

function print({ json }: VerifyOptions, report: Report): void {
  const { shown, count, rows } = report
  if (json !== true) for (const line of linesOf(report)) sayNow(line)
  else sayJson({ damages: shown, more: count - shown.length, rows: rows ?? null })
}

/** What is looked at, and what takes away what was made for that. */
interface Looked {
  readonly folder: FoundFolder
  readonly clear: () => void
}

async function lookedAt(options: VerifyOptions): Promise<Looked> {
  const nothing = (): void => {}
  // Others may write to a database meanwhile: one state of it is looked at.
  if (isInDatabase(options.data)) return { folder: findFolder(options), clear: nothing }
  if (options.online === true) {
    const folder = await copyServed(options)
    return { folder, clear: () => removeCopy(folder) }
  }
  return mayWrite(options.data)
    ? { folder: lockDataFolder(options), clear: nothing }
    : viewUnwritable(options)
}

/** @throws CommandFailure for any damage, and when it could not look at everything */
export async function verify(options: VerifyOptions): Promise<void> {
  const { folder, clear } = await lookedAt(options)
  const report = emptyReport()
  try {
    await withProgress({ ...options, bytes: databaseBytesOf(folder) }, progress =>
      inspect(folder, report, store => unsealKeysOf(store, folder), progress),
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandFailure(`cannot look at all of ${options.data}: ${error.message}`, 1, error)
  } finally {
    print(options, report)
    clear()
  }
  if (report.count === 0) return
  const advice = isWhole(report)
    ? 'is whole up to the commit before the last, whose end is not known: compare with a backup'
    : 'is damaged: restore it from a backup'
  throw new CommandFailure(`the vault in ${options.data} ${advice}`)
}
