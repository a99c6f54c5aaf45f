/**
 * Every copy of a vault that a command may leave: whole databases, which still hold data that is
 * deleted or retired later.
 *
 * | Place | Copy made by |
 * |---|---|
 * | `compacting` in the data folder | `compact`, `move --to folder` |
 * | `uploading` in the data folder | a backup into a bucket, or to standard output |
 * | `verifying` in the data folder, or it and `.verifying` | `verify --online` |
 * | `restoring` in the data folder, or it and `.restoring` | `restore` |
 * | a backup and `.restoring` | `restore --verify-only` beside a data folder |
 * | a backup and `.partial` | `backup`, and a server that makes backups of itself |
 * | `store/data.mdb.moved` | `move` into a database: kept on purpose |
 * | `store/data.mdb` of a vault in a database | a `move` there that was killed at its end |
 * | the database that `store/database.left` names | a `move` out of it, or one that was cut off |
 *
 * A copy elsewhere is noted in the data folder for as long as it exists, in a `copy-` file each.
 * @module
 */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readRegular } from '../../lib/files.ts'
import { copyNoteBytesMax } from '../../limits/operation-limits.ts'
import { isInDatabase, isMover } from './folder-database.ts'
import { pathsOf } from './folder-stamp.ts'
import { removeFile, removeFolder, replaceFile, statsAt } from './regular-files.ts'
import { lookAtStaging, removeMark } from './staging-mark.ts'

export interface FoundCopy {
  /** Path of a file or folder; for a database, of the file that names it. */
  readonly path: string
  /**
   * `held`: a process works on it, or this user may not look. `left`: no process works on it.
   * `kept`: an operator was told to remove it.
   */
  readonly state: 'held' | 'left' | 'kept'
}

const notePattern = /^copy-[0-9a-f]{16}$/

const noteOf = (data: string, path: string): string =>
  join(data, `copy-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`)

/** Notes in a data folder that a copy of it is about to be made at a path. */
export const noteCopy = (data: string, path: string): void =>
  replaceFile(noteOf(data, path), `${path}\n`)

export const forgetCopy = (data: string, path: string): void => removeFile(noteOf(data, path))

/** Endings of the names of copies that are noted. */
const copyNames = /(?:^|[/.])(?:uploading|verifying|restoring|partial)\/*$/

/**
 * A note that coffer did not write names nothing, and no other folder: the owner of the data folder
 * could have root remove it.
 */
function readNote(note: string): string | undefined {
  if (statsAt(note)?.isFile() !== true) return undefined
  const path = readRegular(note, copyNoteBytesMax)?.toString('utf8').trim()
  return path?.startsWith('/') === true && copyNames.test(path) ? path : undefined
}

/** Folders in which processes may be at work. */
function stagingOf(data: string): readonly string[] {
  const notes = readdirSync(data).filter(name => notePattern.test(name))
  const noted = notes.flatMap(name => readNote(join(data, name)) ?? [])
  const whole = resolve(data)
  return [
    ...new Set([
      join(whole, 'uploading'),
      pathsOf(whole).verifying,
      pathsOf(whole).restoring,
      `${whole}.verifying`,
      `${whole}.restoring`,
      ...noted.filter(path => path !== whole),
    ]),
  ]
}

function lookAt(data: string, remove: boolean): readonly FoundCopy[] {
  return stagingOf(data).flatMap(path => {
    const state = lookAtStaging(path, remove)
    if (remove && state !== 'held') forgetCopy(data, path)
    return state === undefined ? [] : [{ path, state }]
  })
}

/**
 * True if a move into a database was killed before it renamed the folder's own file. A move out of
 * one has that file as well, and is noted where the folder names the database.
 */
const isCutOffThere = (data: string, ownFile: string): boolean =>
  isInDatabase(data) && statsAt(ownFile) !== undefined && !isMover(data)

/**
 * Lists where a move may have left what the vault was. One into a database may have been killed
 * before it removed its note: then the note names no copy, but the vault.
 */
function placesOfKept(data: string): readonly string[] {
  const { moved, ownFile, databaseLeft } = pathsOf(data)
  if (isCutOffThere(data, ownFile)) return [moved, ownFile]
  return isInDatabase(data) ? [moved] : [moved, databaseLeft]
}

const keptIn = (data: string): readonly FoundCopy[] =>
  placesOfKept(data)
    .filter(path => statsAt(path) !== undefined)
    .map(path => ({ path: resolve(path), state: 'kept' }))

/** Removes that note, once the folder has no store of its own. */
function clearNoteOfMove(data: string): void {
  const { ownFile, databaseLeft } = pathsOf(data)
  if (isInDatabase(data) && statsAt(ownFile) === undefined) removeFile(databaseLeft)
}

const compactingIn = (data: string): readonly FoundCopy[] => {
  const path = resolve(pathsOf(data).compacting)
  return statsAt(path) === undefined ? [] : [{ path, state: 'left' }]
}

/** Lists the copies that exist, and changes nothing. */
export const findCopies = (data: string): readonly FoundCopy[] => [
  ...compactingIn(data),
  ...lookAt(data, false),
  ...keptIn(data),
]

/** Like `findCopies`, beside a running server: removes copies that are neither held nor kept. */
export const clearCopies = (data: string): readonly FoundCopy[] => [
  ...lookAt(data, true),
  ...keptIn(data),
]

/** Like `clearCopies`, for the holder of the folder's lock. */
export function clearLeftCopies(data: string): readonly FoundCopy[] {
  const compacting = compactingIn(data)
  removeFolder(pathsOf(data).compacting)
  // A restore was killed right after it gave the folder its name.
  removeMark(data)
  clearNoteOfMove(data)
  return [...compacting, ...clearCopies(data)]
}
