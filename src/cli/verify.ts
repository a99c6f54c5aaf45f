/**
 * `coffer verify`: checks everything in a data folder, and changes nothing.
 *
 * It prints kinds of damage with numbers of rows or pages, never a stored value. It looks at the
 * folder itself, at a snapshot of a vault that is served, or at a view of a folder that cannot be
 * written to. Source: hardening D8.
 * @module
 */
import type { Command } from 'commander'
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ApiError } from '../lib/errors.ts'
import { freeSpaceBytesMin } from '../limits/operation-limits.ts'
import { isInDatabase } from '../server/folder/folder-database.ts'
import {
  checkFolder,
  damagedIn,
  findFolder,
  lockDataFolder,
  unsealKeysOf,
  type FolderOptions,
  type FoundFolder,
  type LockedFolder,
} from '../server/folder/data-folder.ts'
import { assertRoom } from '../server/folder/disk-space.ts'
import { lockUnwritableFolder } from '../server/folder/folder-lock.ts'
import { explained, pathsOf } from '../server/folder/folder-stamp.ts'
import { makeStagedFolder } from '../server/folder/staged-folder.ts'
import { removeStaging } from '../server/folder/staging-mark.ts'
import { CommandFailure } from '../server/process/failure.ts'
import type { SumFinding } from '../store/core/check-sum.ts'
import { copySnapshot } from '../store/lmdb/maintenance/compact-copy.ts'
import { adviceOn, emptyReport, inspect, logCutOff, type Damage, type Report } from './inspect.ts'
import { withProgress } from './show-progress.ts'
import { databaseBytesOf, databaseIn } from './database/replace-database.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { takesVault } from './vault-options.ts'

interface VerifyOptions extends FolderOptions {
  /** Checks a vault that is served. */
  readonly online?: boolean
  readonly json?: boolean
}

/** Damages that name no place: the sum over all rows cannot know in which rows. */
const meanings: Readonly<Record<string, string>> = {
  rows_differ: 'rows or entries of the log were put back, added or taken away, not by this vault',
  sum_damaged: 'the sum over all rows is not one of this vault',
  sum_missing: 'the sum over all rows was taken away',
  sum_outdated: 'the sum over all rows is not of the same moment as the audit log',
  [logCutOff]: 'the oldest entries of the audit log were taken away, and not by this vault',
} satisfies Record<SumFinding | typeof logCutOff, string>

/** Says that rows were not compared with a sum, and what to do. */
const uncomparedIn = (data: string): string =>
  `rows put back with their index entries are not found yet: run coffer ${
    isInDatabase(data) ? 'db sum' : 'compact'
  } once`

function lineOf({ kind, page, ordinal, sequence }: Damage): string {
  const meaning = meanings[kind]
  if (meaning !== undefined) return `${kind}: ${meaning}`
  if (page !== undefined) return `${kind}: page ${page}`
  if (sequence !== undefined) return `${kind}: entry ${sequence}`
  return ordinal === undefined ? kind : `${kind}: row ${ordinal}`
}

function linesOf(data: string, { shown, count, rows, sum }: Report): string[] {
  const lines = shown.map(lineOf)
  if (count > shown.length) lines.push(`and ${count - shown.length} more, at least`)
  if (rows === undefined) lines.push('the rows were not all read')
  else
    lines.push(
      `rows: ${Object.entries(rows)
        .map(entry => entry.join(' '))
        .join(', ')}`,
    )
  if (sum === 'not_begun') lines.push(uncomparedIn(data))
  return lines
}

function print({ data, json }: VerifyOptions, report: Report): void {
  const { shown, count, rows, sum } = report
  if (json !== true) for (const line of linesOf(data, report)) sayNow(line)
  else sayJson({ damages: shown, more: count - shown.length, rows: rows ?? null, sum: sum ?? null })
}

/** The folder to check, and the removal of files that were made for that. */
interface Looked {
  readonly folder: FoundFolder
  readonly clear: () => void
}

const removeCopy = (copy: FoundFolder): void => removeStaging(copy.data)

/**
 * Makes a snapshot within the data folder: the folder around it may be on another disk, or not
 * writable.
 *
 * This process makes it as a backup is made, not the serving process. It has no free page and no
 * page of another commit: only a check of the stopped vault finds damage in these.
 * @throws CommandFailure, or the system's own error, with no copy left
 */
async function copyServed(options: FolderOptions): Promise<LockedFolder> {
  const data = resolve(options.data)
  const masterKey = checkFolder(options)
  const store = join(data, 'store')
  const fileBytes = statSync(join(store, 'data.mdb')).size
  assertRoom({ folder: data, bytes: fileBytes + freeSpaceBytesMin, fileBytes, what: 'a copy' })
  const copy = makeStagedFolder(pathsOf(data).verifying, masterKey)
  try {
    await copySnapshot(store, copy.store)
    return copy
  } catch (error) {
    removeCopy(copy)
    if (error instanceof ApiError && error.kind === 'storage_corrupt') {
      throw damagedIn(options.data, error)
    }
    throw explained(data, error)
  }
}

/** True if every existing file that the engine and the lock write to is writable. */
function mayWrite(data: string): boolean {
  const { lock, store } = pathsOf(data)
  const written = [data, lock, store, databaseIn(store), join(store, 'lock.mdb')]
  try {
    for (const path of written.filter(each => existsSync(each))) accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Views a folder that nobody, or not this user, may write to, such as a snapshot. The engine opens
 * a file for its readers beside the database, so it gets a folder of its own with a link to the
 * database in it. No process can serve the folder meanwhile: its lock needs no write.
 * @returns the folder, with its store reached by a link, and a function that removes the link
 * @throws CommandFailure as `lockDataFolder`
 */
function viewUnwritable(options: FolderOptions): Looked {
  const { data } = options
  checkFolder(options).fill(0)
  try {
    lockUnwritableFolder(data)
    const folder = findFolder(options)
    const store = mkdtempSync(join(tmpdir(), 'coffer-verify-'))
    symlinkSync(realpathSync(databaseIn(folder.store)), databaseIn(store))
    return { folder: { ...folder, store }, clear: () => rmSync(store, { recursive: true }) }
  } catch (error) {
    throw explained(data, error)
  }
}

async function lookedAt(options: VerifyOptions): Promise<Looked> {
  const nothing = (): void => {}
  // Others may write to a database meanwhile: one snapshot of it is checked.
  if (isInDatabase(options.data)) return { folder: findFolder(options), clear: nothing }
  if (options.online === true) {
    const folder = await copyServed(options)
    return { folder, clear: () => removeCopy(folder) }
  }
  return mayWrite(options.data)
    ? { folder: lockDataFolder(options), clear: nothing }
    : viewUnwritable(options)
}

/** @throws CommandFailure for any damage, and if it could not check everything */
async function verify(options: VerifyOptions): Promise<void> {
  const { folder, clear } = await lookedAt(options)
  const report = emptyReport()
  try {
    await withProgress({ ...options, bytes: databaseBytesOf(folder) }, progress =>
      inspect(folder, report, store => unsealKeysOf(store, folder), progress, true),
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandFailure(`cannot look at all of ${options.data}: ${error.message}`, 1, error)
  } finally {
    print(options, report)
    clear()
  }
  if (report.count === 0) return
  throw new CommandFailure(`the vault in ${options.data} ${adviceOn(report)}`)
}

export function addVerify(program: Command): void {
  takesVault(program.command('verify'), { store: 'any', joins: true })
    .description('look at all that is in a data folder: exit 1 for any damage')
    .option('--online', 'look at a copy of one moment, while it is served')
    .option('--json', 'print one line of JSON')
    .action((options: VerifyOptions) => verify(options))
}
