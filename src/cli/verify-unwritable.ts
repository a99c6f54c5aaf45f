/**
 * `coffer verify` of a folder that nobody, or not this user, may write to, such as a snapshot.
 *
 * The engine opens a file for its readers beside the database, so it is given a folder of its own
 * that has a link to the database in it. Nobody may serve the folder meanwhile: its lock needs no
 * write.
 * @module
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  checkFolder,
  findFolder,
  type FolderOptions,
  type FoundFolder,
} from '../server/folder/data-folder.ts'
import { lockUnwritableFolder } from '../server/folder/folder-lock.ts'
import { explained, pathsOf } from '../server/folder/folder-stamp.ts'
import { databaseIn } from './replace-database.ts'

/** Whether all is writable that the engine and the lock write to, of what is there. */
export function mayWrite(data: string): boolean {
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
 * @returns the folder, with its store as a link leads to it, and what takes that away
 * @throws CommandFailure as `lockDataFolder`
 */
export function viewUnwritable(options: FolderOptions): {
  readonly folder: FoundFolder
  readonly clear: () => void
} {
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
