/**
 * The lock of a data folder, and how its holder notices that it has lost the folder.
 *
 * A lock file that was removed or replaced keeps nobody out, so the folder itself is locked too;
 * only the file can be handed on to another process. If the folder, the lock file or the database
 * is removed or replaced, the holder would go on acknowledging writes that are lost, so it checks
 * them regularly. decision: as PostgreSQL does with postmaster.pid.
 * @module
 */
import { statSync, realpathSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { folderLookMs } from '../../limits/operation-limits.ts'
import { pathsOf } from './folder-stamp.ts'
import { holdFolder, lockInstance, lockUnwritable } from './instance-lock.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/**
 * Locks the folder of a vault until this process ends.
 * @returns the open lock file
 * @throws CommandFailure if another process holds it
 */
export function lockFolder(data: string): number {
  const time = { elapsedMs, sleep }
  holdFolder(data, time)
  return lockInstance(pathsOf(data).lock, time)
}

/** Like `lockFolder`, for a folder that this process may not write to. */
export function lockUnwritableFolder(data: string): void {
  const time = { elapsedMs, sleep }
  holdFolder(data, time)
  lockUnwritable(pathsOf(data).lock, time)
}

/** Identity (device and inode) of the file at a path; `undefined` if there is none. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/**
 * @param folder of a store, as it is before it is opened
 * @returns a function that tells if another file has taken the place of its database since
 */
export function watchReplaced(folder: string): () => boolean {
  const path = join(folder, 'data.mdb')
  const identity = identityOf(path)
  return () => identityOf(path) !== identity
}

/** ESTALE: the path no longer leads to the file that was opened. Source: errno(3). */
const lost = (path: string): Error =>
  Object.assign(new Error(`${path} was removed or replaced`), { code: 'ESTALE' })

/**
 * Watches a folder that this process has locked. It does not keep the process alive.
 * @param onLost called once, when the lock or the database was removed or replaced
 * @returns a function that ends the watch
 */
export function watchFolder(data: string, onLost: (cause: unknown) => void): () => void {
  const { lock, store } = pathsOf(data)
  const files = [lock, join(store, 'data.mdb')]
    .map(path => ({ path, identity: identityOf(path) }))
    // If the store is in a database, there is no such file.
    .filter(({ identity }) => identity !== undefined)
  const timer = setInterval(() => {
    const gone = files.find(({ path, identity }) => identityOf(path) !== identity)
    if (gone === undefined) return
    clearInterval(timer)
    onLost(lost(gone.path))
  }, folderLookMs)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Tells if one folder is inside another, through any links and mounts.
 * @param path must exist
 * @param folder need not exist
 */
export function isInside(path: string, folder: string): boolean {
  const wanted = identityOf(folder)
  for (let at = realpathSync(path); wanted !== undefined; at = dirname(at)) {
    if (identityOf(at) === wanted) return true
    if (dirname(at) === at) return false
  }
  return false
}
