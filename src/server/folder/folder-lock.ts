/**
 * The lock of a data folder, and how its holder learns that it has the folder no more.
 *
 * A lock file that was removed or replaced keeps nobody out, so the folder itself is locked beside
 * it; the file is what a process can hand on. Where the folder, the lock file or the database was
 * removed or replaced, the holder would go on acknowledging writes that nobody finds again: it
 * looks at them again and again. decision: as PostgreSQL does with postmaster.pid.
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { folderLookMs } from '../../limits/operation-limits.ts'
import { pathsOf } from './folder-stamp.ts'
import { holdFolder, lockInstance, lockUnwritable } from './instance-lock.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/**
 * Locks the folder of a vault until this process has ended.
 * @returns the open file of the lock
 * @throws CommandFailure when another process has it
 */
export function lockFolder(data: string): number {
  const time = { elapsedMs, sleep }
  holdFolder(data, time)
  return lockInstance(pathsOf(data).lock, time)
}

/** As `lockFolder`, of a folder that this process may not write to. */
export function lockUnwritableFolder(data: string): void {
  const time = { elapsedMs, sleep }
  holdFolder(data, time)
  lockUnwritable(pathsOf(data).lock, time)
}

/** Which file or folder is at a path; `undefined` where there is none. */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** The code is that of a file which is not the one by that name any more. Source: errno(3). */
const lost = (path: string): Error =>
  Object.assign(new Error(`${path} was removed or replaced`), { code: 'ESTALE' })

/**
 * Watches over a folder that this process has locked. It keeps no process alive.
 * @param onLost told once when its lock or its database was removed or replaced
 * @returns what ends it
 */
export function watchFolder(data: string, onLost: (cause: unknown) => void): () => void {
  const { lock, store } = pathsOf(data)
  const files = [lock, join(store, 'data.mdb')]
    .map(path => ({ path, identity: identityOf(path) }))
    // A vault whose store is in a database of others has no such file.
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
